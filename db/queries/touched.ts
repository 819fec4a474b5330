import type { Pool } from 'pg';
import { run, statement } from '../database';

/** A conversation that changed: a hint to look again, without content. */
export interface TouchedRow {
  readonly id: string;
  readonly businessId: string;
  readonly version: number;
  /** Microseconds since the epoch, as digits: a `Date` would drop the microseconds. */
  readonly touchedMicros: string;
}

const COLUMNS = `id, business_id as "businessId", version,
  (extract(epoch from touched_at) * 1000000)::bigint::text as "touchedMicros"`;

const readRecent = statement<TouchedRow>(
  'read-recently-touched',
  `select ${COLUMNS} from conversations
   where touched_at > clock_timestamp() - make_interval(secs => $1::float8 / 1000)
   order by touched_at, id`,
);

/**
 * Every business's conversations touched in the last `lookBackMs`, the oldest first. Whoever asks
 * again sees some twice: a transaction may commit behind one that was touched later.
 */
export function readRecentlyTouched(pool: Pool, lookBackMs: number): Promise<TouchedRow[]> {
  return run(pool, readRecent, [lookBackMs]);
}

const readSince = statement<TouchedRow>(
  'read-touched-since',
  `select ${COLUMNS} from conversations
   where business_id = $1
     and touched_at > to_timestamp($2::numeric / 1000000) - make_interval(secs => $3::float8 / 1000)
     and touched_at > clock_timestamp() - make_interval(secs => $4::float8 / 1000)
   order by touched_at, id`,
);

/**
 * One business's conversations touched since `sinceMicros`, with `marginMs` before it for late
 * commits, and never older than `replayMs`.
 */
export function readTouchedSince(
  pool: Pool,
  since: {
    readonly businessId: string;
    readonly sinceMicros: string;
    readonly marginMs: number;
    readonly replayMs: number;
  },
): Promise<TouchedRow[]> {
  const { businessId, sinceMicros, marginMs, replayMs } = since;
  return run(pool, readSince, [businessId, sinceMicros, marginMs, replayMs]);
}
