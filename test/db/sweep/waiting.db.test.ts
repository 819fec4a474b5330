import { refreshAgenda } from '../../../db/agenda';
import { lockConversation } from '../../../db/conversations';
import { inTransaction } from '../../../db/database';
import { queueSend } from '../../../db/outbox';
import type { PolicyReason } from '../../../domain/policy';
import { makeSweeper, openItems, type Sweeper } from '../../support/sweeping';
import { makeWorld, type World } from '../../support/world';
import { command } from '../races/scene';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('a reply that waits', () => {
  let world: World;
  let sweeper: Sweeper;
  beforeAll(async () => {
    world = await makeWorld();
  });
  beforeEach(() => {
    sweeper = makeSweeper(world);
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const swept = async (milliseconds: number) => {
    const { passed, ...counts } = await sweeper.sweepAfter(milliseconds);
    return Object.entries(counts).flatMap(([did, count]) => (count > 0 ? [`${did} ${count}`] : []));
  };

  /** Queues the owed answer under a decision that holds it for `delayMs`. */
  const queueHeld = async (reason: PolicyReason, delayMs: number) => {
    await world.write({ text: 'My sink leaks' });
    const { id } = await world.conversation();
    const { epochMs, iso } = world.clock;
    await inTransaction(world.database.service, async (client) => {
      const locked = await lockConversation(client, id, iso);
      if (locked === null) throw new Error('the conversation exists');
      const { conversation } = locked;
      await queueSend(client, conversation, {
        purpose: 'answer',
        body: 'Thanks. What is your ZIP code?',
        verdict: 'meaningful',
        sourceEvent: `reply:${conversation.owedSince ?? ''}`,
        coversSeq: conversation.lastInboundSeq,
        token: conversation.owedSince,
        decision: {
          notBeforeMs: epochMs + delayMs,
          expiresAtMs: epochMs + delayMs + HOUR,
          reason,
          rule: 'test',
          cancelOnInbound: true,
          inputs: {},
        },
        turn: null,
        at: iso,
      });
      await refreshAgenda(client, id, iso);
    });
    return id;
  };
  const overdueFrom = async () => (await world.conversation())['overdue_from'];
  const isoIn = (milliseconds: number) =>
    new Date(world.clock.epochMs + milliseconds).toISOString();
  const sameInstant = async (iso: string) => {
    const [row] = await world.rows('select $1::timestamptz::text as at', [iso]);
    return row?.['at'];
  };

  it.each<PolicyReason>(['business-rule-delay', 'escalation-window'])(
    'for its policy clock (%s) is not swept, and its ages count from where that ends [T5] [T4]',
    async (reason) => {
      await queueHeld(reason, 5 * HOUR);
      expect(await overdueFrom()).toBe(await sameInstant(isoIn(5 * HOUR)));
      expect(await swept(5 * HOUR + 3 * MINUTE)).toEqual([]);
      sweeper.onWake = () => false;
      expect(await swept(1)).toEqual(['replay 1', 'refused 1']);
      expect(await swept(57 * MINUTE)).toEqual(['hand-over 1']);
      expect(await openItems(world)).toEqual([{ kind: 'handoff', reason: 'reply_overdue' }]);
    },
  );

  it('for a delay that was taken back early counts from then, not from the delay [T5]', async () => {
    const id = await queueHeld('business-rule-delay', 5 * HOUR);
    world.clock.advance(HOUR);
    await world.write({ text: 'Are you open?' });
    expect(await overdueFrom()).toBe(await sameInstant(isoIn(4 * HOUR)));
    await world.activities.takeTurn({ conversationId: id });
    expect(await overdueFrom()).toBe(await sameInstant(isoIn(0)));
    expect(await world.rows('select state from outbox order by created_at')).toEqual([
      { state: 'cancelled' },
      { state: 'queued' },
    ]);
  });

  it('for a back-off is as old as it is: that moves nothing [T5]', async () => {
    await world.write({ text: 'My sink leaks' });
    const before = await overdueFrom();
    const { id } = await world.conversation();
    await world.activities.takeTurn({ conversationId: id });
    world.provider.next(() => ({
      kind: 'not-accepted',
      code: '429',
      retry: 'back-off',
      retryAfterMs: 30 * MINUTE,
      pausesAccount: true,
      optedOut: false,
    }));
    const [send] = await world.rows('select id from outbox');
    await world.activities.deliver({ conversationId: id, sendId: String(send?.['id']) });
    expect(await overdueFrom()).toBe(before);
    expect(await swept(HOUR)).toEqual([]);
    expect(await overdueFrom()).toBe(before);
    expect(await swept(1)).toEqual(['hand-over 1']);
  });

  it('since before it arrived counts from when it was written, and from no later than its arrival [T5]', async () => {
    await world.write({ text: 'My sink leaks', at: isoIn(-2 * MINUTE) });
    expect(await swept(MINUTE)).toEqual([]);
    expect(await swept(1)).toEqual(['replay 1']);
    await world.write({ text: 'Hello', lead: '+13125550143', at: isoIn(HOUR) });
    const other = await world.conversation('+13125550143');
    expect(other['overdue_from']).toBe(await sameInstant(isoIn(0)));
  });

  it('behind a hand-back counts from the hand-back [T5] [T6]', async () => {
    await world.write({ text: 'My sink leaks' });
    const { id } = await world.conversation();
    await swept(HOUR + 1);
    world.clock.advance(5 * HOUR);
    await command(world, id, 'release', 1);
    expect(await overdueFrom()).toBe(await sameInstant(isoIn(0)));
    const oldest = (await world.conversation())['oldest_owed_at'];
    expect(oldest).toBe(await sameInstant(isoIn(-6 * HOUR - 1)));
    sweeper.onWake = () => false;
    expect(await swept(3 * MINUTE)).toEqual([]);
    expect(await swept(57 * MINUTE)).toEqual(['replay 1', 'refused 1']);
    expect(await swept(1)).toEqual(['hand-over 1']);
  });

  it('keeps the time of its oldest message, however often the lead writes again [INV-7] [T2]', async () => {
    await world.write({ text: 'My sink leaks' });
    const before = await world.conversation();
    for (let again = 0; again < 5; again += 1) {
      world.clock.advance(30_000);
      await world.write({ text: `Hello? ${again}` });
      const { oldest_owed_at: oldest, overdue_from: overdue } = await world.conversation();
      expect([oldest, overdue]).toEqual([before['oldest_owed_at'], before['overdue_from']]);
    }
    expect(await swept(30_001)).toEqual(['replay 1']);
  });
});
