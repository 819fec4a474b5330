import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { Pool } from 'pg';
import { z } from 'zod';
import type { PostOutcome, PostSigned } from '../channels/port';
import type { Reach } from '../config/failpoints';
import type { Clock } from '../db/clock';
import { readContact } from '../db/contact';
import { readIntakeAudit } from '../db/intake-audit';
import { beginJob, endJobAttempt, type JobAttempt, type JobTarget } from '../db/jobs';
import type { CallResult } from '../domain/jobs';
import { CALL_TIMEOUT_MS } from '../domain/limits';
import type { AppendAudit } from './audit-file';
import type { JobActivities, JobEnd, JobRef } from './contract';
import type { ActivityLog } from './dependencies';

export interface JobDependencies {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: ActivityLog;
  readonly post: PostSigned;
  readonly append: AppendAudit;
  /** Says that a named point was reached; in production nobody listens. */
  readonly reach?: Reach;
}

/** The activities of delivery jobs, over their dependencies. */
export function makeJobActivities(dependencies: JobDependencies): JobActivities {
  return { runJob: (ref) => runJob(dependencies, ref) };
}

/**
 * Makes one attempt of a job (IN2, IN4): the operation rows are committed before the calls, each
 * call carries the job key as its id, and the result is filed by compare-and-set. It runs at least
 * once. Where an outcome is unknown the same id is posted again, because the receiver drops an id
 * that it has seen; a file is read for it instead. A failed attempt throws with the wait until the
 * next, so that Temporal's own retry shows every attempt; so does one that comes before the wait
 * is over, without having been an attempt.
 */
async function runJob(dependencies: JobDependencies, { jobId }: JobRef): Promise<JobEnd> {
  const { pool, clock, log, reach } = dependencies;
  const start = await beginJob(pool, jobId, await clock.now());
  if (start.kind === 'nothing') return { state: start.state };
  if (start.kind === 'early') {
    throw again('JobNotDue', `not due for ${start.waitMs} ms`, start.waitMs);
  }
  const { attempt } = start;
  await reach?.('job:begun', jobId);
  const results = await callAll(dependencies, attempt);
  await reach?.('job:called', jobId);
  const draw = { random: Math.random(), now: await clock.now() };
  const verdict = await endJobAttempt(pool, attempt, results, draw);
  await reach?.('job:ended', jobId);
  if (verdict === null) return { state: 'overtaken' };
  if (verdict.kind === 'succeeded') return { state: 'ended' };
  const { code } = verdict;
  log.warn({ jobId, operation: attempt.operation, attempt: attempt.attempt, code }, verdict.kind);
  if (verdict.kind !== 'retry') return { state: verdict.kind };
  throw again('JobNotDone', `attempt ${attempt.attempt} failed: ${code}`, verdict.delayMs);
}

/** What Temporal tries again after `nextRetryDelay` milliseconds. */
function again(type: string, message: string, nextRetryDelay: number): ApplicationFailure {
  const category = ApplicationFailureCategory.BENIGN;
  return ApplicationFailure.create({ type, message, nextRetryDelay, category });
}

async function callAll(
  dependencies: JobDependencies,
  attempt: JobAttempt,
): Promise<ReadonlyMap<string, CallResult>> {
  const content = await readContent(dependencies, attempt);
  const called = attempt.targets.map(async (target) => {
    const result = content === null ? noContent : await call(dependencies, target, content);
    return [target.id, result] as const;
  });
  return new Map(await Promise.all(called));
}

/** The lead was erased meanwhile: nothing is left to write. */
const noContent: CallResult = { outcome: 'refused', code: 'no_content', retryAfterMs: null };

/** A message in the form that Standard Webhooks proposes, under the job's key. */
interface JobContent {
  readonly id: string;
  readonly type: 'contact.upserted' | 'intake.audited';
  readonly timestamp: string;
  readonly data: object;
}

async function readContent(
  { pool, clock }: JobDependencies,
  { operation, conversationId, receiptId, jobKey }: JobAttempt,
): Promise<JobContent | null> {
  const now = await clock.now();
  if (operation === 'crm-upsert') {
    const contact = await readContact(pool, conversationId, now);
    if (contact === null) return null;
    const { readAt, ...data } = contact;
    return {
      id: jobKey,
      type: 'contact.upserted',
      timestamp: readAt,
      data: { ...data, receiptId },
    };
  }
  const audit = await readIntakeAudit(pool, receiptId);
  if (audit === null) return null;
  const timestamp = now ?? new Date().toISOString();
  return { id: jobKey, type: 'intake.audited', timestamp, data: audit };
}

const webhookSettings = z.object({ url: z.string() });
const fileSettings = z.object({ path: z.string() });
const badSettings: CallResult = { outcome: 'refused', code: 'bad-settings', retryAfterMs: null };

async function call(
  { post, append }: JobDependencies,
  target: JobTarget,
  content: JobContent,
): Promise<CallResult> {
  if (target.kind === 'audit-file') {
    const settings = fileSettings.safeParse(target.settings);
    if (!settings.success) return badSettings;
    const { doubtful } = target;
    return append({ path: settings.data.path, record: { ...content }, doubtful });
  }
  const settings = webhookSettings.safeParse(target.settings);
  if (!settings.success) return badSettings;
  const outcome = await post({
    url: settings.data.url,
    secret: target.secret ?? '',
    id: content.id,
    body: content,
    timeoutMs: CALL_TIMEOUT_MS,
  });
  return resultOf(outcome);
}

function resultOf(outcome: PostOutcome): CallResult {
  switch (outcome.kind) {
    case 'accepted':
      return { outcome: 'accepted', code: null, retryAfterMs: null };
    case 'unknown':
      return { outcome: 'unknown', code: outcome.code, retryAfterMs: null };
    case 'not-accepted':
      return {
        outcome: refusalOf(outcome),
        code: outcome.code,
        retryAfterMs: outcome.retryAfterMs,
      };
  }
}

function refusalOf(
  outcome: Extract<PostOutcome, { kind: 'not-accepted' }>,
): 'paused' | 'refused' | 'not-accepted' {
  if (outcome.pausesAccount) return 'paused';
  return outcome.retry === 'never' ? 'refused' : 'not-accepted';
}
