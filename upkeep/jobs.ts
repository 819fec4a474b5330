import type { Client } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { Pool } from 'pg';
import type { Reach } from '../config/failpoints';
import type { Clock } from '../db/clock';
import { listStartableJobs, noteStartedJobs, type StartableJob } from '../db/jobs';
import {
  businessKey,
  DELIVERY_JOB_WORKFLOW,
  deliveryJobWorkflowId,
  UPKEEP_QUEUE,
} from '../workflows/contract';
import type { UpkeepLog } from './waker';

/** Per tick, so that a backlog starves nobody; what is left follows at the next one. */
const STARTS_PER_TICK_MAX = 25;
const STARTS_PER_BUSINESS_MAX = 10;
const DEADLINE_MS = 1_000;

export interface JobLoopDependencies {
  readonly pool: Pool;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: UpkeepLog;
  /** Says that a named point was reached; in production nobody listens. */
  readonly reach?: Reach;
}

/**
 * One tick of the job loop: starts the workflow of every open job that is due (IN2). It claims
 * nothing. A start of a running workflow is that run, a refused one is tried again at the next
 * tick, an accepted one again later as long as the row is open: a lost task, run or store costs
 * time only (R6). Returns how many starts Temporal accepted and refused.
 */
export async function startJobsOnce(
  dependencies: JobLoopDependencies,
): Promise<{ started: number; refused: number }> {
  const { pool, clock, reach } = dependencies;
  const now = await clock.now();
  const jobs = await listStartableJobs(pool, {
    limit: STARTS_PER_TICK_MAX,
    perBusiness: STARTS_PER_BUSINESS_MAX,
    now,
  });
  if (jobs.length > 0) await reach?.('job:starting', String(jobs.length));
  const accepted = await Promise.all(jobs.map((job) => start(dependencies, job)));
  const started = jobs.filter((_job, index) => accepted[index] === true).map(({ id }) => id);
  if (started.length > 0) await reach?.('job:started', String(started.length));
  await noteStartedJobs(pool, started, now);
  return { started: started.length, refused: jobs.length - started.length };
}

async function start({ client, log }: JobLoopDependencies, job: StartableJob): Promise<boolean> {
  try {
    await client.withDeadline(Date.now() + DEADLINE_MS, () =>
      client.workflow.start(DELIVERY_JOB_WORKFLOW, {
        workflowId: deliveryJobWorkflowId(job.id),
        taskQueue: UPKEEP_QUEUE,
        args: [{ jobId: job.id, operation: job.operation }],
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        staticSummary: `${job.operation} ${job.id}`,
        typedSearchAttributes: new TypedSearchAttributes([
          { key: businessKey, value: job.businessId },
        ]),
      }),
    );
    return true;
  } catch (error) {
    log.warn({ jobId: job.id, error }, 'a delivery job was not started');
    return false;
  }
}
