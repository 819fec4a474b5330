import type { Pool } from 'pg';
import type { Reach } from '../config/failpoints';
import type { Clock } from '../db/clock';
import { noteAcceptedWake, noteRefusedWake, takeOverdueConversations } from '../db/due';
import type { Waker } from './waker';

/** Per tick, so that a backlog never starves what arrives now (performance.md). */
const WAKES_PER_TICK_MAX = 25;
const WAKES_PER_BUSINESS_MAX = 10;

export interface RelayDependencies {
  readonly pool: Pool;
  readonly waker: Waker;
  readonly clock: Clock;
  /** Says that a named point was reached; in production nobody listens. */
  readonly reach?: Reach;
}

/**
 * One tick of the relay: repeats the wake-up of every conversation that is more than 2 s overdue,
 * whatever the cause: a lost signal, a lost timer, a stuck run, a wiped store (R6). Returns how
 * many were woken and how many Temporal refused.
 */
export async function relayOnce(
  dependencies: RelayDependencies,
): Promise<{ woken: number; refused: number }> {
  const { pool, waker, clock, reach } = dependencies;
  const now = await clock.now();
  const targets = await takeOverdueConversations(pool, {
    limit: WAKES_PER_TICK_MAX,
    perBusiness: WAKES_PER_BUSINESS_MAX,
    now,
  });
  let refused = 0;
  for (const target of targets) {
    await reach?.('relay:taken', target.id);
    if (await waker.wake(target, 'relay')) {
      await reach?.('relay:woken', target.id);
      await noteAcceptedWake(pool, target.id, now);
      await reach?.('relay:noted', target.id);
      continue;
    }
    refused += 1;
    await noteRefusedWake(pool, target.id);
  }
  return { woken: targets.length - refused, refused };
}
