import { ingest } from '../../../db/ingest/ingest';
import { ageAttempts, answerIntoTheUnknown, attemptOf } from '../../support/answering';
import { heldAt, pauseAt, pauseInProvider } from '../../support/barrier';
import { prepared, requestOf } from '../../support/inbound';
import { runUntilIdle } from '../../support/run-until-idle';
import { calledFor, sendsOf } from '../../support/sends';
import { makeWorld, type World } from '../../support/world';
import { openSendOf } from '../races/scene';
import { act, actOnItem, draftFor, itemsOf, settlementsOf, settleSend } from './scene';

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterEach(() => world.reset());
afterAll(() => world.close());

/** A lead whose answer may or may not have arrived. */
async function unknownAnswer() {
  await world.write({ text: 'My sink leaks' });
  return answerIntoTheUnknown(world);
}

const outcomes = () =>
  world.rows('select outcome, evidence, code from send_outcomes order by ordinal');

describe('a person settles a message of unknown outcome', () => {
  it('it arrived: it counts as the reply, stands in the thread, and plans follow-ups [C6] [T3]', async () => {
    const { conversationId, sendId } = await unknownAnswer();
    const result = await settleSend(world, sendId, true);
    expect(result).toMatchObject({ kind: 'done', response: { conversationId } });
    expect(await settlementsOf(world)).toEqual(['reply']);
    expect((await outcomes()).at(-1)).toMatchObject({ outcome: 'accepted', evidence: 'review' });
    expect(await itemsOf(world)).toEqual([
      expect.objectContaining({
        kind: 'delivery-unknown',
        resolution: 'proven_by_review',
        resolved_by: 'support-agent',
      }),
    ]);
    const thread = await world.rows("select author from messages where direction = 'out'");
    expect(thread).toEqual([{ author: 'automation' }]);
    const plans = await world.rows('select stopped_at from follow_up_plans');
    expect(plans).toEqual([{ stopped_at: null }]);
  });

  it('it did not: it failed, and what it should have answered owes again under a new token [C6] [INV-6]', async () => {
    const { conversationId, sendId } = await unknownAnswer();
    const [before] = await world.rows('select last_token::text as token from conversations');
    await settleSend(world, sendId, false);
    const [after] = await world.rows(
      'select owed_since::text as token, oldest_owed_at from conversations',
    );
    expect(String(after?.['token']) > String(before?.['token'])).toBe(true);
    expect(await settlementsOf(world)).toEqual([null]);
    expect(await sendsOf(world)).toEqual([
      expect.objectContaining({ state: 'failed', reason: 'did_not_arrive' }),
    ]);
    await runUntilIdle(world, conversationId, { forMs: 0 });
    expect(await calledFor(world)).toEqual(['answer', 'answer']);
    expect(await settlementsOf(world)).toEqual(['reply']);
  });

  it('it did not, while a newer answer that covers everything waits: that one is the answer [C6] [INV-10]', async () => {
    const { conversationId, sendId } = await unknownAnswer();
    world.clock.advance(60_000);
    await world.write({ text: 'Are you there?' });
    await world.activities.takeTurn({ conversationId });
    await settleSend(world, sendId, false);
    await runUntilIdle(world, conversationId, { forMs: 0 });
    expect(await calledFor(world)).toEqual(['answer', 'answer']);
    expect(await settlementsOf(world)).toEqual(['reply', 'reply']);
    expect(await world.conversation()).toMatchObject({ owed_since: null });
  });

  it('it did not, while a draft for the next message waits: the draft is withdrawn, and all owes together [C6] [T3]', async () => {
    const { conversationId, sendId } = await unknownAnswer();
    world.clock.advance(60_000);
    await world.write({ text: 'Are you there?' });
    await draftFor(world, conversationId);
    await settleSend(world, sendId, false);
    expect(await settlementsOf(world)).toEqual([null, null]);
    expect(await itemsOf(world)).toEqual([
      expect.objectContaining({ kind: 'delivery-unknown', resolution: 'did_not_arrive' }),
      expect.objectContaining({ kind: 'approval', resolution: 'withdrawn' }),
    ]);
    await runUntilIdle(world, conversationId, { forMs: 0 });
    expect(await calledFor(world)).toEqual(['answer', 'answer']);
    expect(await settlementsOf(world)).toEqual(['reply', 'reply']);
  });

  it('it did not, while a person has the conversation: the handoff takes what is owed [T6] [INV-15]', async () => {
    const { conversationId, sendId } = await unknownAnswer();
    await act(world, conversationId, { command: 'claim' });
    await settleSend(world, sendId, false);
    expect(await settlementsOf(world)).toEqual(['work-item']);
    expect(await itemsOf(world)).toEqual([
      expect.objectContaining({ kind: 'delivery-unknown', resolution: 'did_not_arrive' }),
      expect.objectContaining({ kind: 'handoff', resolution: null }),
    ]);
    await runUntilIdle(world, conversationId);
    expect(await calledFor(world)).toEqual(['answer']);
  });

  it('it did not, after the conversation was closed: nothing owes again [S1]', async () => {
    const { conversationId, sendId } = await unknownAnswer();
    await act(world, conversationId, { command: 'close' }, { seenSeq: 1 });
    await settleSend(world, sendId, false);
    expect(await settlementsOf(world)).toEqual(['work-item']);
    await runUntilIdle(world, conversationId);
    expect(await calledFor(world)).toEqual(['answer']);
  });

  it.each([
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ])('once: %s and then %s changes nothing more [C6]', async (first, second) => {
    const { conversationId, sendId } = await unknownAnswer();
    await settleSend(world, sendId, first);
    const before = await outcomes();
    expect(await settleSend(world, sendId, second)).toMatchObject({ code: 'not_applicable' });
    expect(await outcomes()).toEqual(before);
    await runUntilIdle(world, conversationId, { forMs: 0 });
  });

  it('under one key it gets the same answer, and acts once [C6]', async () => {
    const { conversationId, sendId } = await unknownAnswer();
    const [one, two] = await Promise.all([
      settleSend(world, sendId, false, { key: 'key-1' }),
      settleSend(world, sendId, false, { key: 'key-1' }),
    ]);
    expect({ ...one, wake: null }).toEqual({ ...two, wake: null });
    expect(await settleSend(world, sendId, true, { key: 'key-1' })).toMatchObject({
      code: 'key_reused',
    });
    await runUntilIdle(world, conversationId, { forMs: 0 });
  });

  it('a message that is not unknown cannot be settled, nor its item resolved another way [C6]', async () => {
    const { conversationId, sendId } = await unknownAnswer();
    const [item] = await itemsOf(world);
    const resolved = await actOnItem(
      world,
      String(item?.['id']),
      { command: 'resolve-item', resolution: 'done' },
      { seenSeq: 1 },
    );
    expect(resolved).toMatchObject({ kind: 'refused', code: 'not_applicable' });
    expect(await settleSend(world, `snd_${'0'.repeat(32)}`, true)).toMatchObject({
      code: 'not_found',
    });
    await settleSend(world, sendId, true);
    await runUntilIdle(world, conversationId, { forMs: 0 });
  });
});

