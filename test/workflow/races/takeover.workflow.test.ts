import { pauseAt, pauseInProvider } from '../../support/barrier';
import { sendsOf } from '../../support/sends';
import { eventually, makeTemporalWorld, type TemporalWorld } from '../../support/temporal-world';
import { answeredLead, calledUntilRest, command, followUpDueMs, skipToFollowUp } from './scene';

/**
 * A person takes a conversation over around the due time T of a follow-up (traps: follow-ups fired
 * after a hand-off, because the timer had already queued them).
 */
describe('a takeover around a due follow-up', () => {
  let temporal: TemporalWorld;
  beforeAll(async () => {
    temporal = await makeTemporalWorld();
  });
  afterEach(() => temporal.world.reset());
  afterAll(() => temporal.close());

  const followUps = () => sendsOf(temporal.world, 'follow-up');

  const expectTakenOver = async (id: string) => {
    const [row] = await temporal.world.rows(
      'select owner, state from conversations where id = $1',
      [id],
    );
    expect(row).toEqual({ owner: 'person', state: 'paused' });
    const events = await temporal.world.rows('select type from takeover_events order by seq');
    expect(events).toEqual([{ type: 'session.started' }, { type: 'takeover.claimed' }]);
  };

  // Raced: the takeover against the timer that will fire 5 ms later.
  // Order: the jump ends 10 s before T; the takeover is stamped T−5 ms and commits in between.
  // Must hold: the plan is stopped, so that the timer finds nothing to write.
  it('5 ms before it is due: the timer fires and writes nothing [S4] [O3] [INV-15]', async () => {
    const id = await answeredLead(temporal, '+13125550190');
    const dueMs = await followUpDueMs(temporal, id);
    await skipToFollowUp(temporal, id, -10_000);
    await command(temporal, id, 'claim', dueMs - 5);
    expect(await calledUntilRest(temporal, id)).toEqual(['answer']);
    expect(await followUps()).toEqual([]);
    await expectTakenOver(id);
  });

  // Raced: the takeover against the worker that claimed the follow-up at T.
  // Order: the timer fires, the row is written and claimed, the worker is held; the takeover is
  // stamped with T, or 5 ms later; the worker goes on.
  // Must hold: the gate reads the owner afresh and refuses; no call in nine days.
  it.each([
    ['at the instant', 0, '+13125550191'],
    ['5 ms after the instant', 5, '+13125550192'],
  ])('%s it is due: the claimed row does not leave [S4] [O3] [INV-15]', async (...row) => {
    const [, offsetMs, lead] = row;
    const id = await answeredLead(temporal, lead);
    const dueMs = await followUpDueMs(temporal, id);
    const barrier = pauseAt(temporal.world, 'deliver:claimed');
    await skipToFollowUp(temporal, id);
    await barrier.reached;
    await command(temporal, id, 'claim', dueMs + offsetMs);
    barrier.release();
    expect(await calledUntilRest(temporal, id)).toEqual(['answer']);
    expect(await followUps()).toEqual([
      {
        purpose: 'follow-up',
        state: 'cancelled',
        reason: 'person_owns',
        stopCause: 'person_owns',
        stopVerdict: null,
      },
    ]);
    await expectTakenOver(id);
  });

  // Raced: the takeover against the follow-up in the provider's hands.
  // Order: held inside the call; the takeover commits; the provider accepts.
  // Must hold: the one in flight, marked with the takeover, and nothing automatic after it.
  it('during the call: that one send is shown, and nothing follows it [S4] [O3] [INV-15]', async () => {
    const id = await answeredLead(temporal, '+13125550193');
    const barrier = pauseInProvider(temporal.world);
    await skipToFollowUp(temporal, id);
    await barrier.reached;
    await temporal.skip(2);
    await command(temporal, id, 'claim');
    await temporal.skip(2);
    barrier.release();
    await eventually(
      async () => (await followUps())[0]?.state === 'accepted',
      'the follow-up in flight is recorded',
    );
    expect(await calledUntilRest(temporal, id)).toEqual(['answer', 'follow-up']);
    expect(await followUps()).toEqual([
      expect.objectContaining({ stopCause: 'person_owns', stopVerdict: 'after' }),
    ]);
    await expectTakenOver(id);
  });
});
