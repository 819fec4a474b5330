import type { Pool, PoolClient } from 'pg';
import { inTransaction, run, runOne, statement } from '../database';

const enterBusiness = statement(
  'enter-business-to-read',
  `select set_config('unsilent.business_id', $1, true), set_config('transaction_read_only', 'on', true)`,
);

/**
 * Runs reads as the staff role for one business: the first statement names the business, and
 * row-level security shows nothing else (SEC1). The transaction cannot write.
 */
export async function readAsStaff<Result>(
  pool: Pool,
  businessId: string,
  read: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  return inTransaction(pool, async (client) => {
    await run(client, enterBusiness, [businessId]);
    return read(client);
  });
}

/**
 * SQL for an instant as ISO 8601 in UTC with six decimals: every browser reads it, microseconds
 * survive, and its texts sort as the instants do.
 */
export function iso(column: string): string {
  return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

/** Where a page ends: the instant and the id of its last row. */
export interface PageMark {
  readonly at: string;
  readonly id: string;
}

const readClock = statement<{ now: string }>(
  'read-staff-clock',
  `select ${iso('clock_timestamp()')} as now`,
);

/** The database's clock, by which a reader reckons ages. */
export function readStaffClock(client: PoolClient): Promise<{ now: string }> {
  return runOne(client, readClock);
}
