import type { Pool } from 'pg';
import type { Reach } from '../config/failpoints';
import type { Clock } from '../db/clock';
import { sweepExpired, sweepMarker, sweepOneDebt, sweepOneSend, type Swept } from '../db/sweep/act';
import { forgetRefusedReplay } from '../db/sweep/facts';
import {
  findExpiredSends,
  findLateSends,
  findOverdueDebts,
  findUnrecordedMarkers,
  START,
  type Cursor,
} from '../db/sweep/select';
import type { UpkeepLog, Waker } from './waker';

/** How much one look into the database brings; what is left comes with the next page. */
const PAGE = 500;

/** A round ends after this long, so that it never overlaps the next one. */
const ROUND_MS_MAX = 30_000;

/** Wake-ups of one round: a backlog must not starve what arrives now (performance.md). */
const WAKES_PER_ROUND_MAX = 250;

export interface SweepLog extends UpkeepLog {
  fatal(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface SweepDependencies {
  readonly pool: Pool;
  readonly waker: Waker;
  readonly clock: Clock;
  readonly log: SweepLog;
  /** Says that a named point was reached; in production nobody listens. */
  readonly reach?: Reach;
}

/** What a round did, by kind. */
export type SweepCounts = Readonly<Record<Swept['did'] | 'failed' | 'refused', number>>;

/** One round while it runs. */
interface Round {
  readonly dependencies: SweepDependencies;
  readonly now: string | null;
  readonly endsAtMonotonicMs: number;
  readonly counts: Record<keyof SweepCounts, number>;
  wakesLeft: number;
}

/**
 * One round of the sweeper (T4). It needs neither Temporal nor a worker, never messages a lead,
 * and may run in several processes at once: whoever holds a conversation's lock has it. Each
 * conversation is a transaction of its own, and one that fails stops no other.
 */
export async function sweepOnce(dependencies: SweepDependencies): Promise<SweepCounts> {
  const round: Round = {
    dependencies,
    now: await dependencies.clock.now(),
    endsAtMonotonicMs: performance.now() + ROUND_MS_MAX,
    counts: noCounts(),
    wakesLeft: WAKES_PER_ROUND_MAX,
  };
  // What is proven is recorded before anything is judged, so that no answer is taken for lost.
  for (const part of [recordMarkers, endExpired, sweepDebts, sweepSends]) {
    await attempt(round, { part: part.name }, () => part(round));
  }
  return round.counts;
}

function noCounts(): Round['counts'] {
  return {
    passed: 0,
    wake: 0,
    replay: 0,
    review: 0,
    recorded: 0,
    'hand-over': 0,
    'not-sent': 0,
    expired: 0,
    failed: 0,
    refused: 0,
  };
}

async function attempt(
  round: Round,
  about: Readonly<Record<string, string>>,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    round.counts.failed += 1;
    round.dependencies.log.error({ ...about, error }, 'the sweep failed here and goes on');
  }
}

async function recordMarkers(round: Round): Promise<void> {
  const { now, dependencies } = round;
  for (const marker of await findUnrecordedMarkers(dependencies.pool, { limit: PAGE, now })) {
    await sweepOne(round, marker, () => sweepMarker(dependencies.pool, marker, now));
  }
}

async function endExpired(round: Round): Promise<void> {
  const { now, dependencies } = round;
  for (const expired of await findExpiredSends(dependencies.pool, { limit: PAGE, now })) {
    await sweepOne(round, expired, () => sweepExpired(dependencies.pool, expired, now));
  }
}

async function sweepDebts(round: Round): Promise<void> {
  const { now, dependencies } = round;
  const { pool } = dependencies;
  const page = (after: Cursor) => findOverdueDebts(pool, { after, limit: PAGE, now });
  await eachPage(round, page, (debt) => sweepOneDebt(pool, debt.conversationId, now));
}

async function sweepSends(round: Round): Promise<void> {
  const { now, dependencies } = round;
  const { pool } = dependencies;
  const page = (after: Cursor) => findLateSends(pool, { after, limit: PAGE, now });
  await eachPage(round, page, (late) => sweepOneSend(pool, late, now));
}

/** Goes through page after page, the oldest first, until none is left or the round's time is over. */
async function eachPage<Found extends { readonly conversationId: string; readonly cursor: Cursor }>(
  round: Round,
  read: (after: Cursor) => Promise<readonly Found[]>,
  sweep: (found: Found) => Promise<Swept>,
): Promise<void> {
  let after = START;
  for (;;) {
    const found = await read(after);
    for (const suspect of found) {
      if (performance.now() > round.endsAtMonotonicMs) return;
      await sweepOne(round, suspect, () => sweep(suspect));
      after = suspect.cursor;
    }
    if (found.length < PAGE) return;
  }
}

async function sweepOne(
  round: Round,
  { conversationId }: { readonly conversationId: string },
  sweep: () => Promise<Swept>,
): Promise<void> {
  await attempt(round, { conversationId }, async () => {
    const { reach } = round.dependencies;
    await reach?.('sweep:taken', conversationId);
    const swept = await sweep();
    if (swept.did !== 'passed') await reach?.('sweep:acted', conversationId);
    round.counts[swept.did] += 1;
    tell(round.dependencies.log, conversationId, swept);
    if (swept.wake !== null) await wake(round, swept.wake);
  });
}

/** Graded, so that the important ones page somebody (T7); every rung that applies is named. */
function tell(log: SweepLog, conversationId: string, swept: Swept): void {
  const { did, level, rung, reasons } = swept;
  if (level === 'silent') return;
  log[level]({ conversationId, did, rung, reasons }, 'the sweep acted');
}

/** Temporal is asked until it refuses or the round's share is used up; the facts stand either way. */
async function wake(round: Round, { target, at }: NonNullable<Swept['wake']>): Promise<void> {
  const { pool, waker, reach } = round.dependencies;
  round.wakesLeft -= 1;
  if (round.wakesLeft >= 0 && (await waker.wake(target, 'relay'))) {
    await reach?.('sweep:woken', target.id);
    return;
  }
  round.wakesLeft = 0;
  round.counts.refused += 1;
  await forgetRefusedReplay(pool, target.id, at);
}
