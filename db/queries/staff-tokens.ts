import type { Pool } from 'pg';
import { run, statement } from '../database';
import { sha256 } from '../digest';

export interface StaffTokenRow {
  readonly businessId: string;
  readonly role: string;
}

const findToken = statement<StaffTokenRow>(
  'find-staff-token',
  `select business_id as "businessId", role from staff_tokens where token_sha256 = $1`,
);

/**
 * Whose bearer token this is; null where nobody's. Only its digest is stored and compared. Runs as
 * the service role, because staff cannot read tokens.
 */
export async function findStaffToken(pool: Pool, token: string): Promise<StaffTokenRow | null> {
  const [row] = await run(pool, findToken, [sha256(token)]);
  return row ?? null;
}
