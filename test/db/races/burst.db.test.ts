import { makeConversationActivities } from '../../../activities';
import { OPENER_WAIT_MS } from '../../../domain/limits';
import { heldAt, pauseAt, pauseInProvider } from '../../support/barrier';
import { runUntilIdle } from '../../support/run-until-idle';
import { calledFor, sendsOf } from '../../support/sends';
import { makeWorld, type World } from '../../support/world';
import { queuedAnswer } from './scene';

const MINUTE_MS = 60_000;

describe('messages that come in a burst', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const texts = () => world.provider.accepted.map((call) => call.text);
  const settled = () =>
    world.rows(
      `select m.seq, m.settlement, o.covers_seq from messages m
       left join outbox o on o.id = m.settlement_ref where m.direction = 'in' order by m.seq`,
    );

  it('get one answer that covers all three, within 1.3 s of the first [P4b] [INV-12]', async () => {
    const startMs = world.clock.epochMs;
    await world.write({ text: 'Hi', mayWait: true });
    const { id } = await world.conversation();
    await runUntilIdle(world, id, { forMs: 300 });
    await world.write({ text: 'are you open', mayWait: true });
    await runUntilIdle(world, id, { forMs: 300 });
    await world.write({ text: null, mayWait: true });
    const performed = await runUntilIdle(world, id, { forMs: MINUTE_MS });
    const turn = performed.find(({ kind }) => kind === 'deliver');
    expect(Date.parse(turn?.at ?? '') - startMs).toBe(OPENER_WAIT_MS);
    expect(await settled()).toEqual(
      [1, 2, 3].map((seq) => ({ seq, settlement: 'reply', covers_seq: 3 })),
    );
    expect(texts()).toHaveLength(1);
  });

  it('stop waiting with the first complete request [P4b]', async () => {
    await world.write({ text: 'Hi', mayWait: true });
    const { id } = await world.conversation();
    await runUntilIdle(world, id, { forMs: 300 });
    expect(texts()).toHaveLength(0);
    await world.write({ text: 'My water heater leaks' });
    await runUntilIdle(world, id, { forMs: 0 });
    expect(texts()).toEqual(['Thanks for message 2. What is your ZIP code?']);
  });

  it('make an opener wait exactly its second, and the wait moves no age [P4b] [T5]', async () => {
    await world.write({ text: 'Hi', mayWait: true });
    const { id } = await world.conversation();
    const [before] = await world.rows('select overdue_from, oldest_owed_at from conversations');
    await runUntilIdle(world, id, { forMs: OPENER_WAIT_MS - 1 });
    expect(await sendsOf(world)).toEqual([]);
    expect(await world.rows('select overdue_from, oldest_owed_at from conversations')).toEqual([
      before,
    ]);
    await runUntilIdle(world, id, { forMs: 1 });
    expect(texts()).toHaveLength(1);
  });

  // Raced: a newer message against the draft of an older one that waits in the outbox.
  // Order: the draft is queued; the message commits; the next turn begins.
  // Must hold: the draft is withdrawn and the one answer covers both messages.
  it('withdraw a draft that waits, for one answer that covers both [P4b] [INV-12]', async () => {
    const { conversationId } = await queuedAnswer(world);
    await world.write({ text: 'It is the kitchen sink' });
    await runUntilIdle(world, conversationId, { forMs: MINUTE_MS });
    expect(await sendsOf(world)).toEqual([
      expect.objectContaining({ state: 'cancelled', reason: 'newer_inbound' }),
      expect.objectContaining({ state: 'accepted' }),
    ]);
    expect(texts()).toEqual(['Thanks for message 2. What is your ZIP code?']);
  });

  // Raced: the same against a draft that a worker has claimed.
  // Order: the worker is held at `deliver:claimed`, the message commits, the worker goes on.
  // Must hold: the gate sees the message that the draft did not, and withdraws it.
  it('withdraw a draft that a worker has claimed, at the gate [P4b] [INV-12] [S3]', async () => {
    const send = await queuedAnswer(world);
    const barrier = pauseAt(world, 'deliver:claimed');
    const delivery = world.activities.deliver(send);
    await heldAt(barrier, delivery);
    await world.write({ text: 'It is the kitchen sink' });
    barrier.release();
    await delivery;
    expect(await sendsOf(world)).toEqual([
      expect.objectContaining({ state: 'cancelled', reason: 'newer_inbound' }),
    ]);
    await runUntilIdle(world, send.conversationId, { forMs: MINUTE_MS });
    expect(texts()).toEqual(['Thanks for message 2. What is your ZIP code?']);
  });

  // The rule on the gate's real SQL. Order: the draft is queued at 0; a worker claims it and is
  // held; a newer message commits; the gate judges when the ages are as the row says.
  it.each([
    [0, 4_999, 100, 'withdrawn'],
    [0, 5_000, 100, 'sent'],
    [0, 5_000, 1_999, 'sent'],
    [0, 5_000, 2_000, 'withdrawn'],
    [1, 3_000, 100, 'withdrawn'],
    [2, 3_000, 100, 'sent'],
    [2, 3_000, 1_999, 'sent'],
    [2, 3_000, 2_000, 'withdrawn'],
  ])(
    'after %i withdrawals, %i ms after the first and %i ms after the missed one, the draft is %s [P4b] [INV-12]',
    async (withdrawals, oldestAgeMs, missedAgeMs, fate) => {
      const send = await queuedAnswer(world);
      await world.rows('update conversations set draft_withdrawals = $1', [withdrawals]);
      world.clock.advance(oldestAgeMs - missedAgeMs);
      world.failpoints['deliver:claimed'] = async () => {
        await world.write({ text: 'One more thing' });
        world.clock.advance(missedAgeMs);
      };
      await world.activities.deliver(send);
      world.failpoints = {};
      expect(texts()).toHaveLength(fate === 'sent' ? 1 : 0);
      await runUntilIdle(world, send.conversationId, { forMs: MINUTE_MS });
      const first = { seq: 1, settlement: 'reply', covers_seq: fate === 'sent' ? 1 : 2 };
      expect(await settled()).toEqual([first, { seq: 2, settlement: 'reply', covers_seq: 2 }]);
    },
  );

  // Raced: a lead who writes faster than we answer against the answer.
  // Order: each draft is met by a newer message before it is claimed, three times.
  // Must hold: after two withdrawals the third draft stands; what it missed keeps its debt.
  it('cannot starve the lead: after two withdrawals a draft stands [P4b] [T3]', async () => {
    const { conversationId } = await queuedAnswer(world);
    for (const text of ['and', 'another', 'thing']) {
      world.clock.advance(200);
      await world.write({ text });
      await world.activities.takeTurn({ conversationId });
    }
    expect((await sendsOf(world)).map(({ state }) => state)).toEqual([
      'cancelled',
      'cancelled',
      'queued',
    ]);
    await runUntilIdle(world, conversationId, { forMs: MINUTE_MS });
    expect(await settled()).toEqual([
      ...[1, 2, 3].map((seq) => ({ seq, settlement: 'reply', covers_seq: 3 })),
      { seq: 4, settlement: 'reply', covers_seq: 4 },
    ]);
    expect(texts()).toHaveLength(2);
  });

  // Raced: the same against drafts in a worker's hands.
  // Order: at `deliver:claimed` of every delivery a newer message commits.
  // Must hold: the gate withdraws two drafts and lets the third one leave; the rest follows.
  it('cannot starve the lead at the gate either [P4b] [T3] [INV-12]', async () => {
    await world.write({ text: 'My sink leaks' });
    const { id } = await world.conversation();
    let more = 3;
    world.failpoints['deliver:claimed'] = async () => {
      world.clock.advance(200);
      if (more > 0) await world.write({ text: `And ${more}` });
      more -= 1;
    };
    await runUntilIdle(world, id, { forMs: MINUTE_MS });
    expect((await sendsOf(world)).map(({ state }) => state)).toEqual([
      'cancelled',
      'cancelled',
      'accepted',
      'accepted',
    ]);
    expect(await settled()).toEqual([
      ...[1, 2, 3].map((seq) => ({ seq, settlement: 'reply', covers_seq: 3 })),
      { seq: 4, settlement: 'reply', covers_seq: 4 },
    ]);
  });

  it('end as covered where media follows something just answered [P4b]', async () => {
    await world.write({ text: 'My sink leaks' });
    const { id } = await world.conversation();
    await runUntilIdle(world, id, { forMs: 9_999 });
    await world.write({ text: null });
    await runUntilIdle(world, id, { forMs: 1 });
    await world.write({ text: null });
    await runUntilIdle(world, id, { forMs: MINUTE_MS });
    const rows = await world.rows(
      "select settlement, settlement_reason from messages where direction = 'in' order by seq",
    );
    expect(rows).toEqual([
      { settlement: 'reply', settlement_reason: 'answer' },
      { settlement: 'no-answer', settlement_reason: 'covered' },
      { settlement: 'reply', settlement_reason: 'answer' },
    ]);
  });

  // Raced: a newer message against the provider's call that answers the one before it.
  // Order: the worker is held inside the call, the message commits, the provider accepts.
  // Must hold: compare-and-clear. The old debt settles; the newer message keeps its own, its
  // oldest time advances to it, and it gets a turn of its own.
  it('during the provider’s call keep their debt and get a turn of their own [T2] [T3] [INV-5]', async () => {
    const send = await queuedAnswer(world);
    const barrier = pauseInProvider(world);
    const delivery = world.activities.deliver(send);
    await heldAt(barrier, delivery);
    world.clock.advance(3_000);
    const writtenAt = world.clock.iso;
    await world.write({ text: 'It is the kitchen sink' });
    barrier.release();
    expect(await delivery).toMatchObject({ agenda: { owed: true } });
    const [debt] = await world.rows(
      `select owed_since = $1 and oldest_owed_at = $1 and overdue_from = $1 as of_the_newer
       from conversations`,
      [writtenAt],
    );
    expect(debt).toEqual({ of_the_newer: true });
    await runUntilIdle(world, send.conversationId, { forMs: MINUTE_MS });
    expect(await settled()).toEqual([
      { seq: 1, settlement: 'reply', covers_seq: 1 },
      { seq: 2, settlement: 'reply', covers_seq: 2 },
    ]);
    expect(await calledFor(world)).toEqual(['answer', 'answer']);
  });

  it('during an attempt without an outcome do not wait for its judgement [T3] [C6]', async () => {
    const send = await queuedAnswer(world);
    world.provider.next(() => ({ kind: 'unknown', code: 'timeout' }));
    await world.activities.deliver(send);
    await world.write({ text: 'Hello?' });
    await runUntilIdle(world, send.conversationId, { forMs: 1_000 });
    expect(texts()).toEqual(['Thanks for message 2. What is your ZIP code?']);
  });

  it('in the same microsecond get different tokens, strictly increasing [T2]', async () => {
    const tokens: unknown[] = [];
    for (let count = 0; count < 3; count += 1) {
      await world.write({ text: 'My sink leaks' });
      const [row] = await world.rows(
        `select (extract(epoch from owed_since - $1::timestamptz) * 1000000)::int as us
         from conversations`,
        [world.clock.iso],
      );
      tokens.push(row?.['us']);
    }
    expect(tokens).toEqual([0, 1, 2]);
    const oldest = await world.rows('select oldest_owed_at = $1 as stays from conversations', [
      world.clock.iso,
    ]);
    expect(oldest).toEqual([{ stays: true }]);
  });

  it('twenty at once in one instant make twenty tokens and one answer [T2] [INV-5]', async () => {
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => world.write({ text: `Message ${index}` })),
    );
    const { id } = await world.conversation();
    const [minted] = await world.rows(
      `select (extract(epoch from last_token - $1::timestamptz) * 1000000)::int as us,
         last_seq from conversations`,
      [world.clock.iso],
    );
    expect(minted).toEqual({ us: 19, last_seq: 20 });
    await runUntilIdle(world, id, { forMs: MINUTE_MS });
    expect(texts()).toHaveLength(1);
    expect((await settled()).every((row) => row['covers_seq'] === 20)).toBe(true);
  });

  it('get a new token after a settled one although the clock stood still [T2]', async () => {
    await world.write({ text: 'My sink leaks' });
    const { id } = await world.conversation();
    await runUntilIdle(world, id, { forMs: 0 });
    const [before] = await world.rows('select last_token::text as token from conversations');
    await world.write({ text: 'Thanks' });
    const [after] = await world.rows(
      'select owed_since > $1::timestamptz as later, owed_since = last_token as kept from conversations',
      [before?.['token']],
    );
    expect(after).toEqual({ later: true, kept: true });
  });
});

