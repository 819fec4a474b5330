import { makeConversationActivities } from '../../../activities';
import { lockConversation } from '../../../db/conversations';
import { inTransaction } from '../../../db/database';
import { passGate } from '../../../db/gate';
import { handOver } from '../../../db/handover';
import { claimSend } from '../../../db/outbox';
import { isId } from '../../../domain/ids';
import { LEASE_MS } from '../../../domain/limits';
import { runUntilIdle } from '../../support/run-until-idle';
import { calledFor, sendsOf } from '../../support/sends';
import { makeWorld, type World } from '../../support/world';
import { calledUntilRest, LEAD, queuedAnswer, queuedFollowUp } from '../races/scene';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Both clocks by a clock of the test's own, over the gate's real SQL (B1). */
describe('the two clocks at the gate', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const iso = (ms: number) => new Date(ms).toISOString();
  const SCENES = { answer: queuedAnswer, 'follow-up': queuedFollowUp } as const;
  type Scene = keyof typeof SCENES;

  async function clocks(sendId: string): Promise<{ notBefore: number; expires: number }> {
    const [row] = await world.rows(
      `select (extract(epoch from not_before) * 1000)::float8 as "notBefore",
         (extract(epoch from expires_at) * 1000)::float8 as expires from outbox where id = $1`,
      [sendId],
    );
    return { notBefore: Number(row?.['notBefore']), expires: Number(row?.['expires']) };
  }

  async function tryAt(sendId: string, claimMs: number, gateMs: number): Promise<string> {
    if (!isId('snd', sendId)) throw new Error('this is no id of a send');
    const pool = world.database.service;
    const lease = { leaseOwner: 'worker', leaseMs: LEASE_MS };
    const held = await claimSend(pool, { sendId, ...lease, now: iso(claimMs) });
    if (held === null) return 'not claimed';
    const result = await passGate(pool, held, { replyWindowMs: null, now: iso(gateMs) });
    return result.kind;
  }

  it.each<[Scene, string, 'notBefore' | 'expires', number, string]>([
    ['answer', '1 ms before notBefore', 'notBefore', -1, 'not claimed'],
    ['answer', 'exactly at notBefore', 'notBefore', 0, 'permitted'],
    ['answer', '1 ms before expiresAt', 'expires', -1, 'permitted'],
    ['answer', 'exactly at expiresAt', 'expires', 0, 'not claimed'],
    ['follow-up', '1 ms before notBefore', 'notBefore', -1, 'not claimed'],
    ['follow-up', 'exactly at notBefore', 'notBefore', 0, 'permitted'],
    ['follow-up', '1 ms before expiresAt', 'expires', -1, 'permitted'],
    ['follow-up', 'exactly at expiresAt', 'expires', 0, 'not claimed'],
  ])('%s %s: by %s and %i ms it is %s [C10] [C4] [INV-9]', async (...row) => {
    const [scene, , boundary, offsetMs, outcome] = row;
    const { sendId } = await SCENES[scene](world);
    const atMs = (await clocks(sendId))[boundary] + offsetMs;
    expect(await tryAt(sendId, atMs, atMs)).toBe(outcome);
  });

  // The claim was in time; the second check is made later, or by a clock that stepped back.
  it.each<[string, 'notBefore' | 'expires', number, number, string, string]>([
    ['1 ms before the end', 'expires', -2, -1, 'permitted', 'sending'],
    ['at the end', 'expires', -1, 0, 'refused', 'cancelled'],
    ['1 ms too early, because the clock stepped back', 'notBefore', 0, -1, 'refused', 'queued'],
  ])('a second check %s of a claimed answer [C10] [C4] [INV-9]', async (...row) => {
    const [, boundary, claimOffset, gateOffset, outcome, state] = row;
    const { sendId } = await queuedAnswer(world);
    const atMs = (await clocks(sendId))[boundary];
    expect(await tryAt(sendId, atMs + claimOffset, atMs + gateOffset)).toBe(outcome);
    expect(await sendsOf(world, 'answer')).toEqual([expect.objectContaining({ state })]);
  });

  it.each([
    ['back by an hour', -HOUR_MS],
    ['forward by an hour', HOUR_MS],
    ['back by a day', -DAY_MS],
    ['forward by a day', DAY_MS],
  ])(
    'a clock that steps %s moves none of the stored times [C10] [LV-7] [INV-9]',
    async (...row) => {
      const [, stepMs] = row;
      const send = await queuedAnswer(world);
      const before = await clocks(send.sendId);
      world.clock.advance(stepMs);
      await runUntilIdle(world, send.conversationId, { forMs: 0 });
      expect(await clocks(send.sendId)).toEqual(before);
      // Stepped back it is not yet time; stepped forward past its hour, a person has it.
      expect(await calledFor(world)).toEqual([]);
      const items = await world.rows("select reason from work_items where kind = 'handoff'");
      expect(items).toEqual(stepMs < 0 ? [] : [{ reason: 'reply_overdue' }]);
      world.clock.advance(-stepMs);
      await runUntilIdle(world, send.conversationId, { forMs: 1_000 });
      expect(await calledFor(world)).toEqual(stepMs < 0 ? ['answer'] : []);
    },
  );

  it('an inbound that is committed behind the decision cancels what waits [C10] [S2] [INV-11]', async () => {
    const { conversationId, sendId } = await queuedFollowUp(world);
    await world.write({ text: 'Still there?', lead: LEAD });
    const { notBefore } = await clocks(sendId);
    expect(await tryAt(sendId, notBefore, notBefore)).toBe('not claimed');
    expect(await calledUntilRest(world, conversationId)).toEqual(['answer', 'answer']);
  });

  it('one of many claims at the same millisecond wins, and one call is made [C10] [INV-10]', async () => {
    const send = await queuedFollowUp(world);
    const workers = Array.from({ length: 8 }, (_, index) =>
      makeConversationActivities({ ...world.dependencies, workerId: `worker-${index}` }),
    );
    await Promise.all(workers.map((worker) => worker.deliver(send)));
    expect(await calledFor(world)).toEqual(['answer', 'follow-up']);
  });

  it('an answer whose outcome was lost is never sent again by itself [C10] [C6]', async () => {
    const send = await queuedAnswer(world);
    world.provider.next(() => ({ kind: 'unknown', code: 'read_timeout' }));
    expect(await calledUntilRest(world, send.conversationId)).toEqual(['answer']);
    expect(await sendsOf(world, 'answer')).toEqual([
      expect.objectContaining({ state: 'delivery_unknown' }),
    ]);
  });

  it.each<[Scene, string]>([
    ['answer', 'not claimed'],
    ['follow-up', 'not claimed'],
  ])('an escalation wins against an unclaimed %s: it is %s [C10] [C7]', async (scene, outcome) => {
    const { conversationId, sendId } = await SCENES[scene](world);
    const { notBefore } = await clocks(sendId);
    await inTransaction(world.database.service, async (client) => {
      const locked = await lockConversation(client, conversationId, iso(notBefore));
      if (locked === null) throw new Error('the conversation is gone');
      await handOver(client, locked.conversation, {
        reason: 'policy_requires_human',
        explanation: 'A rule requires a person.',
        actor: { kind: 'service', ref: 'conversation-router' },
        at: locked.now,
      });
    });
    expect(await tryAt(sendId, notBefore, notBefore)).toBe(outcome);
    const called = await calledUntilRest(world, conversationId);
    expect(called).toEqual(scene === 'answer' ? [] : ['answer']);
  });

  it('the same webhook and the same job, run again at any time, send nothing twice [C10] [IN6]', async () => {
    const message = { text: 'My sink leaks', lead: LEAD, id: 'SMclock1' };
    await world.write(message);
    const { id } = await world.conversation(LEAD);
    await runUntilIdle(world, id, { forMs: HOUR_MS });
    await world.write(message);
    expect(await calledUntilRest(world, id)).toEqual([
      ...['answer', 'follow-up', 'follow-up', 'follow-up'],
    ]);
  });
});
