import { heldAt, pauseAt, pauseInProvider } from '../../support/barrier';
import { runUntilIdle } from '../../support/run-until-idle';
import { calledFor, sendsOf } from '../../support/sends';
import { makeWorld, type World } from '../../support/world';
import { answeredLead, calledUntilRest, openSendOf, writeOnWhatsApp } from '../races/scene';
import { act, itemsOf, settlementsOf, takeoversOf } from './scene';

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterEach(() => world.reset());
afterAll(() => world.close());

const TEXT = { command: 'reply', text: 'We can come on Friday.' } as const;

/** A lead who wrote and waits for an answer. */
async function waitingLead(): Promise<string> {
  await world.write({ text: 'My sink leaks' });
  return (await world.conversation()).id;
}

describe('a reply of a person', () => {
  it('takes the conversation over when it is queued; the handoff takes the debt and closes with the acceptance [T3] [T6]', async () => {
    const id = await waitingLead();
    const result = await act(world, id, TEXT);
    expect(result).toMatchObject({ kind: 'done', response: { state: 'paused', owner: 'person' } });
    expect(await settlementsOf(world)).toEqual(['work-item']);
    expect(await itemsOf(world)).toEqual([
      expect.objectContaining({ kind: 'handoff', resolution: null, claimed_by: 'support-agent' }),
    ]);
    expect(await calledUntilRest(world, id)).toEqual(['staff']);
    expect(await settlementsOf(world)).toEqual(['reply']);
    expect(await itemsOf(world)).toEqual([
      expect.objectContaining({
        resolution: 'answered_by_staff',
        resolved_by: 'support-agent',
        ticking: false,
      }),
    ]);
    expect(await takeoversOf(world)).toEqual(['takeover.claimed']);
    const [message] = await world.rows("select text from messages where author = 'staff'");
    expect(message).toEqual({ text: TEXT.text });
  });

  it('stands under a decision with the role, which nothing the lead writes cancels [C2] [C5]', async () => {
    const id = await waitingLead();
    await act(world, id, TEXT, { role: 'manager', key: 'key-7' });
    const [decision] = await world.rows(
      `select d.reason, d.rule, d.inputs, d.cancel_on_inbound, d.expires_at, o.source_event
       from send_decisions d join outbox o on o.decision_id = d.id`,
    );
    expect(decision).toEqual({
      reason: 'immediate-first-response',
      rule: 'staff-reply',
      inputs: { role: 'manager' },
      cancel_on_inbound: false,
      expires_at: null,
      source_event: 'staff:key-7',
    });
    await world.write({ text: 'Hello?' });
    expect(await calledUntilRest(world, id)).toEqual(['staff']);
  });

  it('withdraws the automatic answer that waits, and nothing automatic leaves after it [INV-15]', async () => {
    const id = await waitingLead();
    await world.activities.takeTurn({ conversationId: id });
    await act(world, id, TEXT);
    expect(await sendsOf(world, 'answer')).toEqual([
      expect.objectContaining({ state: 'cancelled', reason: 'person_owns' }),
    ]);
    expect(await calledUntilRest(world, id)).toEqual(['staff']);
  });

  it('leaves what the lead wrote meanwhile with the handoff [T3] [T6]', async () => {
    const id = await waitingLead();
    await act(world, id, TEXT);
    world.clock.advance(1_000);
    await world.write({ text: 'And the drain is clogged' });
    await runUntilIdle(world, id);
    expect(await settlementsOf(world)).toEqual(['reply', 'work-item']);
    expect(await itemsOf(world)).toEqual([
      expect.objectContaining({ kind: 'handoff', resolution: null }),
    ]);
  });

  it('answers only what the person saw, where they say what that was [T6]', async () => {
    await world.write({ text: 'My sink leaks' }, { text: 'And the drain is clogged' });
    const { id } = await world.conversation();
    await act(world, id, TEXT, { seenSeq: 1 });
    await runUntilIdle(world, id);
    expect(await settlementsOf(world)).toEqual(['reply', 'work-item']);
  });

  it('that the provider refuses leaves the handoff open with the reason [T3]', async () => {
    const id = await waitingLead();
    await act(world, id, TEXT);
    world.provider.next(() => ({
      kind: 'not-accepted',
      code: 'blocked_recipient',
      retry: 'never',
      retryAfterMs: null,
      pausesAccount: false,
      optedOut: false,
    }));
    await runUntilIdle(world, id);
    expect(await settlementsOf(world)).toEqual(['work-item']);
    expect(await itemsOf(world)).toEqual([
      expect.objectContaining({ kind: 'handoff', resolution: null, reason: 'blocked_recipient' }),
    ]);
  });

  it('that leaves nothing owed and does not arrive has an item of its own [T3]', async () => {
    const id = await answeredLead(world);
    await act(world, id, TEXT);
    world.provider.next(() => ({
      kind: 'not-accepted',
      code: 'blocked_recipient',
      retry: 'never',
      retryAfterMs: null,
      pausesAccount: false,
      optedOut: false,
    }));
    await runUntilIdle(world, id);
    expect(await itemsOf(world)).toEqual([
      expect.objectContaining({ kind: 'not-sent', reason: 'blocked_recipient' }),
    ]);
  });

  it('given back before it left answers the debt itself: the lead gets one answer [T6] [INV-10]', async () => {
    const id = await waitingLead();
    await act(world, id, TEXT);
    expect(await act(world, id, { command: 'release' }, { seenSeq: 1 })).toMatchObject({
      kind: 'done',
    });
    expect(await settlementsOf(world)).toEqual([null]);
    await runUntilIdle(world, id, { forMs: 0 });
    expect(await calledFor(world)).toEqual(['staff']);
    expect(await settlementsOf(world)).toEqual(['reply']);
  });
});

