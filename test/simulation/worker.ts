import { parentPort, workerData } from 'node:worker_threads';
import { simulateBatch } from './batch';
import type { SeedOptions } from './simulate';

/** One thread of a simulation: it simulates the batches that it is given and posts their totals. */
export interface Batch {
  readonly from: number;
  readonly count: number;
}

const options = workerData as SeedOptions;
parentPort?.on('message', ({ from, count }: Batch) => {
  parentPort?.postMessage(simulateBatch(from, count, options));
});
