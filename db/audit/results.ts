import type { Pool, PoolClient } from 'pg';
import { inTransaction, run, runOne, statement, type Executor } from '../database';
import type { CheckResult } from './run-checks';
import type { AuditScope } from './scopes';

/** Any number that nothing else locks: one audit at a time, whichever process makes it. */
const AUDIT_LOCK = 7_214_220_816;

const tryLock = statement<{ locked: boolean }>(
  'try-audit-lock',
  `select pg_try_advisory_lock(${AUDIT_LOCK}) as locked`,
);

const unlock = statement('unlock-audit', `select pg_advisory_unlock(${AUDIT_LOCK})`);

/**
 * Runs `work` as the only audit of the database, on the given connection; null where another copy
 * is at it, which is as good.
 */
export async function asOnlyAudit<Result>(
  client: PoolClient,
  work: () => Promise<Result>,
): Promise<Result | null> {
  const { locked } = await runOne(client, tryLock);
  if (!locked) return null;
  try {
    return await work();
  } finally {
    await run(client, unlock);
  }
}

export interface AuditAges {
  /** Seconds since the oldest result of a scope; null where no audit has ended yet. */
  readonly recentSeconds: number | null;
  readonly fullSeconds: number | null;
}

const readAges = statement<AuditAges>(
  'read-audit-ages',
  `select
     extract(epoch from n.at - min(checked_at) filter (where scope = 'recent'))::float8
       as "recentSeconds",
     extract(epoch from n.at - min(checked_at) filter (where scope = 'full'))::float8
       as "fullSeconds"
   from (select coalesce($1::timestamptz, clock_timestamp()) as at) n
   left join audit_results on true group by n.at`,
);

/** How old the audits are; a check that could not be made keeps its age growing. */
export function readAuditAges(executor: Executor, now: string | null): Promise<AuditAges> {
  return runOne(executor, readAges, [now]);
}

const keepResults = statement(
  'keep-audit-results',
  `insert into audit_results (says, scope, invariant, violations, took_ms, checked_at)
   select r.says, $2, r.invariant, r.violations, r."tookMs",
     coalesce($3::timestamptz, clock_timestamp())
   from jsonb_to_recordset($1::jsonb)
     as r(says text, invariant text, violations int, "tookMs" int)
   on conflict (says, scope) do update set invariant = excluded.invariant,
     violations = excluded.violations, took_ms = excluded.took_ms,
     checked_at = excluded.checked_at`,
);

const forgetFindings = statement(
  'forget-audit-findings',
  `delete from audit_findings f where f.scope = $2 and not exists (
     select from jsonb_to_recordset($1::jsonb) as r(says text, "row" text)
     where r.says = f.says and r."row" = f.row_id)
   and not f.says = any($3)`,
);

const keepFindings = statement(
  'keep-audit-findings',
  `insert into audit_findings (says, scope, row_id, business_id, found_at)
   select distinct r.says, $2, r."row", r."businessId",
     coalesce($3::timestamptz, clock_timestamp())
   from jsonb_to_recordset($1::jsonb) as r(says text, "row" text, "businessId" text)
   on conflict do nothing`,
);

const forgetResults = statement(
  'forget-old-audit-results',
  `delete from audit_results where not says = any($1)`,
);

/**
 * Stores what an audit said in place of what the one before it said. A check that could not be made
 * keeps its old result and its age; a check that no longer exists is forgotten.
 */
export async function storeResults(
  pool: Pool,
  scope: AuditScope,
  results: readonly CheckResult[],
  now: string | null,
): Promise<void> {
  const made = results.filter(({ failure }) => failure === null);
  const failed = results.filter(({ failure }) => failure !== null).map(({ says }) => says);
  const found = JSON.stringify(made.flatMap((result) => result.found));
  await inTransaction(pool, async (client) => {
    await run(client, forgetResults, [results.map(({ says }) => says)]);
    await run(client, keepResults, [
      JSON.stringify(made.map(({ found: _found, failure: _failure, ...result }) => result)),
      scope,
      now,
    ]);
    await run(client, forgetFindings, [found, scope, failed]);
    await run(client, keepFindings, [found, scope, now]);
  });
}

export interface StoredResult {
  readonly invariant: string;
  readonly says: string;
  /** How many rows break it, in the audit that found more of them. */
  readonly violations: number;
  readonly checkedAt: string;
  /** The last audit of everything; null before the first one. */
  readonly fullyCheckedAt: string | null;
  /** Ids of the caller's own business, the first found first. */
  readonly rows: readonly string[];
}

const readResults = statement<StoredResult>(
  'read-audit-results',
  `select r.invariant, r.says, max(r.violations) as violations,
     to_char(max(r.checked_at), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "checkedAt",
     to_char(max(r.checked_at) filter (where r.scope = 'full'), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
       as "fullyCheckedAt",
     (select coalesce(jsonb_agg(f.row_id order by f.found_at, f.row_id), '[]') from (
        select row_id, min(found_at) as found_at from audit_findings
        where audit_findings.says = r.says and business_id = $1 group by row_id) f) as rows
   from audit_results r group by r.invariant, r.says`,
);

/** What the audits said last, with the rows of one business only. */
export function readAuditResults(executor: Executor, businessId: string): Promise<StoredResult[]> {
  return run(executor, readResults, [businessId]);
}
