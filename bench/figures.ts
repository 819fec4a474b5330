export interface Spread {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** The value that the share `q` of the sorted samples does not exceed (nearest rank). */
export function quantile(sorted: readonly number[], q: number): number {
  const rank = Math.max(Math.ceil(q * sorted.length), 1);
  return sorted[rank - 1] ?? Number.NaN;
}

/** The usual figures of some samples; NaN where there are none. */
export function spreadOf(samples: readonly number[]): Spread {
  const sorted = [...samples].sort((left, right) => left - right);
  return {
    count: sorted.length,
    p50: quantile(sorted, 0.5),
    p95: quantile(sorted, 0.95),
    p99: quantile(sorted, 0.99),
    max: sorted.at(-1) ?? Number.NaN,
  };
}
