import { runUntilIdle } from '../../support/run-until-idle';
import { calledFor, sendsOf } from '../../support/sends';
import { makeWorld, type World } from '../../support/world';
import {
  answeredLead,
  calledUntilRest,
  conversationOn,
  queuedFollowUp,
  writeOnWhatsApp,
} from '../races/scene';
import { act, itemsOf, settlementsOf, takeoversOf } from './scene';

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterEach(() => world.reset());
afterAll(() => world.close());

async function waitingLead(): Promise<string> {
  await world.write({ text: 'My sink leaks' });
  return (await world.conversation()).id;
}

describe('pausing and resuming', () => {
  it('a pause stops automation, gives whoever waits to a person, and takes nobody’s side [S1] [T6]', async () => {
    const id = await waitingLead();
    const result = await act(world, id, { command: 'pause' });
    expect(result).toMatchObject({ response: { state: 'paused', owner: 'automation' } });
    expect(await settlementsOf(world)).toEqual(['work-item']);
    expect(await calledUntilRest(world, id)).toEqual([]);
  });

  it('resuming remembers the state; what nobody answered owes again under a new token [S1] [T6]', async () => {
    const id = await waitingLead();
    const [before] = await world.rows('select owed_since::text as token from conversations');
    await act(world, id, { command: 'pause' });
    world.clock.advance(5 * 60_000);
    await act(world, id, { command: 'resume' });
    const [after] = await world.rows(
      'select owed_since::text as token, state, overdue_from from conversations',
    );
    expect(after).toMatchObject({ state: 'active' });
    expect(String(after?.['token']) > String(before?.['token'])).toBe(true);
    await runUntilIdle(world, id, { forMs: 0 });
    expect(await calledFor(world)).toEqual(['answer']);
    expect(await settlementsOf(world)).toEqual(['reply']);
  });

  it('a message to a paused conversation goes to a person [S1] [T6]', async () => {
    const id = await answeredLead(world);
    await act(world, id, { command: 'pause' });
    await world.write({ text: 'Hello?' });
    await runUntilIdle(world, id);
    expect(await calledFor(world)).toEqual(['answer']);
    expect(await settlementsOf(world)).toEqual(['reply', 'work-item']);
  });

  it.each([
    ['resume', 'what is not paused', [] as const],
    ['resume', 'what a person owns', ['claim'] as const],
    ['pause', 'what is paused', ['pause'] as const],
    ['pause', 'what is closed', ['close'] as const],
    ['pause', 'whoever opted out', ['opt-out'] as const],
    ['claim', 'what a person owns', ['claim'] as const],
    ['release', 'what nobody took over', [] as const],
    ['close', 'what is closed', ['close'] as const],
    ['book', 'what is closed', ['close'] as const],
  ] as const)('%s does not apply to %s [S1]', async (name, _what, before) => {
    const id = await waitingLead();
    for (const command of before) await act(world, id, { command }, { seenSeq: 1 });
    const result = await act(world, id, { command: name }, { seenSeq: 1 });
    expect(result).toMatchObject({ kind: 'refused', code: 'not_applicable' });
    await runUntilIdle(world, id, { forMs: 0 });
  });
});

describe('closing', () => {
  it('cancels what waits, stops follow-ups, resolves items and settles the debt with the reason [S1] [INV-6]', async () => {
    const { conversationId } = await queuedFollowUp(world);
    await world.write({ text: 'One more thing' });
    await act(world, conversationId, { command: 'pause' });
    const result = await act(world, conversationId, { command: 'close' }, { seenSeq: 3 });
    expect(result).toMatchObject({ response: { state: 'closed', owner: 'automation' } });
    expect(await itemsOf(world)).toEqual([
      expect.objectContaining({ resolution: 'closed_by_staff', ticking: false }),
    ]);
    expect(await calledUntilRest(world, conversationId)).toEqual(['answer']);
  });

  it('what owes needs no answer because a person said so [T3]', async () => {
    const id = await waitingLead();
    await act(world, id, { command: 'close' }, { seenSeq: 1 });
    const [message] = await world.rows('select settlement, settlement_reason from messages');
    expect(message).toEqual({ settlement: 'no-answer', settlement_reason: 'closed_by_staff' });
    expect(await calledUntilRest(world, id)).toEqual([]);
  });

  it('never over a message that the person did not see [T6]', async () => {
    const id = await waitingLead();
    expect(await act(world, id, { command: 'close' })).toMatchObject({
      code: 'seen_seq_required',
    });
    await world.write({ text: 'Hello?' });
    expect(await act(world, id, { command: 'close' }, { seenSeq: 1 })).toMatchObject({
      code: 'newer_message',
      newestSeq: 2,
    });
  });

  it('what a person owned is nobody’s then; the next message begins an episode that automation answers [S1] [INV-15]', async () => {
    const id = await waitingLead();
    await act(world, id, { command: 'claim' });
    await act(world, id, { command: 'close' }, { seenSeq: 1 });
    expect(await takeoversOf(world)).toEqual(['takeover.claimed', 'takeover.released']);
    world.clock.advance(1_000);
    await world.write({ text: 'My drain is clogged' });
    expect(await world.conversation()).toMatchObject({ state: 'active', episode: 2 });
    await runUntilIdle(world, id, { forMs: 0 });
    expect(await calledFor(world)).toEqual(['answer']);
  });

  // Raced: a person closes while the lead writes again.
  // Order: both at once.
  // Must hold: the close is refused, or the message begins a new episode; either way it is answered.
  it('in a race with a new message loses nothing [INV-6] [S1]', async () => {
    const id = await waitingLead();
    world.clock.advance(1_000);
    await Promise.all([
      act(world, id, { command: 'close' }, { seenSeq: 1 }),
      world.write({ text: 'Hello?' }),
    ]);
    await runUntilIdle(world, id, { forMs: 0 });
    expect((await settlementsOf(world)).at(-1)).toBe('reply');
  });
});