describe('a reply that cannot leave is refused, and says what to do', () => {
  it('after an opt-out, on the other channels of the person too [INV-13]', async () => {
    const id = await waitingLead();
    await writeOnWhatsApp(world, { text: 'STOP', optOut: 'stop' });
    expect(await act(world, id, TEXT)).toMatchObject({ kind: 'refused', code: 'opted_out' });
    expect(await sendsOf(world, 'staff')).toEqual([]);
    expect(await world.conversation()).toMatchObject({ owner: 'automation' });
  });

  it('after an opt-out by a person [INV-13]', async () => {
    const id = await waitingLead();
    await act(world, id, { command: 'opt-out' });
    expect(await act(world, id, TEXT)).toMatchObject({ kind: 'refused', code: 'opted_out' });
  });

  it.each([
    ['one millisecond before the window closes', -1, 'done'],
    ['at the instant at which it closes', 0, 'window_closed'],
  ])('outside the reply window: %s [C4]', async (_name, offsetMs, expected) => {
    const id = await waitingLead();
    const windowMs = 24 * 3_600_000;
    world.clock.advance(windowMs + offsetMs);
    const channels = { fits: () => true, replyWindowMs: () => windowMs };
    const result = await act(world, id, TEXT, { channels });
    expect(result.kind === 'refused' ? result.code : result.kind).toBe(expected);
  });

  it.each([
    ['too long for the channel', 'x'.repeat(21)],
    ['blank', ' \n '],
  ])('a text that is %s', async (_name, text) => {
    const id = await waitingLead();
    const channels = {
      fits: (_channel: string, given: string) => given.length <= 20,
      replyWindowMs: () => null,
    };
    const result = await act(world, id, { command: 'reply', text }, { channels });
    expect(result).toMatchObject({ kind: 'refused', code: 'text_does_not_fit' });
    expect(await itemsOf(world)).toEqual([]);
  });
});

describe('a reply in a race', () => {
  // Raced: a person's reply against the lead's opt-out on another channel.
  // Order: both at once, twenty times; whichever commits first.
  // Must hold: the reply is refused, or cancelled before it leaves; the provider is never called
  // for it.
  it('with an opt-out never leaves after it [INV-13] [S4]', async () => {
    const id = await waitingLead();
    await writeOnWhatsApp(world, { text: 'Hello' });
    const [result] = await Promise.all([
      act(world, id, TEXT),
      writeOnWhatsApp(world, { text: 'STOP', optOut: 'stop' }),
    ]);
    const conversations = await world.rows('select id from conversations');
    world.clock.advance(1);
    await runUntilIdle(
      world,
      conversations.map((row) => String(row['id'])),
    );
    expect(await calledFor(world)).not.toContain('staff');
    const expected = result.kind === 'refused' ? [] : ['cancelled'];
    expect((await sendsOf(world, 'staff')).map(({ state }) => state)).toEqual(expected);
  });

  // Raced: an opt-out against a reply that a worker has claimed.
  // Order: held at `deliver:claimed`, the opt-out commits, the worker goes on.
  // Must hold: the gate refuses; nothing is sent.
  it('that a worker holds when the lead opts out is refused by the gate [INV-13] [S3]', async () => {
    const id = await waitingLead();
    await act(world, id, TEXT);
    const sendId = await openSendOf(world, id, 'staff');
    const barrier = pauseAt(world, 'deliver:claimed');
    const delivery = world.activities.deliver({ conversationId: id, sendId });
    await heldAt(barrier, delivery);
    await world.write({ text: 'STOP', optOut: 'stop' });
    barrier.release();
    await delivery;
    expect(await calledFor(world)).toEqual([]);
    expect(await sendsOf(world, 'staff')).toEqual([
      expect.objectContaining({ state: 'cancelled', reason: 'opted_out' }),
    ]);
    await runUntilIdle(world, id);
  });

  // Raced: a reply against an automatic answer inside the provider's call.
  // Order: held inside the call, the reply commits, the provider accepts.
  // Must hold: that one answer arrived and is marked; the log of the takeover lists it.
  it('lists the answer that was in flight when the person took over [INV-15] [S3]', async () => {
    const id = await waitingLead();
    await world.activities.takeTurn({ conversationId: id });
    const sendId = await openSendOf(world, id, 'answer');
    const barrier = pauseInProvider(world);
    const delivery = world.activities.deliver({ conversationId: id, sendId });
    await heldAt(barrier, delivery);
    world.clock.advance(1_000);
    await act(world, id, TEXT);
    world.clock.advance(1_000);
    barrier.release();
    await delivery;
    await runUntilIdle(world, id);
    expect(await calledFor(world)).toEqual(['answer', 'staff']);
    const [event] = await world.rows(
      "select attributes from takeover_events where type = 'takeover.claimed'",
    );
    expect(event?.['attributes']).toMatchObject({ inFlightSends: sendId });
  });

  it('with itself under one key is one message [C5] [INV-10]', async () => {
    const id = await waitingLead();
    const results = await Promise.all(
      [1, 2, 3, 4, 5].map(() => act(world, id, TEXT, { key: 'one-key' })),
    );
    for (const result of results) {
      expect({ ...result, wake: null }).toEqual({ ...results[0], wake: null });
    }
    expect(results.filter((result) => result.kind === 'done' && result.wake !== null)).toHaveLength(
      1,
    );
    expect(await calledUntilRest(world, id)).toEqual(['staff']);
    const other = await act(world, id, { ...TEXT, text: 'Something else' }, { key: 'one-key' });
    expect(other).toMatchObject({ kind: 'refused', code: 'key_reused' });
  });
});
