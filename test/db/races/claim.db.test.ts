import { makeConversationActivities } from '../../../activities';
import { passGate, type GateResult } from '../../../db/gate';
import { claimSend, type Claim } from '../../../db/outbox';
import { isId } from '../../../domain/ids';
import { LEASE_MS } from '../../../domain/limits';
import { sendsOf } from '../../support/sends';
import { makeWorld, type World } from '../../support/world';
import { queuedAnswer, queuedFollowUp, type QueuedFollowUp } from './scene';

const HOUR_MS = 3_600_000;

describe('the claim of a send', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const at = (epochMs: number) => new Date(epochMs).toISOString();

  async function claim(
    sendId: string,
    nowMs: number,
    leaseOwner = 'worker',
  ): Promise<Claim | null> {
    if (!isId('snd', sendId)) throw new Error('this is no id of a send');
    const request = { sendId, leaseOwner, leaseMs: LEASE_MS, now: at(nowMs) };
    return claimSend(world.database.service, request);
  }

  async function gate(held: Claim | null, nowMs: number): Promise<GateResult['kind']> {
    if (held === null) throw new Error('the claim was to win');
    const result = await passGate(world.database.service, held, {
      replyWindowMs: null,
      now: at(nowMs),
    });
    return result.kind;
  }

  // Raced: twenty workers for one send. Order: none, all run at once on twenty connections.
  // Must hold: one statement decides; exactly one wins.
  it('is won by exactly one of twenty workers at once [C4] [INV-10]', async () => {
    const { sendId } = await queuedAnswer(world);
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, worker) =>
        claim(sendId, world.clock.epochMs, `worker-${worker}`),
      ),
    );
    expect(claims.filter((held) => held !== null)).toHaveLength(1);
  });

  // Raced: twenty whole deliveries of one send, as a queue that delivers a task twice would cause.
  // Must hold: one gate, one provider call, one recorded acceptance.
  it('leads to one provider call when twenty workers deliver at once [C4] [INV-10]', async () => {
    const send = await queuedAnswer(world);
    await Promise.all(
      Array.from({ length: 20 }, (_, worker) =>
        makeConversationActivities({
          ...world.dependencies,
          workerId: `worker-${worker}`,
        }).deliver(send),
      ),
    );
    expect(world.provider.calls).toHaveLength(1);
    expect(await world.rows('select outcome from send_outcomes')).toEqual([
      { outcome: 'accepted' },
    ]);
  });

  it.each([
    ['1 ms before notBefore', -1, 'loses'],
    ['exactly at notBefore', 0, 'wins'],
    ['1 ms after notBefore', 1, 'wins'],
    ['1 ms before expiresAt', HOUR_MS - 1, 'wins'],
    ['exactly at expiresAt', HOUR_MS, 'loses'],
    ['1 ms after expiresAt', HOUR_MS + 1, 'loses'],
  ])('%s (%i ms after notBefore) %s [C4] [INV-9]', async (_name, offsetMs, outcome) => {
    const { sendId } = await queuedAnswer(world);
    const held = await claim(sendId, world.clock.epochMs + offsetMs);
    expect(held === null ? 'loses' : 'wins').toBe(outcome);
  });

  it('may be taken over exactly when the lease ends, and not 1 ms before [C4]', async () => {
    const { sendId } = await queuedAnswer(world);
    const startMs = world.clock.epochMs;
    const first = await claim(sendId, startMs, 'first');
    expect(await claim(sendId, startMs + LEASE_MS - 1, 'second')).toBeNull();
    const second = await claim(sendId, startMs + LEASE_MS, 'second');
    expect(await gate(first, startMs + LEASE_MS)).toBe('refused');
    expect(await gate(second, startMs + LEASE_MS)).toBe('permitted');
  });

  it('is worth nothing at the gate once its lease has ended, even if nobody else came [C4] [S3]', async () => {
    const { sendId } = await queuedAnswer(world);
    const startMs = world.clock.epochMs;
    const held = await claim(sendId, startMs);
    expect(await gate(held, startMs + LEASE_MS)).toBe('refused');
    expect(await sendsOf(world)).toEqual([expect.objectContaining({ state: 'queued' })]);
    const again = await claim(sendId, startMs + LEASE_MS);
    expect(await gate(again, startMs + 2 * LEASE_MS - 1)).toBe('permitted');
  });

  describe('and the second check before the call', () => {
    /** The first instant at which the send may leave. */
    const notBeforeMs = async ({ sendId }: QueuedFollowUp): Promise<number> => {
      const [row] = await world.rows(
        'select (extract(epoch from not_before) * 1000)::float8 as ms from outbox where id = $1',
        [sendId],
      );
      return Number(row?.['ms']);
    };

    it.each([
      ['1 ms before expiresAt', HOUR_MS - 1, 'permitted', 'sending', null],
      ['exactly at expiresAt', HOUR_MS, 'refused', 'cancelled', 'expired'],
      ['1 ms after expiresAt', HOUR_MS + 1, 'refused', 'cancelled', 'expired'],
    ])('judge an answer %s (%i ms after notBefore) as %s [C4] [INV-9]', async (...row) => {
      const [, offsetMs, verdict, state, reason] = row;
      const send = await queuedAnswer(world);
      const startMs = await notBeforeMs(send);
      const held = await claim(send.sendId, startMs + HOUR_MS - 2);
      expect(await gate(held, startMs + offsetMs)).toBe(verdict);
      expect(await sendsOf(world)).toEqual([expect.objectContaining({ state, reason })]);
    });

    it.each([
      ['1 ms before notBefore', -1, 'refused', 'queued'],
      ['exactly at notBefore', 0, 'permitted', 'sending'],
      ['1 ms after notBefore', 1, 'permitted', 'sending'],
    ])(
      'judge a follow-up %s (%i ms) as %s, on a clock that stepped back [C4] [INV-9]',
      async (_name, offsetMs, verdict, state) => {
        const send = await queuedFollowUp(world);
        const startMs = await notBeforeMs(send);
        const held = await claim(send.sendId, startMs);
        expect(await gate(held, startMs + offsetMs)).toBe(verdict);
        expect(await sendsOf(world, 'follow-up')).toEqual([
          expect.objectContaining({ state, reason: null }),
        ]);
      },
    );

    it('leave an attempt whose instant lies inside the decision’s two limits [C4] [C5] [INV-9]', async () => {
      const send = await queuedAnswer(world);
      const startMs = await notBeforeMs(send);
      await gate(await claim(send.sendId, startMs + HOUR_MS - 2), startMs + HOUR_MS - 1);
      const attempts = await world.rows(
        `select t.not_before <= t.started_at and t.started_at < t.expires_at as inside,
           t.decision_id = o.decision_id as under_decision,
           length(o.idempotency_key) = 64 as key_stored
         from send_attempts t join outbox o on o.id = t.send_id`,
      );
      expect(attempts).toEqual([{ inside: true, under_decision: true, key_stored: true }]);
    });
  });
});
