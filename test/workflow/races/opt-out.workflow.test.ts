import { writeOnWhatsApp } from '../../db/races/scene';
import { pauseAt, pauseInProvider } from '../../support/barrier';
import { sendsOf } from '../../support/sends';
import { eventually, makeTemporalWorld, type TemporalWorld } from '../../support/temporal-world';
import { calledUntilRest, skipToFollowUp, webhook } from './scene';

/** An opt-out while two follow-ups of one person are queued, each by a workflow of its own. */
describe('an opt-out while two follow-ups are queued, through the workflows', () => {
  let temporal: TemporalWorld;
  beforeAll(async () => {
    temporal = await makeTemporalWorld();
  });
  afterEach(() => temporal.world.reset());
  afterAll(() => temporal.close());

  const accepted = (times: number) =>
    eventually(
      () => temporal.world.provider.accepted.length === times,
      `the provider accepted ${times}`,
    );

  /** One person who wrote on two channels before any answer; both were answered. */
  async function twoChannels(lead: string) {
    const { world, waker } = temporal;
    const sms = await world.write({ text: 'My sink leaks', lead });
    const now = (await world.dependencies.clock.now()) ?? '';
    const whatsApp = await writeOnWhatsApp(world, { text: 'My sink leaks', lead }, now);
    for (const target of [...sms.wake, ...whatsApp.wake]) await waker.wake(target, 'inbound');
    await accepted(2);
    await eventually(
      async () => (await world.rows('select from follow_up_plans')).length === 2,
      'both plans stand',
    );
    return { sms: sms.wake[0]?.id ?? '', whatsApp: whatsApp.wake[0]?.id ?? '' };
  }

  // Raced: the opt-out on one channel against the follow-ups of both.
  // Order: both are held at `deliver:claimed`; or one is held inside the provider's call, where
  // the other meets the daily limit. The lead opts out; then all goes on.
  // Must hold: only what the gate had permitted leaves, marked; then the one confirmation.
  it.each<[string, readonly string[], string, string | null, string]>([
    ['both claimed', [], 'cancelled', null, '+13125550180'],
    ['one in flight', ['follow-up'], 'accepted', 'after', '+13125550181'],
  ])('stops them, %s, and is confirmed once [S4] [O3] [INV-13]', async (...row) => {
    const [where, called, state, stopVerdict, lead] = row;
    const { world } = temporal;
    const ids = await twoChannels(lead);
    const barrier =
      where === 'both claimed' ? pauseAt(world, 'deliver:claimed', 2) : pauseInProvider(world);
    await skipToFollowUp(temporal, ids.sms);
    await barrier.reached;
    await eventually(
      async () => (await sendsOf(world, 'follow-up')).length === 2,
      'both follow-ups are written',
    );
    await temporal.skip(2);
    await webhook(temporal, { text: 'STOP', optOut: 'stop', lead });
    await temporal.skip(2);
    barrier.release();
    await eventually(
      async () => (await sendsOf(world, 'opt-out-confirmation'))[0]?.state === 'accepted',
      'the opt-out is confirmed',
    );
    const rest = await calledUntilRest(temporal, ids.sms, ids.whatsApp);
    expect([...rest].sort()).toEqual(['answer', 'answer', ...called, 'opt-out-confirmation']);
    const followUps = await sendsOf(world, 'follow-up');
    expect(followUps).toHaveLength(2);
    expect(followUps).toContainEqual(expect.objectContaining({ state, stopVerdict }));
    expect(followUps.filter((send) => send.state === 'cancelled')).toHaveLength(2 - called.length);
  });
});
