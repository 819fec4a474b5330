import type { Pool } from 'pg';
import { emptyOldRawBodies } from '../db/retention';
import type { RetentionActivities } from './contract';

/** The retention activities, over a pool of the retention role. */
export function makeRetentionActivities(options: {
  readonly pool: Pool;
  readonly rawBodyDays: number;
}): RetentionActivities {
  return {
    emptyRawBodies: () => emptyOldRawBodies(options.pool, { days: options.rawBodyDays, now: null }),
  };
}
