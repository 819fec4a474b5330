import { lockConversation } from '../../../db/conversations';
import { inTransaction } from '../../../db/database';
import { escalate, escalateOverdue } from '../../../db/escalations';
import { claimWorkItem } from '../../../db/work-items';
import { blockedOnRow } from '../../support/postgres-faults';
import { runUntilIdle } from '../../support/run-until-idle';
import { calledFor } from '../../support/sends';
import { makeWorld, type World } from '../../support/world';
import { act as command } from '../commands/scene';
import { act, handedOver, levels, MINUTE_MS, notices, openItem, round } from './scene';

const LEAD = '+13125550142';

describe('the deadline of a work item', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const item = async () => {
    const [row] = await world.rows(
      `select level, assigned_queue, escalate_at = opened_at as at_once,
         automation_paused_at = opened_at as paused, claimed_by,
         (extract(epoch from next_escalation_at - opened_at) / 60)::float8 as next
       from work_items`,
    );
    return row;
  };

  it('is set with the handover, which notifies at once and has paused by then [C7] [T6]', async () => {
    await handedOver(world, LEAD);
    expect(await item()).toEqual({
      level: 1,
      assigned_queue: 'front-desk',
      at_once: true,
      paused: true,
      claimed_by: null,
      next: 5,
    });
    expect(await levels(world)).toEqual(['1 front-desk 0 min']);
  });

  it('of what has no conversation goes to those who run the system [C7]', async () => {
    await openItem(world, { kind: 'job-review' });
    expect(await item()).toMatchObject({ paused: null, assigned_queue: 'operators', next: 5 });
  });

  it.each(['delivery-unknown', 'delivery-failed', 'not-sent', 'follow-up-by-hand'] as const)(
    'of the kind %s is told and pauses nothing: a message beside it gets its answer [C7] [T6]',
    async (kind) => {
      await world.write({ text: 'My sink leaks', lead: LEAD });
      const { id } = await world.conversation(LEAD);
      await openItem(world, { kind, conversationId: id });
      await round(world);
      expect(await notices(world)).toEqual(['front-desk: 1']);
      await runUntilIdle(world, id, { forMs: 0 });
      expect(await calledFor(world)).toEqual(['answer']);
      expect(await item()).toMatchObject({ paused: null });
      expect(await world.conversation(LEAD)).toMatchObject({ state: 'active', owed_since: null });
    },
  );

  it('is carried out as the agenda says: after 5 and 10 min, then every 30 [C7] [O1]', async () => {
    const { conversationId } = await handedOver(world, LEAD);
    const startedMs = world.clock.epochMs;
    const steps = await runUntilIdle(world, conversationId, { forMs: 75 * MINUTE_MS });
    expect(
      steps
        .filter(({ kind }) => kind === 'escalate')
        .map(({ at }) => (Date.parse(at) - startedMs) / MINUTE_MS),
    ).toEqual([5, 10, 40, 70]);
    expect(await levels(world)).toEqual([
      '1 front-desk 0 min',
      '2 front-desk 5 min',
      '3 shift-lead 10 min',
      '4 owner 40 min',
      '5 owner 70 min',
    ]);
  });

  it.each([
    ['one after the other', 1],
    ['all at once', 5],
  ])(
    'is carried out once however often it is repeated, %s [C7] [INV-9]',
    async (_name, together) => {
      const { conversationId, itemId } = await handedOver(world, LEAD);
      world.clock.advance(5 * MINUTE_MS - 1);
      const once = () => world.activities.escalate({ conversationId, workItemId: itemId });
      await once();
      expect(await levels(world)).toHaveLength(1);
      world.clock.advance(1);
      for (let times = 0; times < 5; times += together) {
        await Promise.all(Array.from({ length: together }, once));
      }
      expect(await levels(world)).toEqual(['1 front-desk 0 min', '2 front-desk 5 min']);
    },
  );

  it('is decided by the level that was seen: a second writer changes nothing [C7]', async () => {
    const { conversationId, itemId } = await handedOver(world, LEAD);
    world.clock.advance(5 * MINUTE_MS);
    const did = await inTransaction(world.database.service, async (client) => {
      const locked = await lockConversation(client, conversationId, world.clock.iso);
      if (locked === null) throw new Error('the conversation exists');
      return [await escalate(client, locked, itemId), await escalate(client, locked, itemId)];
    });
    expect(did).toEqual([true, false]);
  });

  it.each(['claims', 'resolves'] as const)('ends when somebody %s the item [C7]', async (how) => {
    const handoff = await handedOver(world, LEAD);
    world.clock.advance(2 * MINUTE_MS);
    await act(world, how, handoff);
    const steps = await runUntilIdle(world, handoff.conversationId);
    expect(steps.map(({ kind }) => kind)).not.toContain('escalate');
    expect(await levels(world)).toHaveLength(1);
  });

  it('stands while messages join the item: a burst starts no clock of its own [T6]', async () => {
    const { conversationId } = await handedOver(world, LEAD);
    for (const text of ['Hello?', 'Anybody there?', 'Please']) {
      world.clock.advance(MINUTE_MS);
      await world.write({ text, lead: LEAD });
    }
    expect(await item()).toMatchObject({ level: 1, next: 5 });
    await runUntilIdle(world, conversationId, { forMs: 2 * MINUTE_MS });
    expect(await levels(world)).toEqual(['1 front-desk 0 min', '2 front-desk 5 min']);
  });

  it('starts again once the lead writes after somebody acted, once per burst [T6] [C7]', async () => {
    const handoff = await handedOver(world, LEAD);
    const { conversationId } = handoff;
    await runUntilIdle(world, conversationId, { forMs: 12 * MINUTE_MS });
    await act(world, 'claims', handoff);
    world.clock.advance(MINUTE_MS);
    await world.write({ text: 'Hello?', lead: LEAD });
    await world.write({ text: 'It drips again', lead: LEAD });
    await runUntilIdle(world, conversationId, { forMs: 10 * MINUTE_MS });
    expect((await levels(world)).slice(3)).toEqual([
      '4 front-desk 13 min',
      '5 front-desk 18 min',
      '6 shift-lead 23 min',
    ]);
    expect(await item()).toMatchObject({ claimed_by: 'support-agent' });
  });

  it('starts again where the reply of whoever acted was refused, and says so at once [T3] [C7]', async () => {
    const { conversationId } = await handedOver(world, LEAD);
    world.clock.advance(2 * MINUTE_MS);
    await command(world, conversationId, { command: 'reply', text: 'We can come on Friday.' });
    expect(await item()).toMatchObject({ claimed_by: 'support-agent', next: null });
    world.provider.next(() => ({
      kind: 'not-accepted',
      code: 'blocked_recipient',
      retry: 'never',
      retryAfterMs: null,
      pausesAccount: false,
      optedOut: false,
    }));
    await runUntilIdle(world, conversationId, { forMs: 5 * MINUTE_MS });
    expect(await levels(world)).toEqual([
      '1 front-desk 0 min',
      '2 front-desk 2 min',
      '3 front-desk 7 min',
    ]);
    expect(await item()).toMatchObject({ level: 3, next: 12 });
  });

  it('belongs to the one item that opens when a lead writes to a person who owns the conversation [T6]', async () => {
    const handoff = await handedOver(world, LEAD);
    await world.rows("update conversations set owner = 'person'");
    await act(world, 'resolves', handoff);
    world.clock.advance(MINUTE_MS);
    await world.write({ text: 'One more thing', lead: LEAD });
    await world.write({ text: 'and another', lead: LEAD });
    const open = await world.rows(
      `select kind, newest_seq, level,
         (extract(epoch from next_escalation_at - opened_at) / 60)::float8 as next
       from work_items where resolved_at is null`,
    );
    expect(open).toEqual([{ kind: 'handoff', newest_seq: 3, level: 1, next: 5 }]);
    await world.rows("update conversations set owner = 'automation'");
  });

  const overdue = async (): Promise<number> => {
    const options = { olderThanMs: MINUTE_MS, limit: 50, now: world.clock.iso };
    const { done, failed } = await escalateOverdue(world.database.service, options);
    expect(failed).toEqual([]);
    return done;
  };

  it('is carried out without a workflow once it is 60 s overdue, and not before [T4] [INV-9]', async () => {
    await handedOver(world, LEAD);
    world.clock.advance(6 * MINUTE_MS - 1);
    expect(await overdue()).toBe(0);
    world.clock.advance(1);
    expect(await overdue()).toBe(1);
    expect(await overdue()).toBe(0);
    expect(await levels(world)).toEqual(['1 front-desk 0 min', '2 front-desk 5 min']);
  });

  it('of an item without a conversation is carried out at once, level after level [C7] [INV-9]', async () => {
    await openItem(world, { kind: 'quarantine', businessId: null });
    world.clock.advance(5 * MINUTE_MS);
    expect(await overdue()).toBe(1);
    world.clock.advance(5 * MINUTE_MS);
    expect(await overdue()).toBe(1);
    expect(await levels(world)).toEqual([
      '1 operators 0 min',
      '2 operators 5 min',
      '3 operators-on-call 10 min',
    ]);
  });

  it('is carried out once by two loops at the same time [C7]', async () => {
    await handedOver(world, LEAD);
    await openItem(world, { kind: 'job-review' });
    world.clock.advance(6 * MINUTE_MS);
    const done = await Promise.all([overdue(), overdue(), overdue()]);
    expect(done.reduce((sum, count) => sum + count, 0)).toBe(2);
    expect(await levels(world)).toHaveLength(4);
  });

  // Raced: two loops over an item without a conversation, whose lock would order them.
  // Order: the second one has read the level when the first one's transaction commits.
  it('is carried out once by two loops that read the same level [C7]', async () => {
    const { conversationId } = await handedOver(world, LEAD);
    const id = await openItem(world, { kind: 'job-review' });
    world.clock.advance(5 * MINUTE_MS);
    let second = Promise.resolve(-1);
    await inTransaction(world.database.service, async (client) => {
      const locked = await lockConversation(client, conversationId, world.clock.iso);
      if (locked === null) throw new Error('the conversation exists');
      expect(await escalate(client, locked, id)).toBe(true);
      second = overdue();
      await blockedOnRow(world.database);
    });
    expect(await second).toBe(0);
    const raised = await world.rows('select level from escalations where work_item_id = $1', [id]);
    expect(raised).toEqual([{ level: 1 }, { level: 2 }]);
  });

  it('that an outage passed over keeps its own times, and leaves out missed repetitions [C7] [INV-9]', async () => {
    const { conversationId } = await handedOver(world, LEAD);
    world.clock.advance(4 * 60 * MINUTE_MS);
    await runUntilIdle(world, conversationId, { forMs: 0 });
    expect(await levels(world)).toEqual([
      '1 front-desk 0 min',
      '2 front-desk 5 min',
      '3 shift-lead 10 min',
    ]);
    expect(await item()).toMatchObject({ next: 250 });
  });

  it.each([
    ['a colleague has it from then on, and nobody else', 'dispatcher', ['dispatcher', 3]],
    ['the same one keeps the time of the first', 'support-agent', ['support-agent', 2]],
  ] as const)(
    'is over for an item that is claimed twice: %s [C7] [T6]',
    async (_name, by, [holder, minutes]) => {
      const id = await openItem(world, { kind: 'not-sent' });
      const claim = (claimer: string) =>
        inTransaction(world.database.service, (client) =>
          claimWorkItem(client, id, { at: world.clock.iso, by: claimer }),
        );
      world.clock.advance(2 * MINUTE_MS);
      expect(await claim('support-agent')).toBe(true);
      world.clock.advance(MINUTE_MS);
      expect(await claim(by)).toBe(true);
      const claimed = await world.rows(
        `select claimed_by, (extract(epoch from claimed_at - opened_at) / 60)::int as minutes,
           next_escalation_at as next from work_items`,
      );
      expect(claimed).toEqual([{ claimed_by: holder, minutes, next: null }]);
    },
  );
});