describe('a person’s reply of unknown outcome', () => {
  /** A lead who waits, and a person's reply that may or may not have arrived. */
  async function unknownReply() {
    await world.write({ text: 'My sink leaks' });
    const { id } = await world.conversation();
    await act(world, id, { command: 'reply', text: 'We can come on Friday.' });
    const sendId = await openSendOf(world, id, 'staff');
    world.provider.next(() => ({ kind: 'unknown', code: 'read_timeout' }));
    await world.activities.deliver({ conversationId: id, sendId });
    await ageAttempts(world, 30);
    world.provider.readBackAnswer = { kind: 'unavailable', code: 'list_down' };
    await world.activities.resolve({ conversationId: id, sendId });
    return { id, sendId };
  }

  it.each([
    ['arrived', true, 'reply', { resolution: 'answered_by_staff', ticking: false }],
    // It says why it still waits, and its clock runs again although somebody had claimed it.
    ['did not', false, 'work-item', { resolution: null, ticking: true, reason: 'did_not_arrive' }],
  ] as const)(
    'that %s leaves the handoff as it should be [T3] [C6] [C7]',
    async (_name, arrived, ending, expected) => {
      const { id, sendId } = await unknownReply();
      await settleSend(world, sendId, arrived);
      expect(await settlementsOf(world)).toEqual([ending]);
      const handoff = (await itemsOf(world)).find(({ kind }) => kind === 'handoff');
      expect(handoff).toMatchObject(expected);
      await runUntilIdle(world, id);
      expect(await calledFor(world)).toEqual(['staff']);
    },
  );

  it('is not answered over when the person gives back: its review has the debt [C6] [T6]', async () => {
    const { id, sendId } = await unknownReply();
    await act(world, id, { command: 'release' }, { seenSeq: 1 });
    expect(await settlementsOf(world)).toEqual(['work-item']);
    await runUntilIdle(world, id, { forMs: 0 });
    expect(await calledFor(world)).toEqual(['staff']);
    await settleSend(world, sendId, false);
    await runUntilIdle(world, id, { forMs: 0 });
    expect(await calledFor(world)).toEqual(['staff', 'answer']);
    expect(await settlementsOf(world)).toEqual(['reply']);
  });
});

