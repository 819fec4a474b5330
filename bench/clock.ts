/**
 * Milliseconds of the system's monotonic clock. All processes of one machine read the same one
 * (CLOCK_MONOTONIC on Linux), so a duration may begin in one process and end in another, and no
 * correction of the wall clock bends it.
 */
export function sharedMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** The wall clock in epoch ms with its fractions, for joining with instants of Postgres. */
export function wallMs(): number {
  return performance.timeOrigin + performance.now();
}
