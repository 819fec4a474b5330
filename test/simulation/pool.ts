import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { addTotals, noTotals, type Totals } from './batch';
import type { SeedOptions } from './simulate';
import type { Batch } from './worker';

/** Few seeds, so that no thread waits long for the last batch of another. */
const BATCH_SEEDS = 100;

/** Stop once so many seeds failed: they mostly tell of one mistake. */
const BROKEN_MAX = 20;

export interface PoolOptions extends SeedOptions {
  readonly from: number;
  readonly seeds: number;
  readonly workers: number;
  readonly onProgress: (sum: Totals) => void;
}

/** Simulates seeds on several threads and adds up what they did. */
export async function simulateSeeds(options: PoolOptions): Promise<Totals> {
  const sum = noTotals();
  const batches = batchesOf(options.from, options.seeds);
  const threads = Array.from({ length: options.workers }, () =>
    runThread(options, batches, (totals) => {
      addTotals(sum, totals);
      options.onProgress(sum);
      if (sum.broken.length >= BROKEN_MAX) batches.length = 0;
    }),
  );
  await Promise.all(threads);
  return sum;
}

function batchesOf(from: number, seeds: number): Batch[] {
  const batches: Batch[] = [];
  for (let start = from; start < from + seeds; start += BATCH_SEEDS) {
    batches.push({ from: start, count: Math.min(BATCH_SEEDS, from + seeds - start) });
  }
  return batches.reverse();
}

/** Gives one thread a batch after another, until none is left. */
function runThread(
  { steps, mutant }: SeedOptions,
  batches: Batch[],
  onTotals: (totals: Totals) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(join(__dirname, 'worker.js'), { workerData: { steps, mutant } });
    const next = (): void => {
      const batch = batches.pop();
      if (batch === undefined) void thread.terminate();
      else thread.postMessage(batch);
    };
    thread.on('message', (totals: Totals) => {
      onTotals(totals);
      next();
    });
    thread.on('error', reject);
    thread.on('exit', () => resolve());
    next();
  });
}
