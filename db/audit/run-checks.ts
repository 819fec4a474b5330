import { run, statement, type Executor, type Statement } from '../database';
import { StatementError } from '../errors';
import type { Check } from './check';
import { CHECKS } from './checks';
import { AT_REST, SCOPES, type AuditScope } from './scopes';

/** A row that breaks a check. */
export interface Finding {
  readonly invariant: string;
  readonly says: string;
  readonly row: string;
  readonly businessId: string | null;
}

/** What became of one check: how many rows break it and the first of them, or why it did not run. */
export interface CheckResult {
  readonly invariant: string;
  readonly says: string;
  readonly tookMs: number;
  readonly violations: number;
  readonly found: readonly Finding[];
  /** The name of the failure; null where it ran to its end. */
  readonly failure: string | null;
}

/** Of a check that many rows break, so many are named. */
const NAMED_MAX = 50;

interface FoundRow extends Finding {
  readonly total: number;
}

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const selectOf = ({ invariant, says }: Check, sql: string): string =>
  `select ${literal(invariant)} as invariant, ${literal(says)} as says, row::text as row,
     business::text as "businessId" from (${sql}) as broken(row, business)`;

/** The parameters stand in every statement, although few checks use them. */
const counted = (select: string): string =>
  `select f.*, count(*) over () as total
   from (${select}) f, (select $1::timestamptz, $2::float8) as audited limit ${NAMED_MAX}`;

const STATEMENTS: Readonly<Record<AuditScope, readonly Statement<FoundRow>[]>> = {
  recent: statementsOf('recent'),
  full: statementsOf('full'),
};

function statementsOf(scope: AuditScope): Statement<FoundRow>[] {
  return CHECKS.map((check, index) =>
    statement<FoundRow>(
      `audit-${scope}-${index}`,
      counted(selectOf(check, check.sql(SCOPES[scope]))),
    ),
  );
}

export interface AuditOptions {
  readonly scope: AuditScope;
  /** B of docs/invariants.md: how long a reply may be owed. */
  readonly boundMs: number;
  readonly now: string | null;
}

/**
 * Runs every check, each as a statement of its own with its own snapshot, so that a slow or
 * failing one keeps no other from being made. Reads only, and waits for no lock of a writer.
 */
export async function runChecks(
  executor: Executor,
  { scope, boundMs, now }: AuditOptions,
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const [index, check] of CHECKS.entries()) {
    const query = STATEMENTS[scope][index];
    if (query === undefined) throw new Error('a check has no statement');
    results.push(await runCheck(executor, check, query, [now, boundMs]));
  }
  return results;
}

async function runCheck(
  executor: Executor,
  { invariant, says }: Check,
  query: Statement<FoundRow>,
  values: readonly unknown[],
): Promise<CheckResult> {
  const started = performance.now();
  const took = () => Math.round(performance.now() - started);
  try {
    const found = await run(executor, query, values);
    const violations = found[0]?.total ?? 0;
    return { invariant, says, tookMs: took(), violations, found, failure: null };
  } catch (error) {
    // A lost connection ends the whole audit; a statement that was too slow is told with the rest.
    if (!(error instanceof StatementError) || error.unavailable) throw error;
    const failure = error.message;
    return { invariant, says, tookMs: took(), violations: 0, found: [], failure };
  }
}

const restingChecks = statement<Finding>(
  'audit-at-rest',
  CHECKS.filter((check) => check.lively !== true)
    .map((check) => selectOf(check, check.sql(AT_REST)))
    .join(' union all '),
);

/**
 * What breaks an invariant in a database in which nothing runs, in one statement; what limits how
 * long something may take is left out, because nothing works there that would keep to it.
 */
export function findBrokenAtRest(executor: Executor): Promise<Finding[]> {
  return run(executor, restingChecks);
}
