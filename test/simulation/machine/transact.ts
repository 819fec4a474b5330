import type { TransactionFault } from './actions';
import { countFault, databaseNowMs, noteSometimes, type World } from './world';

/** Postgres did not answer; whether it committed is not known to whoever asked. */
export class PostgresError extends Error {
  override readonly name = 'PostgresError';
}

/**
 * Runs one transaction at the database's clock. It is one step of the simulation, so nothing comes
 * between its statements. Throws `PostgresError` where its answer does not arrive.
 */
export function transact<Result>(
  world: World,
  fault: TransactionFault | undefined,
  work: (nowMs: number) => Result,
): Result {
  if (world.postgresUpAtMs > world.nowMs) throw new PostgresError();
  if (fault !== undefined) countFault(world, `transaction ${fault}`);
  if (fault === 'lost') noteSometimes(world, 'commit unknown, not committed');
  if (fault === 'lost' || fault === 'refused') throw new PostgresError();
  world.facts.commits += 1;
  const result = work(databaseNowMs(world));
  if (fault !== 'kept') return result;
  noteSometimes(world, 'commit unknown, committed');
  throw new PostgresError();
}
