import { storePolicy } from '../../../db/policies';
import { DEMO_BUSINESS } from '../../../dev/demo';
import { DEFAULT_RULES } from '../../../domain/policy-rules';
import { heldAt, pauseAt } from '../../support/barrier';
import { runUntilIdle } from '../../support/run-until-idle';
import { calledFor, sendsOf } from '../../support/sends';
import { makeWorld, type World } from '../../support/world';
import { calledUntilRest } from '../races/scene';
import { act, levels, MINUTE_MS, notices, round } from './scene';

const LEAD = '+13125550142';

describe('a draft that nobody approves', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  beforeEach(() =>
    storePolicy(
      world.database.service,
      {
        businessId: DEMO_BUSINESS.id,
        version: 'reviewed',
        channel: null,
        accountId: null,
        rules: { ...DEFAULT_RULES, manualReview: true },
      },
      world.clock.iso,
    ),
  );
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const drafted = async (): Promise<string> => {
    await world.write({ text: 'My sink leaks', lead: LEAD });
    const { id } = await world.conversation(LEAD);
    await runUntilIdle(world, id, { forMs: 0 });
    return id;
  };
  const items = () =>
    world.rows(
      `select kind, reason, resolution, automation_paused_at is not null as paused,
         (extract(epoch from next_escalation_at - opened_at) / 60)::float8 as next
       from work_items order by opened_at, kind`,
    );
  const settlements = () =>
    world.rows(
      `select settlement, w.kind from messages m join work_items w on w.id = m.settlement_ref
       where m.direction = 'in' order by m.seq`,
    );

  it('notifies after 10 min and pauses nothing until then [T3] [C7]', async () => {
    const id = await drafted();
    expect(await items()).toEqual([
      { kind: 'approval', reason: 'awaits_approval', resolution: null, paused: false, next: 10 },
    ]);
    await round(world);
    expect(await notices(world)).toEqual([]);
    await runUntilIdle(world, id, { forMs: 10 * MINUTE_MS });
    await round(world);
    expect(await levels(world)).toEqual(['1 front-desk 10 min']);
    expect(await notices(world)).toEqual(['front-desk: 1']);
    expect(await world.conversation()).toMatchObject({ state: 'active', owed_since: null });
  });

  it('becomes a handoff after 20 min, in one transaction, once however often it is repeated [T3] [C7] [T6]', async () => {
    const id = await drafted();
    await runUntilIdle(world, id, { forMs: 20 * MINUTE_MS - 1 });
    const [approval] = await world.rows("select id from work_items where kind = 'approval'");
    world.clock.advance(1);
    const once = () =>
      world.activities.escalate({ conversationId: id, workItemId: String(approval?.['id']) });
    await Promise.all([once(), once(), once()]);
    await once();
    expect(await items()).toEqual([
      {
        kind: 'approval',
        reason: 'awaits_approval',
        resolution: 'draft_expired',
        paused: false,
        next: null,
      },
      { kind: 'handoff', reason: 'draft_expired', resolution: null, paused: true, next: 5 },
    ]);
    expect(await sendsOf(world)).toEqual([
      expect.objectContaining({ state: 'cancelled', reason: 'draft_expired' }),
    ]);
    expect(await settlements()).toEqual([{ settlement: 'work-item', kind: 'handoff' }]);
    expect(await world.conversation()).toMatchObject({ state: 'paused', owed_since: null });
    expect(await calledUntilRest(world, id)).toEqual([]);
  });

  it('is handed over without a workflow a minute later [T4] [INV-9]', async () => {
    const id = await drafted();
    await runUntilIdle(world, id, { forMs: 11 * MINUTE_MS });
    world.clock.advance(10 * MINUTE_MS - 5_000 - 1);
    expect(await round(world)).toMatchObject({ escalated: 0 });
    world.clock.advance(1);
    expect(await round(world)).toMatchObject({ escalated: 1 });
    expect((await items()).at(-1)).toMatchObject({ kind: 'handoff', reason: 'draft_expired' });
  });

  const handedOverAsExpired = async (conversationId: string) => {
    expect((await items()).map(({ kind, resolution }) => [kind, resolution])).toEqual([
      ['approval', 'draft_expired'],
      ['handoff', null],
    ]);
    expect(await sendsOf(world)).toEqual([
      expect.objectContaining({ state: 'cancelled', reason: 'draft_expired' }),
    ]);
    expect(await settlements()).toEqual([{ settlement: 'work-item', kind: 'handoff' }]);
    expect(await calledUntilRest(world, conversationId)).toEqual([]);
  };

  it('and that somebody claimed and left goes to a person when its hour ends [T3] [C3]', async () => {
    const id = await drafted();
    const [approval] = await world.rows("select id from work_items where kind = 'approval'");
    await act(world, 'claims', { conversationId: id, itemId: String(approval?.['id']) });
    await runUntilIdle(world, id, { forMs: 60 * MINUTE_MS - 1 });
    expect(await items()).toMatchObject([{ kind: 'approval', resolution: null, next: null }]);
    await runUntilIdle(world, id, { forMs: 1 });
    await handedOverAsExpired(id);
  });

  it('whose hour ends before its deadline goes to a person by then, in one step [T3] [C3]', async () => {
    const at = new Date(world.clock.epochMs - 50 * MINUTE_MS).toISOString();
    await world.write({ text: 'My sink leaks', lead: LEAD, at });
    const { id } = await world.conversation(LEAD);
    const steps = await runUntilIdle(world, id, { forMs: 10 * MINUTE_MS });
    expect(steps.map(({ kind }) => kind)).toEqual(['take-turn', 'expire']);
    await handedOverAsExpired(id);
  });

  // Raced: the deadline of the draft against a worker that was given its row by mistake.
  // Order: the worker asks for the row; the deadline is carried out; the worker goes on.
  // Must hold: an unapproved draft cannot be claimed, before or after.
  it('wins against whoever would send it [C7] [INV-15]', async () => {
    const id = await drafted();
    const [send] = await world.rows('select id from outbox');
    const deliver = () =>
      world.activities.deliver({ conversationId: id, sendId: String(send?.['id']) });
    await deliver();
    await runUntilIdle(world, id, { forMs: 20 * MINUTE_MS });
    await deliver();
    expect(await calledFor(world)).toEqual([]);
  });
});

// C10's race: the deadline of a work item against a send that has not passed its gate.
describe('an escalation that hands over', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  // Raced: the expiry that hands over against a worker that claimed the answer.
  // Order: the claim; the answer's hour passes and the handover commits; the worker goes on.
  // Must hold: the gate refuses; the person has the conversation alone.
  it('wins against a send that was claimed and has not passed the gate [C7] [C10] [INV-15]', async () => {
    await world.write({ text: 'My sink leaks', lead: LEAD });
    const { id: conversationId } = await world.conversation(LEAD);
    await world.activities.takeTurn({ conversationId });
    const [send] = await world.rows('select id from outbox');
    const sendId = String(send?.['id']);
    const barrier = pauseAt(world, 'deliver:claimed');
    const worker = world.activities.deliver({ conversationId, sendId });
    await heldAt(barrier, worker);
    world.clock.advance(60 * MINUTE_MS);
    await world.activities.expireSend({ conversationId, sendId });
    barrier.release();
    await worker;
    expect(await calledUntilRest(world, conversationId)).toEqual([]);
    expect(await world.rows('select kind from work_items')).toEqual([{ kind: 'handoff' }]);
  });
});
