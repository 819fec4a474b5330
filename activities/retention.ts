import type { Pool } from 'pg';
import { emptyOldRawBodies } from '../db/retention';
import { keepTakeoverPartitions } from '../db/takeover-log';
import type { RetentionActivities } from './contract';

const MONTH_MS = 30.44 * 86_400_000;

/** The retention activities, over a pool of the retention role. */
export function makeRetentionActivities(options: {
  readonly pool: Pool;
  readonly rawBodyDays: number;
  readonly auditMonths: number;
}): RetentionActivities {
  return {
    emptyRawBodies: () => emptyOldRawBodies(options.pool, { days: options.rawBodyDays, now: null }),
    keepTakeoverLog: () => {
      const endedBefore = new Date(Date.now() - options.auditMonths * MONTH_MS).toISOString();
      return keepTakeoverPartitions(options.pool, endedBefore);
    },
  };
}
