import type { Pool, PoolClient } from 'pg';
import { makeConversationActivities } from '../../../activities';
import type { DeliverResult } from '../../../activities/contract';
import { ATTEMPT_LIMIT_MS } from '../../../domain/limits';
import { heldAt, pauseAt } from '../../support/barrier';
import { runUntilIdle } from '../../support/run-until-idle';
import { sendsOf } from '../../support/sends';
import { makeWorld, type World } from '../../support/world';
import { LEAD, queuedAnswer } from './scene';

const FOUR_HOURS_MS = 4 * 3_600_000;

describe('a send that the provider has accepted', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const settlements = () =>
    world.rows("select settlement from messages where direction = 'in' order by seq");

  /** Four virtual hours of retries: the span of the report of 3 987 texts. */
  async function expectOneCall(conversationId: string): Promise<void> {
    await runUntilIdle(world, conversationId, { forMs: FOUR_HOURS_MS });
    expect(world.provider.calls).toHaveLength(1);
    expect(await settlements()).toEqual([{ settlement: 'reply' }]);
    expect(await sendsOf(world)).toEqual([expect.objectContaining({ state: 'accepted' })]);
    expect(await world.rows('select kind from work_items')).toEqual([]);
  }

  async function recordReturned(conversationId: string, result: DeliverResult): Promise<void> {
    if (result.kind !== 'unrecorded') throw new Error('the acceptance was to be returned');
    const { acceptance } = result;
    await world.activities.recordAccepted({ conversationId, acceptance });
  }

  // Raced: the record of an acceptance against a Postgres that refuses it.
  // Order: the service's right to write the marker, or the outcome, is withdrawn while the worker
  // stands between the provider's acceptance and that statement; later it comes back.
  // Must hold: the acceptance is returned, as ids, and recorded by the workflow's next step.
  it.each([
    ['the sent marker', 'deliver:accepted', 'sent_markers'],
    ['the record behind it', 'deliver:marked', 'send_outcomes'],
  ] as const)('is returned where Postgres refuses %s, and recorded later [T8]', async (...row) => {
    const [, point, table] = row;
    const send = await queuedAnswer(world);
    world.failpoints[point] = async () => {
      await world.rows(`revoke insert on ${table} from unsilent_service`);
    };
    const result = await world.activities.deliver(send);
    expect(result).toMatchObject({
      kind: 'unrecorded',
      acceptance: { sendId: send.sendId, providerMessageId: 'provider-1', evidence: 'response' },
    });
    expect(JSON.stringify(result)).not.toMatch(new RegExp(`${LEAD.slice(1)}|sink|ZIP`));
    await world.rows(`grant insert on ${table} to unsilent_service`);
    world.failpoints = {};
    await recordReturned(send.conversationId, result);
    await recordReturned(send.conversationId, result);
    await expectOneCall(send.conversationId);
  });

  // Raced: a failure of our own against the record (traps: 3 987 texts to seven people).
  // Order: a throw at each failpoint between the provider's acceptance and our commit.
  it.each(['deliver:accepted', 'deliver:marked'] as const)(
    'is sent once, whatever throws at %s, in four hours of retries [T8] [INV-10]',
    async (point) => {
      world.failpoints[point] = () => {
        throw new Error('the price list is not there');
      };
      await world.write({ text: 'My sink leaks' });
      const { id } = await world.conversation();
      await expectOneCall(id);
    },
  );

  // Raced: the loss of the connection against every statement after the acceptance, one by one.
  // Order: the marker's connection breaks at its nth statement, for each n until none is left.
  it('is sent once, whichever statement behind the acceptance fails [T8] [INV-10]', async () => {
    let statements = 0;
    for (;;) {
      const send = await queuedAnswer(world);
      const breaking = breakingPool(world.database.service, statements);
      const activities = makeConversationActivities({
        ...world.dependencies,
        markerPool: breaking.pool,
      });
      const result = await activities.deliver(send);
      if (result.kind === 'unrecorded') await recordReturned(send.conversationId, result);
      await expectOneCall(send.conversationId);
      await world.reset();
      if (!breaking.broke()) break;
      statements += 1;
    }
    expect(statements).toBeGreaterThan(10);
  });

  // Raced: a killed worker against the judgement of its attempt.
  // Order: the worker stops for ever at a failpoint behind the acceptance; the attempt's limit
  // passes; the facts and then the channel are asked.
  it.each([
    ['before the marker, and the channel shows it', 'deliver:accepted', 'read-back'],
    ['behind the marker', 'deliver:marked', 'marker'],
  ] as const)('is proven although its worker was killed %s [T8] [C6]', async (...row) => {
    const [, point, evidence] = row;
    world.provider.readBackAnswer = { kind: 'found', providerMessageId: 'provider-1' };
    const send = await queuedAnswer(world);
    const barrier = pauseAt(world, point);
    const killed = world.activities.deliver(send);
    await heldAt(barrier, killed);
    await expectOneCall(send.conversationId);
    const outcomes = await world.rows('select outcome, evidence from send_outcomes');
    expect(outcomes).toEqual([{ outcome: 'accepted', evidence }]);
    // If it was only frozen, it wakes to an attempt that is recorded: nothing happens twice.
    barrier.release();
    await killed;
    await expectOneCall(send.conversationId);
    expect(await world.rows('select outcome from send_outcomes')).toHaveLength(1);
  });

  it('goes to review, not to the lead again, where the killed worker left no proof [T8] [C6]', async () => {
    const send = await queuedAnswer(world);
    const barrier = pauseAt(world, 'deliver:accepted');
    const frozen = world.activities.deliver(send);
    await heldAt(barrier, frozen);
    await runUntilIdle(world, send.conversationId, { forMs: FOUR_HOURS_MS });
    expect(world.provider.calls).toHaveLength(1);
    expect(await sendsOf(world)).toEqual([expect.objectContaining({ state: 'delivery_unknown' })]);
    // The worker was only frozen: what it knows proves the send and closes the review.
    barrier.release();
    await frozen;
    expect(await settlements()).toEqual([{ settlement: 'reply' }]);
    expect(await world.rows('select kind, resolution from work_items')).toEqual([
      { kind: 'delivery-unknown', resolution: 'proven_by_response' },
    ]);
  });

  it('is not called again when the worker died inside the call [T8] [INV-10]', async () => {
    world.provider.next((request) => {
      world.provider.accept(request);
      throw new Error('the process dies with the answer in its socket');
    });
    world.provider.readBackAnswer = { kind: 'found', providerMessageId: 'provider-1' };
    await world.write({ text: 'My sink leaks' });
    const { id } = await world.conversation();
    const performed = await runUntilIdle(world, id, { forMs: FOUR_HOURS_MS });
    expect(performed.map(({ kind, failed }) => [kind, failed])).toEqual([
      ['take-turn', false],
      ['deliver', true],
      ['take-turn', false],
      ['resolve', false],
    ]);
    expect(Date.parse(performed[3]?.at ?? '') - Date.parse(performed[0]?.at ?? '')).toBe(
      ATTEMPT_LIMIT_MS,
    );
    await expectOneCall(id);
  });
});

/** A pool whose connection is lost at its nth statement, counted from zero, and then is well. */
function breakingPool(pool: Pool, breaksAt: number) {
  let count = 0;
  const guard = <Subject extends Pool | PoolClient>(subject: Subject): Subject =>
    new Proxy(subject, {
      get: (target, key) => {
        if (key === 'query') {
          return (...values: unknown[]): unknown => {
            count += 1;
            if (count - 1 === breaksAt) return Promise.reject(new Error('the socket was closed'));
            return Reflect.apply(target.query as (...all: unknown[]) => unknown, target, values);
          };
        }
        if (key === 'connect') return async () => guard(await pool.connect());
        const value: unknown = Reflect.get(target, key);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  return { pool: guard(pool), broke: () => count > breaksAt };
}
