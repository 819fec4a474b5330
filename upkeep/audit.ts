import type { Pool, PoolClient } from 'pg';
import type { Clock } from '../db/clock';
import { asOnlyAudit, readAuditAges, storeResults } from '../db/audit/results';
import { runChecks, type CheckResult } from '../db/audit/run-checks';
import type { AuditScope } from '../db/audit/scopes';
import { rollUpFigures } from '../db/figure-rollups';

/** The loop comes by this often; every minute it looks at what was touched in the last hours. */
export const AUDIT_EVERY_MS = 60_000;

/** Two processes run the loop; what the other audited just now is not audited again. */
const FRESH_SECONDS = 45;

/** And so often at everything, because what breaks may be old. */
const FULL_EVERY_SECONDS = 6 * 3_600;

/** The part of a log that the audit needs: a broken invariant is the worst there is. */
export interface AuditLog {
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
  fatal(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface AuditDependencies {
  /** A pool of its own, so that an audit keeps nothing else waiting; its statements are limited. */
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: AuditLog;
  /** B of docs/invariants.md: how long a reply may be owed. */
  readonly boundMs: number;
}

export interface Audited {
  readonly scopes: readonly AuditScope[];
  /** How many rows break a check. */
  readonly violations: number;
}

/**
 * One round of the auditor: what was touched lately, and every six hours everything. It reads
 * only, one statement per check, and stores what each said; a broken one is logged as `fatal` with
 * ids. Null where another process is at it or was a moment ago.
 */
export async function auditOnce(dependencies: AuditDependencies): Promise<Audited | null> {
  const client = await dependencies.pool.connect();
  let unusable = true;
  try {
    const audited = await asOnlyAudit(client, () => auditAlone(dependencies, client));
    unusable = false;
    return audited;
  } finally {
    // A connection that failed may still hold the lock of the audit; it ends with the connection.
    client.release(unusable);
  }
}

async function auditAlone(
  dependencies: AuditDependencies,
  client: PoolClient,
): Promise<Audited | null> {
  const { pool, boundMs } = dependencies;
  const now = await dependencies.clock.now();
  const ages = await readAuditAges(client, now);
  const scopes: AuditScope[] = [];
  if ((ages.recentSeconds ?? Infinity) >= FRESH_SECONDS) scopes.push('recent');
  if ((ages.fullSeconds ?? Infinity) >= FULL_EVERY_SECONDS) scopes.push('full');
  if (scopes.length === 0) return null;
  let violations = 0;
  for (const scope of scopes) {
    const results = await runChecks(client, { scope, boundMs, now });
    await storeResults(pool, scope, results, now);
    tell(dependencies.log, scope, results);
    violations += results.reduce((sum, result) => sum + result.violations, 0);
  }
  await rollUpFigures(pool, now);
  return { scopes, violations };
}

function tell(log: AuditLog, scope: AuditScope, results: readonly CheckResult[]): void {
  for (const { invariant, says, violations, found, failure } of results) {
    if (failure !== null) log.error({ invariant, says, scope, failure }, 'a check was not made');
    if (violations === 0) continue;
    const ids = found.map(({ row }) => row);
    log.fatal({ invariant, says, scope, violations, ids }, 'an invariant is broken');
  }
}
