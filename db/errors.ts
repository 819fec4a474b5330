import { DatabaseError } from 'pg';

/** A rolled-back transaction may be run again as a whole after these (deadlock, serialization). */
const RETRYABLE = new Set(['40001', '40P01']);

/** Postgres is starting, stopping, full or gone; the caller may come back later. */
const UNAVAILABLE = new Set([
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '08000',
  '08003',
  '08006',
  '08001',
]);

/**
 * A statement failed. The message holds SQLSTATE and the statement's name, never parameters or
 * Postgres's detail text, which hold personal data and would reach logs and histories.
 */
export class StatementError extends Error {
  override readonly name = 'StatementError';
  constructor(
    readonly statement: string,
    readonly sqlState: string,
    readonly constraint: string | null,
  ) {
    super(`statement ${statement} failed with SQLSTATE ${sqlState}`);
  }

  /** Says whether running the whole transaction again may succeed. */
  get retryable(): boolean {
    return RETRYABLE.has(this.sqlState);
  }

  /** Says whether Postgres could not be reached or refused for want of resources. */
  get unavailable(): boolean {
    return UNAVAILABLE.has(this.sqlState);
  }
}

/** COMMIT was sent and its answer never came: the facts may be there or not. */
export class CommitUnknownError extends Error {
  override readonly name = 'CommitUnknownError';
  constructor() {
    super('the outcome of COMMIT is unknown: the connection ended before the answer');
  }
}

/** Translates whatever the driver threw into a `StatementError` without personal data. */
export function toStatementError(statement: string, error: unknown): StatementError {
  if (error instanceof StatementError) return error;
  if (error instanceof DatabaseError) {
    return new StatementError(statement, error.code ?? 'XX000', error.constraint ?? null);
  }
  // The driver's own errors (socket closed, pool timeout) carry no SQLSTATE: the connection class.
  return new StatementError(statement, '08006', null);
}
