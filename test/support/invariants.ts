import type { Executor } from '../../db/database';
import { findBrokenAtRest } from '../../db/audit/run-checks';

/**
 * The invariants of docs/invariants.md that are visible in Postgres, each broken one as a line with
 * its id and the row. Empty where all hold. Needs the owner, who sees every table.
 */
export async function violations(executor: Executor): Promise<string[]> {
  const found = await findBrokenAtRest(executor);
  return found.map(({ invariant, says, row }) => `${invariant} is broken (${says}): ${row}`);
}
