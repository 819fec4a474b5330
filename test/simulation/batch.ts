import type { Endings } from './check/liveness';
import { simulateSeed, type SeedOptions } from './simulate';

/** What a number of seeds did together. */
export interface Totals extends Endings {
  seeds: number;
  events: number;
  faults: number;
  /** Simulated time, in days of one business. */
  days: number;
  readonly sometimes: Record<string, number>;
  readonly faultKinds: Record<string, number>;
  /** Seeds at which an invariant broke, and how. */
  readonly broken: { readonly seed: number; readonly violations: readonly string[] }[];
}

export function noTotals(): Totals {
  return {
    seeds: 0,
    events: 0,
    faults: 0,
    days: 0,
    answered: 0,
    handedOver: 0,
    handedOverByFault: 0,
    unknown: 0,
    noAnswer: 0,
    sometimes: {},
    faultKinds: {},
    broken: [],
  };
}

const SUMMED = [
  ...(['seeds', 'events', 'faults', 'days', 'answered', 'handedOver'] as const),
  ...(['handedOverByFault', 'unknown', 'noAnswer'] as const),
] as const;

/** Adds what another batch did. */
export function addTotals(sum: Totals, more: Totals): void {
  for (const key of SUMMED) sum[key] += more[key];
  addCounts(sum.sometimes, more.sometimes);
  addCounts(sum.faultKinds, more.faultKinds);
  sum.broken.push(...more.broken);
}

function addCounts(sum: Record<string, number>, more: Record<string, number>): void {
  for (const [key, count] of Object.entries(more)) sum[key] = (sum[key] ?? 0) + count;
}

const DAY_MS = 86_400_000;

/** Simulates the seeds `from` to `from + count - 1`, one after the other. */
export function simulateBatch(from: number, count: number, options: SeedOptions): Totals {
  const totals = noTotals();
  for (let seed = from; seed < from + count; seed += 1) {
    const { world, violations, endings } = simulateSeed(seed, options);
    const faults = Object.values(world.faults).reduce((sum, one) => sum + one, 0);
    addTotals(totals, {
      ...endings,
      seeds: 1,
      events: world.events,
      faults,
      days: (world.nowMs - world.options.startsAtMs) / DAY_MS,
      sometimes: world.sometimes,
      faultKinds: world.faults,
      broken: violations.length > 0 ? [{ seed, violations }] : [],
    });
  }
  return totals;
}
