import { heldAt, pauseAt, pauseInProvider } from '../../support/barrier';
import { runUntilIdle } from '../../support/run-until-idle';
import { calledFor, sendsOf } from '../../support/sends';
import { makeWorld, type World } from '../../support/world';
import {
  calledUntilRest,
  command,
  conversationOn,
  queuedFollowUp,
  queueFollowUp,
  writeOnWhatsApp,
} from './scene';

describe('a booking and a reply', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const reply = () => world.write({ text: 'See you on Friday' });

  // Raced: a booking and the lead's reply, against a follow-up that a worker has claimed.
  // Order: the worker is held at `deliver:claimed`; both stops commit in the order of the row
  // below, or at the same time; then the worker goes on.
  // Must hold: booked in every order, since the stronger stop stands; no follow-up is sent, and
  // the reply gets its one answer.
  it.each([
    ['booking', 'reply'],
    ['reply', 'booking'],
    ['both', 'at once'],
  ])('ends as booked and sends no follow-up: %s, %s [S4] [S1]', async (first, second) => {
    const { conversationId, sendId } = await queuedFollowUp(world);
    const stops = { booking: () => command(world, conversationId, 'book'), reply };
    const barrier = pauseAt(world, 'deliver:claimed');
    const delivery = world.activities.deliver({ conversationId, sendId });
    await heldAt(barrier, delivery);
    if (first === 'both') {
      await Promise.all([stops.booking(), stops.reply()]);
    } else {
      for (const stop of [first, second]) await stops[stop as keyof typeof stops]();
    }
    barrier.release();
    await delivery;
    expect(await calledUntilRest(world, conversationId)).toEqual(['answer', 'answer']);
    expect(await world.conversation()).toMatchObject({ state: 'booked', owed_since: null });
    expect(await sendsOf(world, 'follow-up')).toEqual([
      expect.objectContaining({ state: 'cancelled', reason: 'conversation_stopped' }),
    ]);
    const plans = await world.rows('select stopped_at is not null as stopped from follow_up_plans');
    expect(plans).toEqual([{ stopped: true }]);
  });

  // Raced: a booking against a follow-up inside the provider's call.
  // Order: held inside the call, the booking commits a second later, the provider accepts.
  // Must hold: exactly that one send, marked as accepted after the stop.
  it('a booking during the call leaves that one follow-up, marked as after the stop [S4] [S3]', async () => {
    const { conversationId, sendId } = await queuedFollowUp(world);
    const barrier = pauseInProvider(world);
    const delivery = world.activities.deliver({ conversationId, sendId });
    await heldAt(barrier, delivery);
    world.clock.advance(1_000);
    await command(world, conversationId, 'book');
    world.clock.advance(1_000);
    barrier.release();
    await delivery;
    expect(await calledUntilRest(world, conversationId)).toEqual(['answer', 'follow-up']);
    expect(await sendsOf(world, 'follow-up')).toEqual([
      expect.objectContaining({ state: 'accepted', stopCause: 'booked', stopVerdict: 'after' }),
    ]);
  });
});

