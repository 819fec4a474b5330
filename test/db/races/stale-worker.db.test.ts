import { makeConversationActivities } from '../../../activities';
import { recordNotAccepted } from '../../../db/attempts';
import { applyStateEvent, lockConversation } from '../../../db/conversations';
import { inTransaction } from '../../../db/database';
import { passGate, type Permit } from '../../../db/gate';
import { claimSend } from '../../../db/outbox';
import { recordAcceptance } from '../../../db/record';
import { isId, type SendId } from '../../../domain/ids';
import { CALL_START_LIMIT_MS, LEASE_MS } from '../../../domain/limits';
import { heldAt, pauseAt } from '../../support/barrier';
import { runUntilIdle } from '../../support/run-until-idle';
import { calledFor, sendsOf } from '../../support/sends';
import { makeWorld, type World } from '../../support/world';
import { answeredLead, calledUntilRest, queuedAnswer, queuedFollowUp } from './scene';

const REFUSED = {
  kind: 'not-accepted',
  code: '503',
  retry: 'back-off',
  retryAfterMs: null,
  pausesAccount: false,
  optedOut: false,
} as const;

describe('a stale worker', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => {
    jest.restoreAllMocks();
    return world.reset();
  });
  afterAll(() => world.close());

  const otherWorker = () =>
    makeConversationActivities({ ...world.dependencies, workerId: 'the-other-worker' });

  // Raced: a worker that freezes with a claimed row against the one that takes the row over.
  // Order: the first is held at `deliver:claimed` past its lease; the other claims, sends and
  // records; then the first wakes.
  // Must hold: the first one's lease is over, so the gate refuses it; one provider call.
  it('whose lease ended is refused by the gate after another one sent [S4] [C4] [INV-10]', async () => {
    const send = await queuedAnswer(world);
    const barrier = pauseAt(world, 'deliver:claimed');
    const frozen = world.activities.deliver(send);
    await heldAt(barrier, frozen);
    world.clock.advance(LEASE_MS - 1);
    await otherWorker().deliver(send);
    expect(world.provider.calls).toHaveLength(0);
    world.clock.advance(1);
    await otherWorker().deliver(send);
    barrier.release();
    await frozen;
    expect(await calledFor(world)).toEqual(['answer']);
    expect(await sendsOf(world)).toEqual([expect.objectContaining({ state: 'accepted' })]);
  });

  // Raced: the same, but the frozen worker wakes while the other one only holds the row.
  // Order: both are past their claims; the first comes to the gate first.
  // Must hold: the lease names its owner, so the first is refused and takes nothing away.
  it('does not give back what another worker holds meanwhile [S4] [C4]', async () => {
    const { sendId } = await queuedAnswer(world);
    const request = { sendId: sendIdOf(sendId), leaseMs: LEASE_MS };
    const { service } = world.database;
    const at = { now: world.clock.iso };
    const stale = await claimSend(service, { ...request, ...at, leaseOwner: 'frozen' });
    world.clock.advance(LEASE_MS);
    const now = world.clock.iso;
    const live = await claimSend(service, { ...request, now, leaseOwner: 'live' });
    if (stale === null || live === null) throw new Error('both claims were to win in turn');
    const gate = { replyWindowMs: null, now };
    expect(await passGate(service, stale, gate)).toMatchObject({ kind: 'refused' });
    const [row] = await world.rows('select state, lease_owner from outbox');
    expect(row).toEqual({ state: 'leased', lease_owner: 'live' });
    expect(await passGate(service, live, gate)).toMatchObject({ kind: 'permitted' });
  });

  // Raced: a transaction that read the conversation before the lead replied against the reply.
  // Order: the snapshot is read, the reply commits, then the old snapshot is written.
  // Must hold: the version decides; the stale write fails and leaves no trace.
  it('cannot overwrite a newer version of the conversation [S4] [S1]', async () => {
    const id = await answeredLead(world);
    const { service } = world.database;
    const before = await inTransaction(service, (client) => lockConversation(client, id, null));
    if (before === null) throw new Error('the conversation exists');
    await world.write({ text: 'Yes please' });
    const cause = { cause: 'staff_booking', causeRef: null, at: world.clock.iso };
    const stale = inTransaction(service, (client) =>
      applyStateEvent(client, before.conversation, 'booking', cause),
    );
    await expect(stale).rejects.toThrow('set-conversation-state returned 0 rows');
    expect(await world.conversation()).toMatchObject({
      state: 'replied',
      version: before.conversation.version + 1,
    });
    const transitions = await world.rows('select to_state from conversation_transitions');
    expect(transitions).toEqual([{ to_state: 'replied' }]);
  });

  // Raced: a turn that froze at its beginning against the turn that took over.
  // Order: the first is held at `turn:begun`; a newer message comes, a second turn begins and
  // queues its answer; then the first wakes.
  // Must hold: the frozen turn's attempt is not the current one, so it writes nothing.
  it('that froze at the beginning of a turn writes nothing once another began [S4] [T2]', async () => {
    await world.write({ text: 'My sink leaks' });
    const { id } = await world.conversation();
    const barrier = pauseAt(world, 'turn:begun');
    const frozen = world.activities.takeTurn({ conversationId: id });
    await heldAt(barrier, frozen);
    await world.write({ text: 'In the kitchen' });
    await world.activities.takeTurn({ conversationId: id });
    const queued = await world.rows('select id, covers_seq, body from outbox');
    barrier.release();
    await frozen;
    expect(await world.rows('select id, covers_seq, body from outbox')).toEqual(queued);
    expect(queued).toEqual([expect.objectContaining({ covers_seq: 2 })]);
    expect(await calledUntilRest(world, id)).toEqual([
      'answer',
      'follow-up',
      'follow-up',
      'follow-up',
    ]);
  });

  // Raced: the same, but the second turn has only begun when the first one wakes.
  // Order: both are held at `turn:begun`, the first is let go, and then the second.
  // Must hold: the first is not the current attempt any more; only the second one writes.
  it('that froze at the beginning of a turn leaves it to the one that began after it [S4] [T3]', async () => {
    await world.write({ text: 'My sink leaks' });
    const { id } = await world.conversation();
    const turn = () => world.activities.takeTurn({ conversationId: id });
    const firstBarrier = pauseAt(world, 'turn:begun');
    const first = turn();
    await heldAt(firstBarrier, first);
    const secondBarrier = pauseAt(world, 'turn:begun');
    const second = turn();
    await heldAt(secondBarrier, second);
    firstBarrier.release();
    await first;
    expect(await sendsOf(world)).toEqual([]);
    secondBarrier.release();
    await second;
    expect(await sendsOf(world)).toEqual([expect.objectContaining({ state: 'queued' })]);
  });

  // Raced: the late result of an earlier attempt against the attempt that is in flight now.
  // Order: attempt 1 is refused and backs off, attempt 2 is permitted; then the results of
  // attempt 1 come again, as an acceptance and as both kinds of refusal.
  // Must hold: a result is recorded under its attempt; the row in flight is not touched.
  it.each(['accepted', 'back-off', 'never'])(
    'with the late result of an earlier attempt (%s) does not touch the one in flight [S4] [S3]',
    async (late) => {
      const { sendId, conversationId } = await queuedAnswer(world);
      const first = await permitted(sendId);
      const { service } = world.database;
      const draw = { random: 0, now: world.clock.iso };
      await recordNotAccepted(service, first, REFUSED, draw);
      world.clock.advance(1_000);
      const second = await permitted(sendId);
      if (late === 'accepted') {
        const { attemptId } = first;
        await recordAcceptance(
          service,
          conversationId,
          {
            sendId,
            attemptId,
            providerMessageId: 'late',
            evidence: 'response',
            acceptedAt: draw.now,
          },
          { replyWindowMs: null, now: world.clock.iso },
        );
      } else {
        const outcome = { ...REFUSED, retry: late as 'back-off' | 'never' };
        await recordNotAccepted(service, first, outcome, { random: 0, now: world.clock.iso });
      }
      expect(await world.rows('select state, attempt_id from outbox')).toEqual([
        { state: 'sending', attempt_id: second.attemptId },
      ]);
      expect(await world.rows('select kind from work_items')).toEqual([]);
      expect(await world.conversation()).toMatchObject({ state: 'active', owner: 'automation' });
    },
  );

  // Raced: a worker that froze between its permission and its call against the call's time limit.
  // Order: the process's monotonic clock jumps past the limit while the worker stands at
  // `deliver:permitted`.
  // Must hold: the facts that the gate saw are too old; nothing is sent, and a later attempt is
  // judged afresh: here the lead has replied meanwhile, so that it is refused.
  it('that wakes too long after its permission does not call the provider [S4] [S3]', async () => {
    const { conversationId, sendId } = await queuedFollowUp(world);
    const monotonic = performance.now.bind(performance);
    world.failpoints['deliver:permitted'] = async () => {
      jest
        .spyOn(performance, 'now')
        .mockImplementation(() => monotonic() + CALL_START_LIMIT_MS + 1_000);
      await world.write({ text: 'Yes please' });
    };
    await world.activities.deliver({ conversationId, sendId });
    expect(await calledFor(world)).toEqual(['answer']);
    jest.restoreAllMocks();
    world.failpoints = {};
    await runUntilIdle(world, conversationId);
    expect(await calledFor(world)).toEqual(['answer', 'answer']);
    expect(await sendsOf(world, 'follow-up')).toEqual([
      expect.objectContaining({ state: 'cancelled', reason: 'conversation_stopped' }),
    ]);
  });

  async function permitted(sendId: string): Promise<Permit> {
    const { service } = world.database;
    const now = world.clock.iso;
    const leaseMs = LEASE_MS;
    const held = await claimSend(service, {
      sendId: sendIdOf(sendId),
      leaseOwner: 'worker-of-tests',
      leaseMs,
      now,
    });
    if (held === null) throw new Error('the claim was to win');
    const gate = await passGate(service, held, { replyWindowMs: null, now });
    if (gate.kind !== 'permitted') throw new Error('the gate was to permit');
    return gate.permit;
  }
});

function sendIdOf(value: string): SendId {
  if (!isId('snd', value)) throw new Error('this is no id of a send');
  return value;
}