describe('a turn that throws', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const debt = () => world.rows('select owed_since::text, oldest_owed_at::text from conversations');

  // Raced: a fault of ours against the debt. Order: the turn throws at its beginning, in the
  // engine, or after its draft is written and before it commits.
  // Must hold: the debt stands as it was, nothing is half written, and the next turn answers.
  it.each(['turn:begun', 'turn:drafted', 'the engine'] as const)(
    'at %s leaves the debt as it was, and the next one answers [T3] [INV-5]',
    async (where) => {
      await world.write({ text: 'My sink leaks' });
      const { id } = await world.conversation();
      const before = await debt();
      const fail = () => {
        throw new Error('a fault of ours');
      };
      const failing = makeConversationActivities({
        ...world.dependencies,
        engine: { understand: fail, draft: fail },
      });
      if (where !== 'the engine') world.failpoints[where] = fail;
      const turn = where === 'the engine' ? failing : world.activities;
      await expect(turn.takeTurn({ conversationId: id })).rejects.toThrow('a fault of ours');
      world.failpoints = {};
      expect(await debt()).toEqual(before);
      expect(await sendsOf(world)).toEqual([]);
      await runUntilIdle(world, id, { forMs: MINUTE_MS });
      expect(await calledFor(world)).toEqual(['answer']);
      expect(await debt()).toEqual([{ owed_since: null, oldest_owed_at: null }]);
      expect(await world.rows('select from turn_markers')).toEqual([]);
    },
  );
});
