import { raiseTurn } from '../../../db/turns';
import { heldAt, pauseAt, pauseInProvider } from '../../support/barrier';
import { makeSweeper, openItems, type Sweeper } from '../../support/sweeping';
import { runUntilIdle } from '../../support/run-until-idle';
import { calledFor, sendsOf } from '../../support/sends';
import { makeWorld, type World } from '../../support/world';
import { calledUntilRest, command, queuedAnswer } from '../races/scene';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const leadNumber = (index: number) => `+1312555${String(1_000 + index)}`;

describe('the sweeper against others', () => {
  let world: World;
  let sweeper: Sweeper;
  let asked: number;
  beforeAll(async () => {
    world = await makeWorld({
      engine: {
        understand: () => {
          asked += 1;
          return {
            serviceId: null,
            jobLabel: null,
            location: null,
            urgency: null,
            wantsPerson: false,
            complains: false,
            wantsPrice: false,
            wantsBooking: false,
            bareOpener: false,
            language: 'en',
          };
        },
        draft: () => ({ kind: 'reply', text: 'What is your ZIP code?', verdict: 'meaningful' }),
      },
    });
  });
  beforeEach(() => {
    sweeper = makeSweeper(world);
    asked = 0;
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const owe = async () => {
    await world.write({ text: 'My sink leaks' });
    return (await world.conversation()).id;
  };

  // Raced: two sweepers, in one moment, over forty debts on two rungs.
  // Order: whatever the database makes of it.
  // Must hold: each conversation is woken or handed over once, by one of them.
  it('two of them at once do nothing twice [T4] [T6]', async () => {
    const late = Array.from({ length: 20 }, (_, index) => leadNumber(index));
    const young = Array.from({ length: 20 }, (_, index) => leadNumber(20 + index));
    await world.write(...late.map((lead) => ({ text: 'My sink leaks', lead })));
    world.clock.advance(HOUR - 4 * MINUTE);
    await world.write(...young.map((lead) => ({ text: 'My sink leaks', lead })));
    world.clock.advance(4 * MINUTE + 1);
    const second = makeSweeper(world);
    const [one, other] = await Promise.all([sweeper.sweep(), second.sweep()]);
    expect(one['hand-over'] + other['hand-over']).toBe(20);
    expect(one.replay + other.replay).toBe(20);
    const woken = [...sweeper.woken, ...second.woken].map(({ id }) => id);
    expect(new Set(woken).size).toBe(20);
    expect(woken).toHaveLength(20);
    expect(await openItems(world)).toHaveLength(20);
    const requested = await world.rows(
      "select conversation_id from takeover_events where type = 'takeover.requested'",
    );
    expect(requested).toHaveLength(20);
    expect(await second.sweep()).toMatchObject({ replay: 0, 'hand-over': 0 });
  });

  // Raced: the sweeper against a turn that holds the conversation's lock.
  // Order: the turn stands before its commit while the sweep comes, an hour late.
  // Must hold: the sweep passes over it and waits for nothing; the turn's outcome stands.
  it('passes over a conversation in whose turn it comes [T4]', async () => {
    const id = await owe();
    world.clock.advance(HOUR - 1_000);
    const barrier = pauseAt(world, 'turn:drafted');
    const turn = world.activities.takeTurn({ conversationId: id });
    await heldAt(barrier, turn);
    expect(await sweeper.sweepAfter(2_000)).toMatchObject({ 'hand-over': 0, passed: 1 });
    barrier.release();
    await turn;
    expect(await sendsOf(world)).toEqual([expect.objectContaining({ state: 'queued' })]);
    expect(await sweeper.sweep()).toMatchObject({ 'hand-over': 1 });
    expect(await calledUntilRest(world, id)).toEqual([]);
  });

  // Raced: the sweeper against a turn that has begun and not yet locked.
  // Order: the turn raises its marker, the sweep hands over, the turn goes on.
  // Must hold: the turn's token is stale; it asks no engine, writes nothing and leaves no marker.
  it('leaves a turn that it overtook with a stale token, before any engine call [T2] [T4]', async () => {
    const id = await owe();
    world.clock.advance(HOUR + 1);
    const barrier = pauseAt(world, 'turn:begun');
    const turn = world.activities.takeTurn({ conversationId: id });
    await heldAt(barrier, turn);
    expect(await sweeper.sweep()).toMatchObject({ 'hand-over': 1 });
    barrier.release();
    await turn;
    expect(asked).toBe(0);
    expect(await sendsOf(world)).toEqual([]);
    expect(await world.rows('select from turn_markers')).toEqual([]);
    expect(await openItems(world)).toHaveLength(1);
  });

  // Raced: a replay against the turn that has settled meanwhile, and against a newer message.
  // Order: as the names say.
  // Must hold: a stale token exits before any engine call; the newer message gets its own turn.
  it('sends a replay that comes too late home without an engine call [T2] [T4]', async () => {
    const id = await owe();
    await runUntilIdle(world, id, { forMs: 0 });
    expect(asked).toBe(1);
    await world.activities.takeTurn({ conversationId: id });
    expect(asked).toBe(1);
  });

  it('sends a turn home whose token a newer message replaced; that one is answered [T2] [T3]', async () => {
    const id = await owe();
    const barrier = pauseAt(world, 'turn:begun');
    const turn = world.activities.takeTurn({ conversationId: id });
    await heldAt(barrier, turn);
    await world.write({ text: 'And the tub' });
    barrier.release();
    const agenda = await turn;
    expect(asked).toBe(0);
    expect(agenda.items[0]?.step).toEqual({ kind: 'take-turn' });
    world.failpoints = {};
    expect((await calledUntilRest(world, id))[0]).toBe('answer');
    expect(await world.rows('select distinct settlement from messages where owes')).toEqual([
      { settlement: 'reply' },
    ]);
  });

  // Raced: the sweeper against a provider that accepts very late.
  // Order: the call stands in the provider, the sweep reviews the attempt, then it is accepted.
  // Must hold: the acceptance closes the review, the message is settled by its reply, one call.
  it('opens a review that a late acceptance closes [T4] [C6] [T8]', async () => {
    const { conversationId, sendId } = await queuedAnswer(world);
    const barrier = pauseInProvider(world);
    const delivery = world.activities.deliver({ conversationId, sendId });
    await heldAt(barrier, delivery);
    expect(await sweeper.sweepAfter(11 * MINUTE)).toMatchObject({ review: 1 });
    barrier.release();
    await delivery;
    expect(await openItems(world)).toEqual([]);
    expect(await world.rows('select settlement from messages where owes')).toEqual([
      { settlement: 'reply' },
    ]);
    expect((await calledFor(world)).filter((purpose) => purpose === 'answer')).toHaveLength(1);
  });

  // Raced: the sweeper's record of a marker against the worker's own.
  // Order: the worker stands between marker and record for two minutes.
  // Must hold: the acceptance is filed once, whoever comes first.
  it('files an acceptance once, beside the worker who is about to [T4] [T8] [INV-10]', async () => {
    const { conversationId, sendId } = await queuedAnswer(world);
    const barrier = pauseAt(world, 'deliver:marked');
    const delivery = world.activities.deliver({ conversationId, sendId });
    await heldAt(barrier, delivery);
    expect(await sweeper.sweepAfter(2 * MINUTE)).toMatchObject({ recorded: 1 });
    barrier.release();
    await delivery;
    expect(await world.rows('select outcome from send_outcomes')).toEqual([
      { outcome: 'accepted' },
    ]);
    expect(await world.rows("select from messages where direction = 'out'")).toHaveLength(1);
  });

  // Raced: the sweeper against a person's claim of the same late debt.
  // Order: whatever the database makes of it.
  // Must hold: one item has the debt, and automation is silent.
  it('and a person who claims leave one handoff between them [T4] [T6]', async () => {
    const id = await owe();
    world.clock.advance(HOUR + 1);
    await Promise.all([sweeper.sweep(), command(world, id, 'claim')]);
    const handoffs = await world.rows("select id from work_items where kind = 'handoff'");
    expect(handoffs).toHaveLength(1);
    expect(await world.rows('select settlement_ref from messages')).toEqual([
      { settlement_ref: handoffs[0]?.['id'] },
    ]);
    expect(await world.conversation()).toMatchObject({ state: 'paused', owner: 'person' });
    expect(await calledUntilRest(world, id)).toEqual([]);
  });

  // Raced: the sweeper against a worker's claim of the outbox row.
  // Order: the worker holds the lease at `deliver:claimed` while the sweep hands over.
  // Must hold: the gate refuses the worker; nothing leaves.
  it('hands over before the gate of a worker that has claimed the send [T4] [C7] [S3]', async () => {
    const { conversationId, sendId } = await queuedAnswer(world);
    world.clock.advance(HOUR - 1_000);
    const barrier = pauseAt(world, 'deliver:claimed');
    const delivery = world.activities.deliver({ conversationId, sendId });
    await heldAt(barrier, delivery);
    expect(await sweeper.sweepAfter(1_001)).toMatchObject({ 'hand-over': 1 });
    barrier.release();
    await delivery;
    expect(world.provider.calls).toEqual([]);
    world.failpoints = {};
    expect(await calledUntilRest(world, conversationId)).toEqual([]);
  });

  // Raced: the sweeper against the ingest of a newer message.
  // Order: whatever the database makes of it.
  // Must hold: both messages end in the one open handoff, or the newer one owes a turn of its own.
  it('and an ingest leave no message without its debt or its item [T4] [T1] [INV-6]', async () => {
    for (let index = 0; index < 8; index += 1) {
      await world.write({ text: 'My sink leaks', lead: leadNumber(index) });
    }
    world.clock.advance(HOUR + 1);
    const again = Array.from({ length: 8 }, (_, index) =>
      world.write({ text: 'Hello?', lead: leadNumber(index) }),
    );
    await Promise.all([sweeper.sweep(), ...again]);
    await sweeper.sweep();
    const homes = await world.rows(
      `select c.id from conversations c where not exists (select from messages m
         where m.conversation_id = c.id and m.owes and m.settlement is distinct from 'work-item')`,
    );
    expect(homes).toHaveLength(8);
    expect(await openItems(world)).toHaveLength(8);
  });

  it('leaves alone what raised its marker in this very moment [T4]', async () => {
    const id = await owe();
    world.clock.advance(30 * MINUTE);
    await raiseTurn(world.database.service, id, world.clock.iso);
    expect(await sweeper.sweep()).toMatchObject({ replay: 0 });
    expect(sweeper.woken).toEqual([]);
  });
});
