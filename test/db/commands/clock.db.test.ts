import { heldAt, pauseAt, pauseInProvider } from '../../support/barrier';
import { runUntilIdle } from '../../support/run-until-idle';
import { calledFor, sendsOf } from '../../support/sends';
import { makeWorld, type World } from '../../support/world';
import { openSendOf, queuedAnswer, queuedFollowUp } from '../races/scene';
import { act, draftedLead } from './scene';

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterEach(() => world.reset());
afterAll(() => world.close());

const MINUTE_MS = 60_000;

/** `postpone` until so many minutes from now. */
const until = (minutes: number, sendId: string | null = null) => ({
  command: 'postpone' as const,
  sendId,
  reason: 'They asked for later.',
  until: new Date(world.clock.epochMs + minutes * MINUTE_MS).toISOString(),
});
const NOW = { command: 'send-now', sendId: null, reason: null } as const;

describe('a person postpones a message that waits', () => {
  it('it leaves exactly then; both decisions stay, the later one with role and reason [C2] [C4] [INV-9]', async () => {
    const { conversationId, sendId } = await queuedAnswer(world);
    await act(world, conversationId, until(30), { role: 'manager' });
    const decisions = await world.rows(
      `select d.reason, d.rule, d.inputs ->> 'role' as role, n.text as why,
         d.supersedes_id is not null as supersedes
       from send_decisions d left join notes n on n.id = d.inputs ->> 'noteId'
       order by d.evaluated_at, d.supersedes_id nulls first`,
    );
    expect(decisions).toEqual([
      expect.objectContaining({ reason: 'immediate-first-response', supersedes: false }),
      {
        reason: 'manual-review',
        rule: 'staff-postpone',
        role: 'manager',
        why: 'They asked for later.',
        supersedes: true,
      },
    ]);
    world.clock.advance(30 * MINUTE_MS - 1);
    await world.activities.deliver({ conversationId, sendId });
    expect(await calledFor(world)).toEqual([]);
    world.clock.advance(1);
    await world.activities.deliver({ conversationId, sendId });
    expect(await calledFor(world)).toEqual(['answer']);
  });

  it('the reason is content: no decision repeats it [C2]', async () => {
    const { conversationId } = await queuedAnswer(world);
    await act(world, conversationId, until(30));
    const told = await world.rows("select from send_decisions where inputs::text like '%asked%'");
    expect(told).toEqual([]);
    await runUntilIdle(world, conversationId);
  });

  it.each([
    ['at its end', 60, 'beyond_expiry'],
    ['a minute before its end', 59, 'done'],
    ['now', 0, 'wrong_time'],
    ['in the past', -5, 'wrong_time'],
  ])('an answer, until %s: %#', async (_name, minutes, expected) => {
    const { conversationId } = await queuedAnswer(world);
    const result = await act(world, conversationId, until(minutes));
    expect(result.kind === 'refused' ? result.code : result.kind).toBe(expected);
    await runUntilIdle(world, conversationId);
  });

  it('a follow-up keeps the length of its span; the lead’s reply still stops it [C2] [S1]', async () => {
    const { conversationId, sendId } = await queuedFollowUp(world);
    const span = () =>
      world.rows('select expires_at - not_before as span from outbox where id = $1', [sendId]);
    const before = await span();
    await act(world, conversationId, until(24 * 60));
    expect(await span()).toEqual(before);
    await world.write({ text: 'See you on Friday' });
    expect(await sendsOf(world, 'follow-up')).toEqual([
      expect.objectContaining({ state: 'cancelled', reason: 'lead_replied' }),
    ]);
    await runUntilIdle(world, conversationId);
  });
});

describe('a person lets a message leave now', () => {
  it('the decision supersedes the delay, and the gate still holds [C2] [S3]', async () => {
    const { conversationId, sendId } = await queuedAnswer(world);
    await act(world, conversationId, until(30));
    await act(world, conversationId, NOW);
    await world.rows('update businesses set automation_enabled = false');
    await world.activities.deliver({ conversationId, sendId });
    expect(await calledFor(world)).toEqual([]);
    await world.rows('update businesses set automation_enabled = true');
    await world.activities.deliver({ conversationId, sendId });
    expect(await calledFor(world)).toEqual(['answer']);
  });

  it.each([
    ['nothing waits', async () => (await world.write({ text: 'Hi' }), world.conversation())],
    ['only a draft waits for approval', () => draftedLead(world)],
  ])('where %s there is nothing to send', async (_name, scene) => {
    const { id } = await scene();
    expect(await act(world, id, NOW)).toMatchObject({ code: 'send_not_named' });
    await runUntilIdle(world, id, { forMs: 0 });
  });

  it('where several wait they say which one', async () => {
    const { conversationId, sendId } = await queuedAnswer(world);
    await world.rows(
      `insert into outbox select (jsonb_populate_record(o, jsonb_build_object(
         'id', 'snd_${'9'.repeat(32)}', 'idempotency_key', 'k', 'purpose', 'booking-confirmation'))).*
       from outbox o`,
    );
    expect(await act(world, conversationId, NOW)).toMatchObject({ code: 'send_not_named' });
    expect(await act(world, conversationId, { ...NOW, sendId })).toMatchObject({ kind: 'done' });
    await world.rows("delete from outbox where purpose = 'booking-confirmation'");
    await runUntilIdle(world, conversationId, { forMs: 0 });
  });
});

describe('a person’s decision in a race', () => {
  // Raced: postponing an answer that a worker has claimed.
  // Order: held at `deliver:claimed`, the postponement commits, the worker goes on.
  // Must hold: the worker finds its lease gone; nothing leaves before the new time.
  it('a worker that claimed the answer finds it postponed [C4] [INV-9]', async () => {
    const { conversationId, sendId } = await queuedAnswer(world);
    const barrier = pauseAt(world, 'deliver:claimed');
    const delivery = world.activities.deliver({ conversationId, sendId });
    await heldAt(barrier, delivery);
    await act(world, conversationId, until(30));
    barrier.release();
    await delivery;
    expect(await calledFor(world)).toEqual([]);
    await runUntilIdle(world, conversationId, { forMs: 31 * MINUTE_MS });
    expect(await calledFor(world)).toEqual(['answer']);
  });

  it.each([['postpone'], ['send-now']] as const)(
    '%s of an answer inside the provider’s call is refused, and it leaves once [INV-10]',
    async (name) => {
      const { conversationId } = await queuedAnswer(world);
      const sendId = await openSendOf(world, conversationId, 'answer');
      const barrier = pauseInProvider(world);
      const delivery = world.activities.deliver({ conversationId, sendId });
      await heldAt(barrier, delivery);
      const command = name === 'postpone' ? until(30, sendId) : { ...NOW, sendId };
      const result = await act(world, conversationId, command);
      expect(result).toMatchObject({ kind: 'refused', code: 'not_applicable' });
      barrier.release();
      await delivery;
      await runUntilIdle(world, conversationId, { forMs: 0 });
      expect(await calledFor(world)).toEqual(['answer']);
    },
  );

  it('two workers and two send-now commands at once make one call [C4] [INV-10]', async () => {
    const { conversationId, sendId } = await queuedAnswer(world);
    await Promise.all([
      act(world, conversationId, NOW),
      world.activities.deliver({ conversationId, sendId }),
      act(world, conversationId, NOW),
      world.activities.deliver({ conversationId, sendId }),
    ]);
    await runUntilIdle(world, conversationId, { forMs: 0 });
    expect(await calledFor(world)).toEqual(['answer']);
  });
});
