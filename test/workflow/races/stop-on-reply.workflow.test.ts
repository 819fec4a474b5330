import { makeConversationActivities } from '../../../activities';
import type { SendOutcome } from '../../../domain/sending';
import { LEASE_MS } from '../../../domain/limits';
import { pauseAt, pauseInProvider } from '../../support/barrier';
import { sendsOf } from '../../support/sends';
import { eventually, makeTemporalWorld, type TemporalWorld } from '../../support/temporal-world';
import { answeredLead, calledUntilRest, command, nowMs, skipToFollowUp, webhook } from './scene';

const REFUSED: SendOutcome = {
  kind: 'not-accepted',
  code: '503',
  retry: 'back-off',
  retryAfterMs: null,
  pausesAccount: false,
  optedOut: false,
};

/** The races of B5 once more, each through a real workflow in the time-skipping environment. */
describe('stop on reply, through the workflow', () => {
  let temporal: TemporalWorld;
  beforeAll(async () => {
    temporal = await makeTemporalWorld();
  });
  afterEach(() => temporal.world.reset());
  afterAll(() => temporal.close());

  const followUps = () => sendsOf(temporal.world, 'follow-up');
  const reply = (lead: string) => webhook(temporal, { text: 'Yes please', lead, id: `SM${lead}` });
  const answered = (times: number) =>
    eventually(
      () => temporal.world.provider.accepted.length === times,
      `the provider accepted ${times}`,
    );

  // Raced: the reply against the worker that will claim a due follow-up.
  // Order: the business's switch is off, so the row is written at its due time and waits; the
  // reply commits; the switch is on again and the conversation is woken.
  // Must hold: the waiting row is cancelled; only the reply is answered.
  it('a reply before the worker claims the row cancels it [S4] [O3]', async () => {
    const lead = '+13125550160';
    const id = await answeredLead(temporal, lead);
    await temporal.world.rows('update businesses set automation_enabled = false');
    await skipToFollowUp(temporal, id);
    await eventually(async () => (await followUps()).length === 1, 'the follow-up is written');
    await reply(lead);
    await temporal.world.rows('update businesses set automation_enabled = true');
    const [row] = await temporal.world.rows(
      'select id, business_id as "businessId", channel, state, owner from conversations',
    );
    await temporal.waker.wake(row as never, 'relay');
    await answered(2);
    expect(await calledUntilRest(temporal, id)).toEqual(['answer', 'answer']);
    expect(await followUps()).toEqual([
      expect.objectContaining({ state: 'cancelled', reason: 'lead_replied' }),
    ]);
  });

  // Raced: the reply against a worker that has claimed the row.
  // Order: the activity is held at `deliver:claimed`, the reply commits, the activity goes on.
  // Must hold: the gate refuses; no call, and nothing brings the row back in nine days.
  it('a reply after the claim but before the permission sends nothing [S4] [O3]', async () => {
    const lead = '+13125550161';
    const id = await answeredLead(temporal, lead);
    const barrier = pauseAt(temporal.world, 'deliver:claimed');
    await skipToFollowUp(temporal, id);
    await barrier.reached;
    await reply(lead);
    barrier.release();
    await answered(2);
    expect(await calledUntilRest(temporal, id)).toEqual(['answer', 'answer']);
    expect(await followUps()).toEqual([
      expect.objectContaining({ state: 'cancelled', stopCause: 'lead_replied' }),
    ]);
  });

  // Raced: the reply against a follow-up behind the gate.
  // Order: held inside the provider's call, or behind the sent marker; the reply commits.
  // Must hold: exactly that one send, marked with whether it was accepted after or before.
  it.each([
    ['before the acceptance', 'after', '+13125550162'],
    ['after the acceptance', 'before', '+13125550163'],
  ])('a reply %s leaves that one send, marked as %s the stop [S4] [O3]', async (...row) => {
    const [, stopVerdict, lead] = row;
    const id = await answeredLead(temporal, lead);
    const barrier =
      stopVerdict === 'after'
        ? pauseInProvider(temporal.world)
        : pauseAt(temporal.world, 'deliver:marked');
    await skipToFollowUp(temporal, id);
    await barrier.reached;
    await temporal.skip(2);
    await reply(lead);
    await temporal.skip(2);
    barrier.release();
    await answered(3);
    expect(await calledUntilRest(temporal, id)).toEqual(['answer', 'follow-up', 'answer']);
    expect(await followUps()).toEqual([
      expect.objectContaining({ state: 'accepted', stopCause: 'lead_replied', stopVerdict }),
    ]);
  });

  // Raced: copies of one reply webhook against a claimed follow-up.
  // Order: held at `deliver:claimed`; ten copies arrive at once, each with its wake-up; one more
  // comes after the answer.
  // Must hold: one message, one answer.
  it('a reply webhook that is delivered over and over counts once [S4] [O3]', async () => {
    const lead = '+13125550164';
    const id = await answeredLead(temporal, lead);
    const barrier = pauseAt(temporal.world, 'deliver:claimed');
    await skipToFollowUp(temporal, id);
    await barrier.reached;
    const stored = await Promise.all(Array.from({ length: 10 }, () => reply(lead)));
    expect(stored.sort()).toEqual([...Array<number>(9).fill(0), 1]);
    barrier.release();
    await answered(2);
    expect(await reply(lead)).toBe(0);
    expect(await calledUntilRest(temporal, id)).toEqual(['answer', 'answer']);
    const inbound = await temporal.world.rows("select from messages where direction = 'in'");
    expect(inbound).toHaveLength(2);
  });

  // Raced: the reply against the retries of a follow-up: its worker died with the claim, its call
  // timed out, or the provider refused it for the moment.
  // Order: the delivery ends as the row says, the reply commits, the retry comes due.
  // Must hold: no second call for it.
  it.each<[string, readonly string[], string, string]>([
    ['died with its claim', [], 'cancelled', '+13125550165'],
    ['timed out', ['follow-up'], 'delivery_unknown', '+13125550166'],
    ['was refused for now', ['follow-up'], 'cancelled', '+13125550167'],
  ])(
    'a follow-up whose delivery %s is not tried again after the reply [S4] [O3]',
    async (...row) => {
      const [how, called, state, lead] = row;
      const id = await answeredLead(temporal, lead);
      const failed = failNextDelivery(how);
      await skipToFollowUp(temporal, id);
      await failed;
      await reply(lead);
      await answered(2);
      expect(await calledUntilRest(temporal, id)).toEqual(['answer', ...called, 'answer']);
      expect(await followUps()).toEqual([expect.objectContaining({ state })]);
    },
  );

  function failNextDelivery(how: string): Promise<void> {
    const { world } = temporal;
    return new Promise((resolve) => {
      if (how === 'died with its claim') {
        world.failpoints['deliver:claimed'] = () => {
          world.failpoints = {};
          resolve();
          throw new Error('the worker dies');
        };
        return;
      }
      world.provider.next(() => {
        resolve();
        return how === 'timed out' ? { kind: 'unknown', code: 'timeout' } : REFUSED;
      });
    });
  }

  // Raced: a booking and the reply, against a claimed follow-up.
  // Order: held at `deliver:claimed`; both commit in the order of the row; the activity goes on.
  // Must hold: booked either way, no follow-up, and the reply has its answer.
  it.each([
    ['booking', 'reply', '+13125550168'],
    ['reply', 'booking', '+13125550169'],
  ])('a %s and then a %s end as booked, without a follow-up [S4] [O3]', async (...row) => {
    const [first, , lead] = row;
    const id = await answeredLead(temporal, lead);
    const barrier = pauseAt(temporal.world, 'deliver:claimed');
    await skipToFollowUp(temporal, id);
    await barrier.reached;
    if (first === 'reply') await reply(lead);
    await command(temporal, id, 'book');
    if (first === 'booking') await reply(lead);
    barrier.release();
    await answered(2);
    expect(await calledUntilRest(temporal, id)).toEqual(['answer', 'answer']);
    expect(await temporal.world.conversation(lead)).toMatchObject({ state: 'booked' });
    expect(await followUps()).toEqual([expect.objectContaining({ state: 'cancelled' })]);
  });

  // Raced: a worker that froze with a claim against the worker that took the row over.
  // Order: the workflow's delivery is held at `deliver:claimed`; another worker, whose clock says
  // that the lease has ended, claims and sends; then the frozen one wakes.
  // Must hold: its gate refuses it; one call, and the workflow goes on from the fresh facts.
  it('a stale worker that wakes after another one sent does nothing [S4] [O3] [C4]', async () => {
    const lead = '+13125550172';
    const { world } = temporal;
    const barrier = pauseAt(world, 'deliver:claimed');
    const id = await temporal.receive({ text: 'My sink leaks', lead });
    await barrier.reached;
    const laterMs = (await nowMs(temporal)) + LEASE_MS + 1;
    const other = makeConversationActivities({
      ...world.dependencies,
      workerId: 'the-other-worker',
      beat: () => undefined,
      clock: { now: () => Promise.resolve(new Date(laterMs).toISOString()) },
    });
    const [row] = await world.rows('select id from outbox');
    await other.deliver({ conversationId: id, sendId: String(row?.['id']) });
    barrier.release();
    expect(await calledUntilRest(temporal, id)).toEqual([
      'answer',
      'follow-up',
      'follow-up',
      'follow-up',
    ]);
    expect(await sendsOf(world, 'answer')).toEqual([
      expect.objectContaining({ state: 'accepted' }),
    ]);
  });
});
