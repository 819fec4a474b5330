import { Pool, types, type CustomTypesConfig, type PoolClient } from 'pg';
import { CommitUnknownError, StatementError, toStatementError } from './errors';

const { TIMESTAMPTZ, INT8 } = types.builtins;

/**
 * Instants stay text, so that microseconds survive (T2). bigint columns of ours are sequence
 * numbers and counts far below 2^53, so they become numbers.
 */
const parsers: CustomTypesConfig = {
  getTypeParser: (oid, format) => {
    if (oid === TIMESTAMPTZ) return asText;
    if (oid === INT8) return Number;
    return types.getTypeParser(oid, format) as TypeParser;
  },
};

type TypeParser = (value: string) => unknown;

function asText(value: string): string {
  return value;
}

/** A named, prepared statement. The name is all that errors and logs show of it. */
export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  /** Carries the row type; never present at run time. */
  readonly row?: Row;
}

/** Declares a statement with the type of its rows. */
export function statement<Row = Record<string, never>>(name: string, text: string): Statement<Row> {
  return { name, text };
}

/** What runs statements: a pool (each its own transaction) or a transaction's client. */
export type Executor = Pick<PoolClient, 'query'>;

/** Runs a statement and returns its rows. Throws `StatementError`. */
export async function run<Row>(
  executor: Executor,
  query: Statement<Row>,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  try {
    const result = await executor.query({
      name: query.name,
      text: query.text,
      values: [...values],
    });
    return result.rows as Row[];
  } catch (error) {
    throw toStatementError(query.name, error);
  }
}

/** Runs a statement that returns exactly one row. More or fewer is an assertion. */
export async function runOne<Row>(
  executor: Executor,
  query: Statement<Row>,
  values: readonly unknown[] = [],
): Promise<Row> {
  const rows = await run(executor, query, values);
  const row = rows[0];
  if (row === undefined || rows.length !== 1) {
    throw new Error(`statement ${query.name} returned ${rows.length} rows, one was expected`);
  }
  return row;
}

export interface PoolOptions {
  readonly connectionString: string;
  readonly max: number;
  readonly applicationName: string;
  /** Called when an idle connection dies; without a listener it would end the process. */
  readonly onError: (error: StatementError) => void;
  readonly statementTimeoutMs?: number;
  readonly lockTimeoutMs?: number;
  /** How long an answer may take before the connection counts as lost. */
  readonly answerTimeoutMs?: number;
}

/** Beyond the server's own limit, which ends a slow statement with an answer. */
const ANSWER_GRACE_MS = 5_000;

/**
 * Opens a pool in UTC. Statements wait for locks and run no longer than the given limits, and a
 * connection on which no answer comes any more is ended: a COMMIT through a network that went
 * silent would otherwise hold its caller and its place in the pool for ever. A commit waits for
 * the disk, whatever the server is set to, because a webhook is answered after it (IN2).
 */
export function openPool(options: PoolOptions): Pool {
  const statementTimeoutMs = options.statementTimeoutMs ?? 10_000;
  const settings = [
    '-c timezone=UTC',
    '-c synchronous_commit=on',
    `-c statement_timeout=${statementTimeoutMs}`,
    `-c lock_timeout=${options.lockTimeoutMs ?? 5_000}`,
    '-c idle_in_transaction_session_timeout=15000',
  ].join(' ');
  const pool = new Pool({
    connectionString: options.connectionString,
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: 3_000,
    idleTimeoutMillis: 60_000,
    query_timeout: options.answerTimeoutMs ?? statementTimeoutMs + ANSWER_GRACE_MS,
    options: settings,
    types: parsers,
    pipeline: true,
  });
  pool.on('error', (error) => {
    options.onError(toStatementError('idle-connection', error));
  });
  // A checked-out connection may die between two statements; the next statement reports it.
  pool.on('connect', (client) => client.on('error', ignoreConnectionLoss));
  return pool;
}

function ignoreConnectionLoss(): void {
  // The statement in flight or the next one rejects with the same loss, which is where it counts.
}

const TRANSACTION_TRIES = 5;

/**
 * Runs `work` in one READ COMMITTED transaction and commits. Deadlocks and serialization failures
 * run the whole of it again, at most five times, with jitter; effects outside the database
 * therefore never stand inside `work`. Throws `CommitUnknownError` when the answer to COMMIT was
 * lost, `StatementError` otherwise.
 */
export async function inTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await runTransaction(pool, work);
    } catch (error) {
      const again =
        error instanceof StatementError && error.retryable && attempt < TRANSACTION_TRIES;
      if (!again) throw error;
      await pause(attempt * 10 + Math.random() * 20);
    }
  }
}

async function runTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect().catch((error: unknown) => {
    throw toStatementError('connect', error);
  });
  let broken = false;
  try {
    // BEGIN shares the round trip of the first statement: the connection is pipelined.
    const begun = client.query('begin');
    begun.catch(ignoreConnectionLoss);
    const result = await work(client);
    await begun;
    await commit(client);
    return result;
  } catch (error) {
    broken = !(await rollBack(client, error));
    throw error;
  } finally {
    client.release(broken);
  }
}

async function commit(client: PoolClient): Promise<void> {
  try {
    const answer = await client.query('commit');
    // A transaction in the failed state answers COMMIT with ROLLBACK and no error.
    if (answer.command !== 'COMMIT') throw new StatementError('commit', '25P02', null);
  } catch (error) {
    const translated = toStatementError('commit', error);
    if (translated.unavailable) throw new CommitUnknownError();
    throw translated;
  }
}

/** Returns false when the connection must not go back to the pool. */
async function rollBack(client: PoolClient, cause: unknown): Promise<boolean> {
  if (cause instanceof CommitUnknownError) return false;
  if (cause instanceof StatementError && cause.unavailable) return false;
  try {
    await client.query('rollback');
    return true;
  } catch {
    // The connection is gone, and with it the transaction; the cause is thrown by the caller.
    return false;
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
