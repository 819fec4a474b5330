import type { Pool } from 'pg';
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
}

/**
 * One tick of the relay: repeats the wake-up of every conversation that is more than 2 s overdue,
 * whatever the cause: a lost signal, a lost timer, a stuck run, a wiped store (R6). Returns how
 * many were woken and how many Temporal refused.
 */
export async function relayOnce(
  dependencies: RelayDependencies,
): Promise<{ woken: number; refused: number }> {
  const { pool, waker, clock } = dependencies;
  const now = await clock.now();
  const targets = await takeOverdueConversations(pool, {
    limit: WAKES_PER_TICK_MAX,
    perBusiness: WAKES_PER_BUSINESS_MAX,
    now,
  });
  let refused = 0;
  for (const target of targets) {
    if (await waker.wake(target, 'relay')) {
      await noteAcceptedWake(pool, target.id, now);
      continue;
    }
    refused += 1;
    await noteRefusedWake(pool, target.id);
  }
  return { woken: targets.length - refused, refused };
}