describe('an opt-out while two follow-ups are queued', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  /** One person who wrote on two channels before any answer; a due follow-up waits on each. */
  async function twoFollowUps() {
    await world.write({ text: 'My sink leaks' });
    await writeOnWhatsApp(world, { text: 'My sink leaks' });
    const sms = await conversationOn(world, 'sms');
    const whatsApp = await conversationOn(world, 'whatsapp');
    await runUntilIdle(world, [sms, whatsApp], { forMs: 0 });
    return { sms: await queueFollowUp(world, sms), whatsApp: await queueFollowUp(world, whatsApp) };
  }

  const stop = () => world.write({ text: 'STOP', optOut: 'stop' });

  const expectAllAddressesOptedOut = async () => {
    const open = await world.rows('select from addresses where opted_out_at is null');
    expect(open).toHaveLength(0);
  };

  // Raced: the opt-out against two queued follow-ups, one of them claimed by a worker.
  // Order: the worker of the second is held at `deliver:claimed`; the lead opts out on the other
  // channel; the worker goes on, and another worker comes for the first.
  // Must hold: neither follow-up is sent; the one confirmation leaves; nothing after it.
  it('cancels both, the claimed one too, and sends the one confirmation [S4] [INV-13]', async () => {
    const { sms, whatsApp } = await twoFollowUps();
    const barrier = pauseAt(world, 'deliver:claimed');
    const delivery = world.activities.deliver(whatsApp);
    await heldAt(barrier, delivery);
    await stop();
    barrier.release();
    await delivery;
    await world.activities.deliver(sms);
    expect(await sendsOf(world, 'follow-up')).toEqual([
      expect.objectContaining({ state: 'cancelled', reason: 'opted_out', stopCause: null }),
      expect.objectContaining({ state: 'cancelled', reason: 'opted_out', stopCause: 'opted_out' }),
    ]);
    await expectAllAddressesOptedOut();
    world.clock.advance(1);
    const called = await calledUntilRest(world, sms.conversationId, whatsApp.conversationId);
    expect(called).toEqual(['answer', 'answer', 'opt-out-confirmation']);
    expect(await sendsOf(world, 'follow-up')).toHaveLength(2);
  });

  // Raced: the opt-out against a follow-up of another channel inside the provider's call.
  // Order: held inside the call, the opt-out commits a second later, the provider accepts.
  // Must hold: exactly that one send, marked, and after it the confirmation alone.
  it('leaves the one in the provider’s hands, marked, and nothing after it [S4] [S3] [INV-13]', async () => {
    const { sms, whatsApp } = await twoFollowUps();
    const barrier = pauseInProvider(world);
    const delivery = world.activities.deliver(whatsApp);
    await heldAt(barrier, delivery);
    world.clock.advance(1_000);
    await stop();
    world.clock.advance(1_000);
    barrier.release();
    await delivery;
    const called = await calledUntilRest(world, sms.conversationId, whatsApp.conversationId);
    expect(called).toEqual(['answer', 'answer', 'follow-up', 'opt-out-confirmation']);
    expect(await sendsOf(world, 'follow-up')).toEqual([
      expect.objectContaining({ state: 'cancelled', reason: 'opted_out' }),
      expect.objectContaining({
        state: 'accepted',
        stopCause: 'opted_out',
        stopVerdict: 'after',
      }),
    ]);
  });

  // Raced: two opt-out messages of one person on two channels, at the same time.
  // Order: none; both transactions run at once and meet in the person's addresses.
  // Must hold: everything stops, and the person gets one confirmation, not one per channel.
  it('at once on both channels stops everything and is confirmed once [S4] [INV-13]', async () => {
    const { sms, whatsApp } = await twoFollowUps();
    await Promise.all([stop(), writeOnWhatsApp(world, { text: 'STOP', optOut: 'stop' })]);
    await expectAllAddressesOptedOut();
    world.clock.advance(1);
    const called = await calledUntilRest(world, sms.conversationId, whatsApp.conversationId);
    expect(called).toEqual(['answer', 'answer', 'opt-out-confirmation']);
    const inbound = await world.rows(
      "select settlement from messages where opt_out = 'stop' order by settlement",
    );
    expect(inbound).toEqual([{ settlement: 'no-answer' }, { settlement: 'reply' }]);
  });

  // Raced: a call in flight against the opt-out that the provider itself reports with its refusal.
  // Order: the provider answers that this person opted out.
  // Must hold: the person is opted out everywhere, and nothing leaves any more, no confirmation
  // either, because the provider has said it.
  it('that the provider reports ends every send to the person [INV-13] [S4]', async () => {
    const { sms, whatsApp } = await twoFollowUps();
    world.provider.next(() => ({
      kind: 'not-accepted',
      code: '21610',
      retry: 'never',
      retryAfterMs: null,
      pausesAccount: false,
      optedOut: true,
    }));
    await world.activities.deliver(sms);
    await expectAllAddressesOptedOut();
    await calledUntilRest(world, sms.conversationId, whatsApp.conversationId);
    expect(await calledFor(world)).toEqual(['answer', 'answer', 'follow-up']);
  });
});
