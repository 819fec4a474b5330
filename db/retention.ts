import type { Pool } from 'pg';
import { run, statement } from './database';

const emptyBodies = statement<{ id: string }>(
  'empty-old-raw-bodies',
  `update raw_deliveries set body = null
   where id in (
     select id from raw_deliveries
     where body is not null
       and received_at < coalesce($1::timestamptz, clock_timestamp()) - make_interval(days => $2)
     order by received_at limit $3)
   returning id`,
);

/**
 * Empties raw bodies older than `days` days, in batches, as the retention role (C11). The row and
 * its digest stay, so that INV-1 can still be shown. Returns how many were emptied.
 */
export async function emptyOldRawBodies(
  pool: Pool,
  options: { readonly days: number; readonly now: string | null },
): Promise<number> {
  const batch = 500;
  let emptied = 0;
  for (;;) {
    const rows = await run(pool, emptyBodies, [options.now, options.days, batch]);
    emptied += rows.length;
    if (rows.length < batch) return emptied;
  }
}
