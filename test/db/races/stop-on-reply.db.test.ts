import { calledFor, sendsOf } from '../../support/sends';
import { heldAt, pauseAt, pauseInProvider } from '../../support/barrier';
import { runUntilIdle } from '../../support/run-until-idle';
import { makeWorld, type World } from '../../support/world';
import { calledUntilRest, conversationOn, queuedFollowUp, writeOnWhatsApp } from './scene';

const REFUSED = {
  kind: 'not-accepted',
  code: '503',
  retry: 'back-off',
  retryAfterMs: null,
  pausesAccount: false,
  optedOut: false,
} as const;

describe('stop on reply', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const reply = (id = 'SM-reply') => world.write({ text: 'Yes, it is the kitchen sink', id });
  const state = async () => (await world.conversation())['state'];

  // Raced: the lead's reply against the worker that will claim a due follow-up.
  // Order: the row is queued at its due time, the reply commits, then the worker comes.
  // Must hold: the stop committed before the gate, so the provider is never called for it.
  it('a reply before the worker claims the row cancels it for ever [S4] [S2] [INV-11]', async () => {
    const { conversationId, sendId } = await queuedFollowUp(world);
    await reply();
    expect(await sendsOf(world, 'follow-up')).toEqual([
      expect.objectContaining({ state: 'cancelled', reason: 'lead_replied', stopCause: null }),
    ]);
    await world.activities.deliver({ conversationId, sendId });
    expect(await calledUntilRest(world, conversationId)).toEqual(['answer', 'answer']);
    expect(await sendsOf(world, 'follow-up')).toHaveLength(1);
    expect(await state()).toBe('replied');
  });

  // Raced: the reply against a worker that died with the row in its hands.
  // Order: the worker throws right after its claim, its lease ends, then the reply commits.
  // Must hold: the row counts as not claimed; the stop cancels it in its own transaction.
  it('a reply after a dead worker’s lease ended cancels the row itself [S4] [S2]', async () => {
    const { conversationId, sendId } = await queuedFollowUp(world);
    world.failpoints['deliver:claimed'] = () => {
      throw new Error('the worker dies');
    };
    await expect(world.activities.deliver({ conversationId, sendId })).rejects.toThrow('dies');
    world.failpoints = {};
    world.clock.advance(3_000);
    await reply();
    expect(await sendsOf(world, 'follow-up')).toEqual([
      expect.objectContaining({ state: 'cancelled', reason: 'lead_replied' }),
    ]);
    expect(await calledUntilRest(world, conversationId)).toEqual(['answer', 'answer']);
  });

  // Raced: the reply against a worker that has claimed the row and not yet asked for permission.
  // Order: the worker is held at `deliver:claimed`, the reply commits, the worker goes on.
  // Must hold: the gate refuses; no provider call, and nothing brings the row back.
  it('a reply after the claim but before the permission check sends nothing [S4] [S3] [INV-11]', async () => {
    const { conversationId, sendId } = await queuedFollowUp(world);
    const barrier = pauseAt(world, 'deliver:claimed');
    const delivery = world.activities.deliver({ conversationId, sendId });
    await heldAt(barrier, delivery);
    await reply();
    expect(await sendsOf(world, 'follow-up')).toEqual([
      expect.objectContaining({ state: 'leased', stopCause: 'lead_replied' }),
    ]);
    barrier.release();
    await delivery;
    expect(await sendsOf(world, 'follow-up')).toEqual([
      {
        purpose: 'follow-up',
        state: 'cancelled',
        reason: 'conversation_stopped',
        stopCause: 'lead_replied',
        stopVerdict: null,
      },
    ]);
    expect(await calledUntilRest(world, conversationId)).toEqual(['answer', 'answer']);
    expect(await sendsOf(world, 'follow-up')).toHaveLength(1);
  });

  // Raced: the reply against a follow-up that the gate has permitted.
  // Order: the worker is held at `deliver:permitted`, or inside the provider's call before the
  // provider accepts; a second later the reply commits, and another second later it goes on.
  // Must hold: exactly that one send, marked as accepted after the stop, and nothing later.
  it.each(['at the permission', 'inside the call'])(
    'a reply after the permission and before the acceptance leaves that one send, %s [S4] [S3]',
    async (where) => {
      const { conversationId, sendId } = await queuedFollowUp(world);
      const barrier =
        where === 'inside the call' ? pauseInProvider(world) : pauseAt(world, 'deliver:permitted');
      const delivery = world.activities.deliver({ conversationId, sendId });
      await heldAt(barrier, delivery);
      world.clock.advance(1_000);
      await reply();
      world.clock.advance(1_000);
      barrier.release();
      await delivery;
      expect(await sendsOf(world, 'follow-up')).toEqual([
        {
          purpose: 'follow-up',
          state: 'accepted',
          reason: null,
          stopCause: 'lead_replied',
          stopVerdict: 'after',
        },
      ]);
      expect(await calledUntilRest(world, conversationId)).toEqual([
        'answer',
        'follow-up',
        'answer',
      ]);
      expect(await sendsOf(world, 'follow-up')).toHaveLength(1);
    },
  );

  // Raced: the reply against the record of a follow-up that the provider has accepted already.
  // Order: the worker is held at `deliver:marked`, behind the sent marker; a second later the
  // reply commits, then the worker records.
  // Must hold: that one send, marked as accepted before the stop, and nothing later.
  it('a reply between the acceptance and its record finds the send accepted before it [S4] [S3]', async () => {
    const { conversationId, sendId } = await queuedFollowUp(world);
    const barrier = pauseAt(world, 'deliver:marked');
    const delivery = world.activities.deliver({ conversationId, sendId });
    await heldAt(barrier, delivery);
    world.clock.advance(1_000);
    await reply();
    barrier.release();
    await delivery;
    expect(await sendsOf(world, 'follow-up')).toEqual([
      expect.objectContaining({ state: 'accepted', stopVerdict: 'before' }),
    ]);
    expect(await calledUntilRest(world, conversationId)).toEqual(['answer', 'follow-up', 'answer']);
  });

  // Raced: the same reply, delivered again and again, against a claimed follow-up.
  // Order: the worker is held at `deliver:claimed`; twenty copies of one webhook arrive at once,
  // the worker goes on, and after the answer the webhook comes a last time.
  // Must hold: one message, one transition, one debt, one answer; no copy does anything more.
  it('a reply webhook that is delivered over and over counts once [S4] [INV-2]', async () => {
    const { conversationId, sendId } = await queuedFollowUp(world);
    const barrier = pauseAt(world, 'deliver:claimed');
    const delivery = world.activities.deliver({ conversationId, sendId });
    await heldAt(barrier, delivery);
    const copies = await Promise.all(Array.from({ length: 20 }, () => reply()));
    expect(copies.map((copy) => copy.stored).sort()).toEqual([...Array(19).fill(0), 1]);
    expect(copies.flatMap((copy) => copy.wake)).toHaveLength(1);
    barrier.release();
    await delivery;
    await runUntilIdle(world, conversationId, { forMs: 0 });
    expect(await reply()).toMatchObject({ stored: 0, duplicates: 1, wake: [] });
    expect(await calledUntilRest(world, conversationId)).toEqual(['answer', 'answer']);
    const stops = await world.rows('select to_state, changed from conversation_transitions');
    expect(stops).toEqual([{ to_state: 'replied', changed: true }]);
    const inbound = await world.rows("select settlement from messages where direction = 'in'");
    expect(inbound).toEqual([{ settlement: 'reply' }, { settlement: 'reply' }]);
  });

  // Raced: the reply against a follow-up whose call timed out, and the worker's retry of it.
  // Order: the provider answers nothing in time, the reply commits, then the delivery is tried
  // again, before and after the attempt limit.
  // Must hold: one call. The outcome is judged once, given to review and never resent.
  it('a delivery that timed out is never tried again once the lead replied [S4] [C6]', async () => {
    const { conversationId, sendId } = await queuedFollowUp(world);
    world.provider.next(() => ({ kind: 'unknown', code: 'timeout' }));
    await world.activities.deliver({ conversationId, sendId });
    await reply();
    await world.activities.deliver({ conversationId, sendId });
    expect(await calledFor(world)).toEqual(['answer', 'follow-up']);
    expect(await calledUntilRest(world, conversationId)).toEqual(['answer', 'follow-up', 'answer']);
    expect(await sendsOf(world, 'follow-up')).toEqual([
      expect.objectContaining({ state: 'delivery_unknown', stopCause: 'lead_replied' }),
    ]);
    expect(await world.rows('select kind from work_items')).toEqual([{ kind: 'delivery-unknown' }]);
  });

  // Raced: the reply against the retry of a follow-up that the provider refused for the moment.
  // Order: the first call is refused, the row waits for its back-off; the reply commits; the
  // retry comes due.
  // Must hold: the waiting row is cancelled, and the retry finds nothing to send.
  it('a reply during the back-off of a refused follow-up ends its retries [S4] [S2]', async () => {
    const { conversationId, sendId } = await queuedFollowUp(world);
    world.provider.next(() => REFUSED);
    await world.activities.deliver({ conversationId, sendId });
    await reply();
    expect(await calledUntilRest(world, conversationId)).toEqual(['answer', 'follow-up', 'answer']);
    expect(await sendsOf(world, 'follow-up')).toEqual([
      expect.objectContaining({ state: 'cancelled', reason: 'lead_replied' }),
    ]);
  });

  // Raced: the reply against a follow-up in flight that the provider then refuses.
  // Order: held inside the call, the reply commits, the provider answers "not now".
  // Must hold: the back-off puts the row back, and the gate refuses its retry.
  it('a follow-up refused by the provider after the reply is not tried again [S4] [S3]', async () => {
    const { conversationId, sendId } = await queuedFollowUp(world);
    world.provider.next(async () => {
      await reply();
      return REFUSED;
    });
    await world.activities.deliver({ conversationId, sendId });
    expect(await calledUntilRest(world, conversationId)).toEqual(['answer', 'follow-up', 'answer']);
    expect(await sendsOf(world, 'follow-up')).toEqual([
      expect.objectContaining({ state: 'cancelled', reason: 'conversation_stopped' }),
    ]);
  });

  // Raced: a reply on another channel of the same person against a follow-up of this one.
  // Order: the follow-up waits in the outbox, or its worker is held at `deliver:claimed`, or it
  // is in the provider's hands and comes back refused; the reply on WhatsApp commits meanwhile.
  // Must hold: the person has answered, so no follow-up starts on any channel.
  it.each(['queued', 'claimed', 'in flight and refused'])(
    'a reply on another channel stops a follow-up that is %s [S4] [INV-11]',
    async (where) => {
      const { conversationId, sendId } = await queuedFollowUp(world);
      const elsewhere = () => writeOnWhatsApp(world, { text: 'I write here now' });
      if (where === 'queued') await elsewhere();
      if (where === 'claimed')
        world.failpoints['deliver:claimed'] = async () => {
          await elsewhere();
        };
      if (where === 'in flight and refused') {
        world.provider.next(async () => {
          await elsewhere();
          return REFUSED;
        });
      }
      await world.activities.deliver({ conversationId, sendId });
      world.failpoints = {};
      await runUntilIdle(world, conversationId);
      const called = await calledFor(world);
      expect(called.filter((purpose) => purpose === 'follow-up')).toHaveLength(
        where === 'in flight and refused' ? 1 : 0,
      );
      expect(await sendsOf(world, 'follow-up')).toEqual([
        expect.objectContaining({ state: 'cancelled' }),
      ]);
    },
  );

  // Raced: two replies of one person, on two channels, at the same time.
  // Order: none; each transaction locks its own conversation and then stops the other's plan.
  // Must hold: both are stored and answered, whoever wins; a deadlock runs again by itself.
  it('replies on two channels at once are both stored and answered [S4] [INV-11]', async () => {
    await world.write({ text: 'My sink leaks' });
    await writeOnWhatsApp(world, { text: 'My sink leaks' });
    const ids = [await conversationOn(world, 'sms'), await conversationOn(world, 'whatsapp')];
    await runUntilIdle(world, ids, { forMs: 0 });
    world.clock.advance(60_000);
    const stored = await Promise.all([reply(), writeOnWhatsApp(world, { text: 'Yes please' })]);
    expect(stored.map((result) => result.stored)).toEqual([1, 1]);
    expect(await calledUntilRest(world, ...ids)).toEqual(Array(4).fill('answer'));
    const states = await world.rows('select state from conversations');
    expect(states).toEqual([{ state: 'replied' }, { state: 'replied' }]);
  });
});