describe('what one channel stops, stops on the others of the person', () => {
  it.each([
    ['book', 'booked'],
    ['claim', 'person_owns'],
    ['close', 'closed_by_staff'],
    ['pause', 'paused_by_staff'],
    ['reply', 'person_owns'],
  ] as const)('%s ends the follow-ups everywhere [S6] [INV-13]', async (name, reason) => {
    await answeredLead(world);
    await writeOnWhatsApp(world, { text: 'My sink leaks' });
    const sms = await conversationOn(world, 'sms');
    const whatsApp = await conversationOn(world, 'whatsapp');
    await runUntilIdle(world, whatsApp, { forMs: 0 });
    const command = name === 'reply' ? { command: name, text: 'Hi' } : { command: name };
    await act(world, sms, command, { seenSeq: 99 });
    const plans = await world.rows(
      'select stop_reason from follow_up_plans where conversation_id = $1',
      [whatsApp],
    );
    expect(plans).toEqual([{ stop_reason: reason }]);
    const called = await calledUntilRest(world, sms, whatsApp);
    expect(called).not.toContain('follow-up');
  });
});

describe('an opt-in by staff', () => {
  const optIn = (minutesAfter: number) => ({
    command: 'opt-in' as const,
    source: 'telephone call',
    at: new Date(world.clock.epochMs + minutesAfter * 60_000).toISOString(),
    words: 'Please text me again.',
  });

  it('records the lead’s own consent and lets messages leave again [S1]', async () => {
    const id = await waitingLead();
    await writeOnWhatsApp(world, { text: 'Hello' });
    await act(world, id, { command: 'opt-out' });
    world.clock.advance(10 * 60_000);
    const result = await act(world, id, optIn(-1));
    expect(result).toMatchObject({ response: { state: 'active' } });
    const open = await world.rows('select from addresses where opted_out_at is not null');
    expect(open).toEqual([]);
    const [note] = await world.rows(
      `select n.text from notes n join conversation_transitions t on t.cause_ref = n.id
       where t.cause = 'staff_opt_in'`,
    );
    expect(note?.['text']).toContain('telephone call');
    expect(note?.['text']).toContain('Please text me again.');
    await act(world, id, { command: 'reply', text: 'Welcome back.' });
    await runUntilIdle(world, id, { forMs: 0 });
    expect(await sendsOf(world, 'staff')).toEqual([expect.objectContaining({ state: 'accepted' })]);
  });

  it.each([
    ['before the opt-out', -30],
    ['in the future', 1],
  ])('of a consent %s is refused [INV-13]', async (_name, minutes) => {
    const id = await waitingLead();
    await act(world, id, { command: 'opt-out' });
    world.clock.advance(10 * 60_000);
    expect(await act(world, id, optIn(minutes))).toMatchObject({ code: 'wrong_time' });
  });

  it('of somebody who did not opt out is refused [S1]', async () => {
    const id = await waitingLead();
    expect(await act(world, id, optIn(-1))).toMatchObject({ code: 'not_applicable' });
  });
});

it('a reply to a closed conversation leaves, and what the lead writes then waits with the person [S1] [T6]', async () => {
  const id = await waitingLead();
  await act(world, id, { command: 'close' }, { seenSeq: 1 });
  await act(world, id, { command: 'reply', text: 'One more thing.' });
  await runUntilIdle(world, id, { forMs: 0 });
  expect(await calledFor(world)).toEqual(['staff']);
  await world.write({ text: 'Yes?' });
  await runUntilIdle(world, id, { forMs: 0 });
  expect(await calledFor(world)).toEqual(['staff']);
  expect((await settlementsOf(world)).at(-1)).toBe('work-item');
});

it('a note is kept for colleagues and sends nothing [C2]', async () => {
  const id = await waitingLead();
  await act(world, id, { command: 'note', text: ' Prefers mornings. ' }, { role: 'owner' });
  expect(await world.rows('select role, text from notes')).toEqual([
    { role: 'owner', text: 'Prefers mornings.' },
  ]);
  expect(await calledFor(world)).toEqual([]);
  expect(await act(world, id, { command: 'note', text: ' ' })).toMatchObject({
    code: 'text_does_not_fit',
  });
});
