import { ActivityFailure, log, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { JobActivities, JobEnd, JobRef } from '../activities/contract';

const { runJob } = proxyActivities<JobActivities>({
  // Above one call's own limit; a second worker's call carries the same id and is dropped there.
  startToCloseTimeout: '30s',
  // The waits between attempts come with each failure (IN4); this one is for what never began.
  retry: {
    initialInterval: '1s',
    backoffCoefficient: 5,
    maximumInterval: '2m',
    maximumAttempts: 10,
  },
});

/** How a job ended, in an operator's words. */
const WORDS: Readonly<Record<string, string>> = {
  ended: 'Done.',
  waits: 'Waits until the credentials of a connected system are mended; then it is started again.',
  review: 'Every attempt failed: a work item in the queue **operators** says why.',
  overtaken: 'A later attempt decided.',
};

/**
 * One delivery job (IN2, IN4): an attempt, and Temporal's retries of it after the waits that each
 * failure names. The row in Postgres is the job; this run is how it is carried out and seen. What
 * it ends with is read by nobody but operators, so that nothing can depend on it (T10).
 */
export async function deliveryJob(ref: JobRef): Promise<void> {
  try {
    const end = await runJob.executeWithOptions({ summary: `attempt ${ref.operation}` }, [ref]);
    setCurrentDetails(inWords(end));
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.warn('a delivery job could not be carried out; its row is looked at again', {
      jobId: ref.jobId,
    });
    setCurrentDetails('Could not be carried out; the row is open and is started again.');
  }
}

/** Whatever the activity gave back, `{}` and nothing included. */
function inWords(end: Partial<JobEnd> | null | undefined): string {
  const words = WORDS[end?.state ?? ''];
  return words ?? 'Ended without a known state; an open row is started again.';
}
