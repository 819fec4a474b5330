/**
 * Costs relative to a fixed piece of text work of this very process, because machines are shared
 * and noisy: ratios hold where milliseconds do not. One unit is one pass over 100 kB of text, about
 * a millisecond on the machine on which the limits were set.
 */
const SAMPLE = 'Ärger über 60614 Straßen '.repeat(4_000);
const RUNS = 7;

function referenceWork(): number {
  return SAMPLE.normalize('NFKC').toLowerCase().split(/\s+/).length;
}

function elapsedMs(work: () => void): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}

/** How many units the work costs: the best of several runs, each beside a run of the reference. */
export function unitsOf(work: () => void): number {
  let best = Infinity;
  let bestReference = Infinity;
  for (let run = 0; run < RUNS; run += 1) {
    bestReference = Math.min(
      bestReference,
      elapsedMs(() => void referenceWork()),
    );
    best = Math.min(best, elapsedMs(work));
  }
  return best / bestReference;
}