describe('settling in a race with the provider', () => {
  /** The provider reports on the attempt, by our reference. */
  async function status(sendId: string): Promise<void> {
    const element = prepared({
      type: 'status',
      path: 'body',
      channel: 'sms',
      accountExternalId: '+13125550100',
      eventKey: 'SM-late:delivered',
      stableContent: 'SM-late:delivered',
      source: { at: null, precision: 'none' },
      providerMessageId: 'SM-late',
      attemptRef: await attemptOf(world, sendId),
      status: 'delivered',
      errorCode: null,
      watermark: null,
    });
    await ingest(world.database.service, requestOf([element]), world.clock.iso);
  }

  // Raced: a person says that it did (or did not) arrive, while the provider's report comes in.
  // Order: both at once; whichever commits first.
  // Must hold: one acceptance at most, the lead is never answered twice by what was one debt, and
  // the messages end in exactly one way.
  it.each([[true], [false]])(
    'arrived: %s and a late report agree or one wins [C6] [INV-6]',
    async (arrived) => {
      const { conversationId, sendId } = await unknownAnswer();
      const [settled] = await Promise.all([settleSend(world, sendId, arrived), status(sendId)]);
      const accepted = (await outcomes()).filter(({ outcome }) => outcome === 'accepted');
      expect(accepted.length).toBeLessThanOrEqual(1);
      await runUntilIdle(world, conversationId, { forMs: 0 });
      const answers = (await calledFor(world)).filter((purpose) => purpose === 'answer');
      const didNotArrive = settled.kind === 'done' && !arrived;
      expect(answers).toHaveLength(didNotArrive ? 2 : 1);
      expect(await settlementsOf(world)).toEqual(['reply']);
    },
  );

  // Raced: a person says that an older answer did not arrive, while a worker delivers a newer one.
  // Order: the worker holds its lease, the person settles, the gate passes, a turn looks.
  // Must hold: the newer answer covers everything, so the turn drafts no other beside it.
  it('did not arrive, while a newer answer is about to leave: the lead gets that one alone [C6] [INV-10]', async () => {
    const { conversationId, sendId } = await unknownAnswer();
    world.clock.advance(60_000);
    await world.write({ text: 'Are you there?' });
    await world.activities.takeTurn({ conversationId });
    const newer = await openSendOf(world, conversationId, 'answer');
    const claimed = pauseAt(world, 'deliver:claimed');
    const delivery = world.activities.deliver({ conversationId, sendId: newer });
    await heldAt(claimed, delivery);
    await settleSend(world, sendId, false);
    const called = pauseInProvider(world);
    claimed.release();
    await heldAt(called, delivery);
    await world.activities.takeTurn({ conversationId });
    called.release();
    await delivery;
    await runUntilIdle(world, conversationId, { forMs: 0 });
    expect(await calledFor(world)).toEqual(['answer', 'answer']);
    expect(await settlementsOf(world)).toEqual(['reply', 'reply']);
  });

  it('after a late report there is nothing to settle [C6]', async () => {
    const { conversationId, sendId } = await unknownAnswer();
    await status(sendId);
    expect(await settleSend(world, sendId, false)).toMatchObject({ code: 'not_applicable' });
    expect(await settlementsOf(world)).toEqual(['reply']);
    await runUntilIdle(world, conversationId, { forMs: 0 });
    expect(await calledFor(world)).toEqual(['answer']);
  });
});
