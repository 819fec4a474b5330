/** What of the database an audit looks at, as conditions that each check puts into its SQL. */
export interface Scope {
  /** Rows of the conversations that are looked at: `column` holds their id. */
  readonly among: (column: string) => string;
  /** The same by the lead or the address of a conversation. */
  readonly leads: (column: string) => string;
  readonly addresses: (column: string) => string;
  /** Rows without a conversation that are looked at: `column` says when they came. */
  readonly since: (column: string) => string;
  /** True of what stands still since `seconds`; everything does where nothing else runs. */
  readonly rests: (column: string, seconds: number) => string;
}

/** A fact that must hold at every commit (docs/invariants.md). */
export interface Check {
  /** The invariant or requirement that it belongs to. */
  readonly invariant: string;
  /** The sentence that holds; unique, so it names the check. */
  readonly says: string;
  /**
   * True where it holds only while the loops that repair are running, because it limits how long
   * something may take: `NOW` and `BOUND` may stand in its SQL.
   */
  readonly lively?: true;
  /** Gives the id and the business of each row that breaks it; the business may be null. */
  readonly sql: (scope: Scope) => string;
}

/** The instant of the audit: parameter 1, or the database's clock. */
export const NOW = 'coalesce($1::timestamptz, statement_timestamp())';

/** B of docs/invariants.md as an interval: parameter 2, in milliseconds. */
export const BOUND = 'make_interval(secs => $2::float8 / 1000)';

/** Whether the provider definitely refused an attempt, so that nothing reached the lead. */
export const notAccepted = (attempt: string): string =>
  `exists (select from send_outcomes r where r.attempt_id = ${attempt}.id
     and r.outcome = 'not-accepted')`;

/** When a message was written: by its source, never later than it arrived (T5). */
export const writtenAt = (message: string): string =>
  `least(${message}.source_at, ${message}.received_at)`;
