/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
export function makeRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface ArrivalPlan {
  /** Mean leads a second. */
  readonly rate: number;
  readonly durationMs: number;
  readonly seed: number;
}

/**
 * Arrival times in ms from the start, in order: a Poisson process, fixed before the first request
 * leaves, so that a slow answer never delays the next lead (open loop).
 */
export function planArrivals({ rate, durationMs, seed }: ArrivalPlan): number[] {
  const random = makeRandom(seed);
  const arrivals: number[] = [];
  let at = 0;
  for (;;) {
    at += (-Math.log(1 - random()) * 1_000) / rate;
    if (at >= durationMs) return arrivals;
    arrivals.push(at);
  }
}
