import { runUntilIdle } from '../../support/run-until-idle';
import { makeWorld, type World } from '../../support/world';
import { act, connect, handedOver, MINUTE_MS, notices, openItem, round } from './scene';

const LEAD = '+13125550142';
const OTHER_LEAD = '+13125550143';
const SECOND_MS = 1_000;

describe('a notice', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(async () => {
    await world.reset();
    await world.rows('delete from integrations');
  });
  afterAll(() => world.close());

  /** What a second-by-second loop would do in `forMs`, in steps that change nothing of the result. */
  const pass = async (
    forMs: number,
    conversations: readonly string[] = [],
    everyMs = SECOND_MS,
  ) => {
    for (let passed = 0; passed < forMs; passed += everyMs) {
      await round(world);
      await runUntilIdle(world, conversations, { forMs: everyMs });
    }
    await round(world);
  };

  it('tells of a handover as soon as it is committed, once [T6] [C7]', async () => {
    await handedOver(world, LEAD);
    expect(await round(world)).toEqual({ escalated: 0, written: 1 });
    expect(await round(world)).toEqual({ escalated: 0, written: 0 });
    await pass(2 * MINUTE_MS, [], 10 * SECOND_MS);
    expect(await notices(world)).toEqual(['front-desk: 1']);
  });

  it('is written once by loops that run at the same time [T6] [C7]', async () => {
    await handedOver(world, LEAD);
    const rounds = await Promise.all(Array.from({ length: 8 }, () => round(world)));
    expect(rounds.reduce((sum, { written }) => sum + written, 0)).toBe(1);
    expect(await notices(world)).toEqual(['front-desk: 1']);
  });

  it('waits for 30 s after the last one of its queue and then tells all that came meanwhile [T4]', async () => {
    await handedOver(world, LEAD);
    await round(world);
    await handedOver(world, OTHER_LEAD);
    world.clock.advance(30 * SECOND_MS - 1);
    await openItem(world, { kind: 'not-sent' });
    await round(world);
    expect(await notices(world)).toEqual(['front-desk: 1']);
    world.clock.advance(1);
    await round(world);
    expect(await notices(world)).toEqual(['front-desk: 1', 'front-desk: 2']);
  });

  it('is one for a hundred handovers of one outage [T4]', async () => {
    for (let lead = 0; lead < 100; lead += 1) {
      await handedOver(world, `+1312555${String(2000 + lead)}`, 30 * SECOND_MS);
      world.clock.advance(200);
      if (lead % 10 === 0) await round(world);
    }
    expect(await notices(world)).toEqual([]);
    await pass(40 * SECOND_MS);
    expect(await notices(world)).toEqual(['front-desk: 100']);
  });

  it('comes again after 5 min, then to the next queue, then every 30 min, until somebody claims [C7]', async () => {
    const { conversationId, itemId } = await handedOver(world, LEAD);
    const everyMs = 30 * SECOND_MS;
    await pass(45 * MINUTE_MS, [conversationId], everyMs);
    const expected = ['front-desk: 1', 'front-desk: 1', 'shift-lead: 1', 'owner: 1'];
    expect(await notices(world)).toEqual(expected);
    await act(world, 'claims', { conversationId, itemId });
    await pass(90 * MINUTE_MS, [conversationId], 60 * SECOND_MS);
    expect(await notices(world)).toEqual(expected);
  });

  it.each(['claims', 'resolves'] as const)(
    'is not written of an item that somebody %s before its turn came [C7]',
    async (how) => {
      const handoff = await handedOver(world, LEAD, 30 * SECOND_MS);
      await act(world, how, handoff);
      await pass(MINUTE_MS, [], 10 * SECOND_MS);
      expect(await notices(world)).toEqual([]);
    },
  );

  it('tells staff of a burst to a person once, and again only after somebody acted [T6]', async () => {
    const handoff = await handedOver(world, LEAD);
    await round(world);
    await act(world, 'claims', handoff);
    for (let burst = 1; burst <= 2; burst += 1) {
      world.clock.advance(MINUTE_MS);
      for (const text of ['Hello?', 'Anybody?', 'Please']) await world.write({ text, lead: LEAD });
      await pass(2 * MINUTE_MS, [handoff.conversationId], 10 * SECOND_MS);
      expect(await notices(world)).toHaveLength(1 + burst);
      await act(world, 'claims', handoff);
    }
  });

  it('and the deadlines of others do not wait for an item that cannot be escalated, which is logged [T4] [INV-9]', async () => {
    const broken = await openItem(world, { kind: 'not-sent', conversationId: 'cnv_gone' });
    await openItem(world, { kind: 'job-review' });
    world.clock.advance(6 * MINUTE_MS);
    await handedOver(world, LEAD);
    const logged: unknown[] = [];
    const error = (fields: object) => logged.push(fields);
    const log = { ...world.dependencies.log, error };
    expect(await round(world, log)).toMatchObject({ escalated: 1 });
    expect(logged).toEqual([{ workItemId: broken, error: expect.any(Error) }]);
    expect((await notices(world)).sort()).toEqual(['front-desk: 2', 'operators: 2']);
    await world.rows('update work_items set conversation_id = null where id = $1', [broken]);
    expect(await round(world, log)).toMatchObject({ escalated: 1 });
  });

  it('of an operators’ item is written though it belongs to no business [IN4] [C7]', async () => {
    await openItem(world, { kind: 'quarantine', businessId: null });
    await openItem(world, { kind: 'content-conflict', businessId: null });
    await Promise.all([round(world), round(world)]);
    expect(await notices(world)).toEqual(['operators: 2']);
    world.clock.advance(5 * MINUTE_MS);
    await round(world);
    expect(await notices(world)).toEqual(['operators: 2', 'operators: 2']);
  });

  it('goes to the integrations of its business and queue, and operators’ ones to those who run the system [C7]', async () => {
    const to = ['desk@example.com'];
    const all = await connect(world, { kind: 'notice-email', settings: { to } });
    const lead = await connect(world, {
      kind: 'notice-email',
      settings: { to, queues: ['shift-lead'] },
    });
    const system = await connect(world, {
      kind: 'notice-webhook',
      settings: { url: 'https://hooks.example/x' },
      secret: 'c2VjcmV0',
      businessId: null,
    });
    const paused = await connect(world, { kind: 'notice-email', settings: { to } });
    await world.rows('update integrations set paused_at = $2 where id = $1', [
      paused,
      world.clock.iso,
    ]);
    await connect(world, { kind: 'crm-webhook', settings: { url: 'https://crm.example/x' } });
    await handedOver(world, LEAD);
    await openItem(world, { kind: 'job-review' });
    await round(world);
    const carried = async () =>
      (
        await world.rows(
          `select n.queue, d.integration_id as id from notice_deliveries d
           join notices n on n.id = d.notice_id order by n.created_at, n.queue, d.integration_id`,
        )
      ).map(({ queue, id }) => `${String(queue)} ${String(id)}`);
    expect(await carried()).toEqual(
      [`front-desk ${all}`, `operators ${all}`, `operators ${system}`].sort(),
    );
    expect(await carried()).not.toContain(`front-desk ${lead}`);
  });

  it.each([
    ['without queues', {}, true],
    ['with null for its queues', { queues: null }, true],
    ['with this queue among others', { queues: ['front-desk', 'owner'] }, true],
    ['with other queues', { queues: ['shift-lead'] }, false],
    ['with no queue at all, whose delivery then fails', { queues: [] }, true],
    ['with a queue that does not exist, whose delivery then fails', { queues: ['cellar'] }, true],
    ['with what is no list, whose delivery then fails', { queues: {} }, true],
  ])('goes to an integration %s [C7]', async (_name, queues, goes) => {
    await connect(world, {
      kind: 'notice-email',
      settings: { to: ['desk@example.com'], ...queues },
    });
    await openItem(world, { kind: 'not-sent' });
    await round(world);
    expect(await world.rows('select from notice_deliveries')).toHaveLength(goes ? 1 : 0);
  });
});
