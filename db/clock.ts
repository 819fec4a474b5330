/**
 * Whose "now" the rules read. Production passes null, and SQL uses its own clock after the locks
 * are held, so that all hosts share one; tests pass the time-skipping environment's.
 */
export interface Clock {
  /** ISO 8601, or null for the database's clock. */
  now(): Promise<string | null>;
}

/** The database's clock. */
export const databaseClock: Clock = { now: () => Promise.resolve(null) };
