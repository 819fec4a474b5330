import { retryDelayMs } from './retry';

/**
 * What follows a receipt that owes an answer (IN2). `initial-response` is the answer itself: nobody
 * runs it, and its state is derived from debt and outbox.
 */
export const JOB_OPERATIONS = ['initial-response', 'crm-upsert', 'audit-export'] as const;
export type JobOperation = (typeof JOB_OPERATIONS)[number];

/** The operations that a worker runs. */
export type RunOperation = Exclude<JobOperation, 'initial-response'>;

/** States of a job (IN4). */
export type JobState = 'queued' | 'running' | 'succeeded' | 'review';

/** Which integrations an operation writes to. A business with none of them owes it nothing. */
export const INTEGRATION_KINDS = {
  'crm-upsert': ['crm-webhook'],
  'audit-export': ['audit-webhook', 'audit-file'],
} as const satisfies Record<RunOperation, readonly string[]>;

/** Where a job writes to. */
export type JobIntegrationKind = (typeof INTEGRATION_KINDS)[RunOperation][number];

/**
 * What is known of one call of a job. `refused` is final for this content, `paused` waits for
 * credentials, `not-accepted` surely had no effect, `unknown` may have had it.
 */
export interface CallResult {
  readonly outcome: 'accepted' | 'refused' | 'not-accepted' | 'unknown' | 'paused';
  /** A status or a system's short code; never content. */
  readonly code: string | null;
  readonly retryAfterMs: number | null;
}

export type JobVerdict =
  | { readonly kind: 'succeeded' }
  /** Only refused credentials are left: the job is queued and goes on once they are mended. */
  | { readonly kind: 'waits'; readonly code: string }
  | { readonly kind: 'retry'; readonly code: string; readonly delayMs: number }
  | { readonly kind: 'review'; readonly code: string };

/** Whoever asks for a longer wait than this is looked at by a person. */
const RETRY_AFTER_MS_MAX = 86_400_000;

/**
 * What becomes of a job, from what is known of each of its integrations after the `failures`-th
 * failed attempt (IN4): tried again after 1, 5, 30 and 120 s plus jitter and never before
 * Retry-After, then review. `random` in [0, 1) is drawn by the caller.
 */
export function judgeJob(
  results: readonly CallResult[],
  failures: number,
  random: number,
): JobVerdict {
  const failed = results.filter(isFailure);
  if (failed[0] !== undefined) {
    const code = failed[0].code ?? 'unknown';
    const asked = failed.map(({ retryAfterMs }) => retryAfterMs ?? 0);
    const retryAfterMs = Math.max(...asked);
    const delayMs = retryDelayMs(failures, random, retryAfterMs);
    return delayMs === null || retryAfterMs > RETRY_AFTER_MS_MAX
      ? { kind: 'review', code }
      : { kind: 'retry', code, delayMs };
  }
  const paused = results.find(({ outcome }) => outcome === 'paused');
  if (paused !== undefined) return { kind: 'waits', code: paused.code ?? 'paused' };
  const refused = results.find(({ outcome }) => outcome === 'refused');
  if (refused !== undefined) return { kind: 'review', code: refused.code ?? 'refused' };
  return { kind: 'succeeded' };
}

function isFailure({ outcome }: CallResult): boolean {
  return outcome === 'not-accepted' || outcome === 'unknown';
}

/** What debt and outbox say about the answer to one message. */
export interface ResponseFacts {
  /** How its debt ended; null while it is owed. */
  readonly settlement: 'reply' | 'person' | 'no-answer' | 'work-item' | null;
  /** True while the work item that took the debt is open. */
  readonly itemOpen: boolean;
  /** True while an answer that covers it is on its way to the provider. */
  readonly inFlight: boolean;
}

/** The derived state of `initial-response` (IN2, IN4): an item that nobody settled is its review. */
export function initialResponseState(facts: ResponseFacts): JobState {
  if (facts.settlement === null) return facts.inFlight ? 'running' : 'queued';
  return facts.settlement === 'work-item' && facts.itemOpen ? 'review' : 'succeeded';
}
