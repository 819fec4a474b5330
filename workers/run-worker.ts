import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  DefaultLogger,
  makeTelemetryFilterString,
  NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import type { Config } from '../config/env';
import type { Logger } from '../config/logger';
import type { readTemporalConfig } from '../config/temporal';
import { pause } from '../upkeep/loop';

export type WorkOptions = Pick<WorkerOptions, 'taskQueue' | 'activities'> & Partial<WorkerOptions>;

/** Installs the native runtime once per process, with our log; signals are handled by `main`. */
export function installRuntime(log: Logger): void {
  Runtime.install({
    shutdownSignals: [],
    // What the SDK says of its own work is for debugging; only its warnings are ours.
    logger: new DefaultLogger('WARN', ({ level, message }) => {
      if (level === 'ERROR') log.error({ source: 'temporal' }, message);
      else log.warn({ source: 'temporal' }, message);
    }),
    telemetryOptions: {
      logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) },
    },
  });
}

export interface WorkerSurroundings {
  readonly config: Config;
  readonly log: Logger;
  readonly temporal: ReturnType<typeof readTemporalConfig>;
  readonly signal: AbortSignal;
}

/**
 * Runs one worker until the signal: connects as soon as Temporal is there, and starts again when
 * the worker itself fails, so that an outage of Temporal ends by itself.
 */
export async function runWorker(
  surroundings: WorkerSurroundings,
  work: WorkOptions,
): Promise<void> {
  const { log, signal } = surroundings;
  while (!signal.aborted) {
    try {
      await runOnce(surroundings, work);
    } catch (error) {
      log.error({ queue: work.taskQueue, error }, 'a worker failed and is started again');
      await pause(1_000, signal);
    }
  }
}

async function runOnce(
  { config, temporal, signal }: WorkerSurroundings,
  work: WorkOptions,
): Promise<void> {
  const connection = await NativeConnection.connect({
    ...temporal.connectionOptions,
    // Ids and durations are too short to gain from gzip; packing them cost a tenth of the CPU.
    grpcCompression: { codec: 'none' },
  });
  try {
    const worker = await Worker.create({
      connection,
      namespace: temporal.namespace,
      workflowBundle: { codePath: bundlePath(config) },
      // A killed worker's conversations move to another one within a second (temporal.md 3.3).
      stickyQueueScheduleToStartTimeout: '1s',
      // Measured after 1,200 leads: 1,000 cached runs cost 540 MB, 100 cost 345 MB, and no more CPU.
      maxCachedWorkflows: 250,
      shutdownGraceTime: '15s',
      shutdownForceTime: '20s',
      defaultHeartbeatThrottleInterval: '1s',
      maxHeartbeatThrottleInterval: '1s',
      ...work,
    });
    const stop = (): void => {
      if (worker.getState() === 'RUNNING') worker.shutdown();
    };
    signal.addEventListener('abort', stop);
    const running = worker.run();
    if (signal.aborted) stop();
    await running;
    signal.removeEventListener('abort', stop);
  } finally {
    await connection.close();
  }
}

/** The prebuilt bundle beside the compiled code: no webpack at start (performance.md). */
function bundlePath(config: Config): string {
  const path = config.WORKFLOW_BUNDLE ?? join(__dirname, '..', 'workflow-bundle.js');
  if (!existsSync(path)) {
    throw new Error(`the workflow bundle is missing at ${path}; run "npm run build" first`);
  }
  return path;
}
