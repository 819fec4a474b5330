import type { Pool, PoolClient } from 'pg';
import {
  judgeJob,
  type CallResult,
  type JobIntegrationKind,
  type JobVerdict,
  type RunOperation,
} from '../domain/jobs';
import { RETRY_DELAYS_MS } from '../domain/limits';
import { readClock } from './conversations';
import { inTransaction, run, statement } from './database';
import { pauseIntegration } from './integrations';
import { JOB_TARGETS } from './job-targets';
import { openWorkItem } from './work-items';

/**
 * A started workflow has this long to begin before the loop starts it once more; behind the wait of
 * a retry too, which the workflow waits out itself: the loop follows where that timer was lost.
 */
const STARTED_AGAIN_AFTER_MS = 30_000;

/** A job that was looked at and only waits for credentials is looked at again after this. */
const LOOKED_AGAIN_AFTER_MS = 60_000;

/** An attempt whose worker died is taken up again after this; longer than an attempt may take. */
const ATTEMPT_LOST_AFTER_MS = 90_000;

/** A job whose workflow may be started. */
export interface StartableJob {
  readonly id: string;
  readonly operation: RunOperation;
  readonly businessId: string;
}

/** Looks a job `j` up in `targets`, by sets that are hashed once and not joined row by row. */
const anyTarget = (standing: 'paused' | 'callable'): string => `
  ((j.operation, j.business_id) in (select t.operation, t.business_id from targets t
      where t.${standing} and t.business_id is not null)
    or j.operation in (select t.operation from targets t
      where t.${standing} and t.business_id is null))`;

/**
 * `targets` knows of each operation, of one business or (null) of all, whether anything that it
 * writes to is paused or callable. A job whose targets are all paused is skipped by that alone.
 * Where some are paused and some are not, a job that was tried may wait for the paused ones only:
 * that is looked up, for the candidates, and whoever waits so is put off.
 */
const listStartable = statement<StartableJob>(
  'list-startable-jobs',
  `with n as (select coalesce($1::timestamptz, clock_timestamp()) as now),
   targets as materialized (
     select j.operation, i.business_id, bool_or(i.paused_at is not null) as paused,
       bool_or(i.paused_at is null) as callable
     from integrations i
     cross join lateral (select o.operation, coalesce(i.business_id, '') as business_id
       from (values ('crm-upsert'), ('audit-export')) as o(operation)) j
     where ${JOB_TARGETS}
     group by j.operation, i.business_id),
   candidates as materialized (
     select j.id, j.operation, j.business_id, j.next_attempt_at,
       j.attempts > 0 and ${anyTarget('paused')} as doubtful
     from n, delivery_jobs j
     where j.state in ('queued', 'running') and j.operation <> 'initial-response'
       and j.next_attempt_at <= n.now
       and (${anyTarget('callable')} or not ${anyTarget('paused')})
     order by j.next_attempt_at limit 1000),
   waiting as materialized (
     select j.id from candidates j
     cross join lateral (
       select count(*) as open, count(*) filter (where i.paused_at is null) as callable
       from integrations i where ${JOB_TARGETS}
         and not exists (select from job_attempts t where t.job_id = j.id
           and t.integration_id = i.id and t.outcome in ('accepted', 'refused'))) target
     where j.doubtful and target.open > 0 and target.callable = 0),
   held as (
     select j.id from delivery_jobs j where j.id in (select id from waiting)
     order by j.id for update skip locked),
   put_off as (
     update delivery_jobs j
     set next_attempt_at = n.now + make_interval(secs => $4::float8 / 1000)
     from held, n where j.id = held.id and j.next_attempt_at <= n.now),
   ranked as (
     select *, row_number() over (partition by business_id order by next_attempt_at) as place
     from candidates c where not exists (select from waiting w where w.id = c.id))
   select id, operation, business_id as "businessId" from ranked
   where place <= $3 order by next_attempt_at limit $2`,
);

/**
 * Lists open jobs that are due and wait for more than mended credentials, the longest waiting first
 * and at most a few of one business. It claims nothing: starting twice is one run. A job whose
 * integrations are all paused is due again the moment one is mended; one that was carried out but
 * for a paused integration is looked at once a minute.
 */
export function listStartableJobs(
  pool: Pool,
  options: { readonly limit: number; readonly perBusiness: number; readonly now: string | null },
): Promise<StartableJob[]> {
  const { now, limit, perBusiness } = options;
  return run(pool, listStartable, [now, limit, perBusiness, LOOKED_AGAIN_AFTER_MS]);
}

const noteStarted = statement(
  'note-started-jobs',
  `update delivery_jobs j
   set next_attempt_at = n.now + make_interval(secs => $3::float8 / 1000)
   from (select coalesce($2::timestamptz, clock_timestamp()) as now) n
   where j.id = any($1) and j.state in ('queued', 'running') and j.next_attempt_at <= n.now`,
);

/**
 * Temporal accepted these starts: they are repeated later, as long as the rows are open. A run that
 * was quicker has said itself when it is to be looked at; that stays.
 */
export async function noteStartedJobs(
  pool: Pool,
  ids: readonly string[],
  now: string | null,
): Promise<void> {
  if (ids.length > 0) await run(pool, noteStarted, [ids, now, STARTED_AGAIN_AFTER_MS]);
}

interface JobRow {
  readonly id: string;
  readonly jobKey: string;
  readonly operation: RunOperation;
  readonly businessId: string;
  readonly conversationId: string;
  readonly receiptId: string;
  readonly attempts: number;
  readonly state: 'queued' | 'running';
  readonly nextAttemptAtMs: number;
}

const lockOpenJob = statement<JobRow>(
  'lock-open-job',
  `select id, job_key as "jobKey", operation, business_id as "businessId",
     conversation_id as "conversationId", receipt_id as "receiptId", attempts, state,
     (extract(epoch from next_attempt_at) * 1000)::float8 as "nextAttemptAtMs"
   from delivery_jobs where id = $1 and state in ('queued', 'running')
     and operation <> 'initial-response' for update`,
);

/** One integration of a job, with what is known of it from earlier attempts. */
interface TargetRow {
  readonly id: string;
  readonly kind: JobIntegrationKind;
  readonly settings: unknown;
  readonly secret: string | null;
  readonly pausedReason: string | null;
  readonly paused: boolean;
  readonly ended: 'accepted' | 'refused' | null;
  readonly endedCode: string | null;
  /** An earlier attempt may have had its effect: its end is not known. */
  readonly doubtful: boolean;
}

const readTargets = statement<TargetRow>(
  'read-job-targets',
  `select i.id, i.kind, i.settings, i.secret, i.paused_reason as "pausedReason",
     i.paused_at is not null as paused, done.outcome as ended, done.code as "endedCode",
     exists (select from job_attempts t where t.job_id = j.id and t.integration_id = i.id
       and (t.outcome is null or t.outcome = 'unknown')) as doubtful
   from delivery_jobs j
   join integrations i on ${JOB_TARGETS}
   left join lateral (select t.outcome, t.code from job_attempts t
     where t.job_id = j.id and t.integration_id = i.id and t.outcome in ('accepted', 'refused')
     order by t.outcome limit 1) done on true
   where j.id = $1 order by i.id`,
);

const countFailures = statement<{ failures: number }>(
  'count-job-failures',
  `select count(distinct attempt)::int as failures from job_attempts
   where job_id = $1 and (outcome is null or outcome in ('not-accepted', 'unknown'))`,
);

const beginAttempt = statement(
  'begin-job-attempt',
  `with begun as (
     update delivery_jobs set state = 'running', attempts = attempts + 1,
       next_attempt_at = $2::timestamptz + make_interval(secs => $4::float8 / 1000)
     where id = $1 returning id, attempts, business_id)
   insert into job_attempts (job_id, attempt, integration_id, business_id, started_at)
   select b.id, b.attempts, i.id, b.business_id, $2
   from begun b, unnest($3::text[]) as i(id)`,
);

/** An integration that this attempt writes to. */
export type JobTarget = Pick<TargetRow, 'id' | 'kind' | 'settings' | 'secret' | 'doubtful'>;

/** An attempt with its operation rows committed: the calls may follow. */
export interface JobAttempt extends Omit<JobRow, 'attempts' | 'state' | 'nextAttemptAtMs'> {
  readonly attempt: number;
  readonly targets: readonly JobTarget[];
}

/** What a job's activity hears: an attempt to make, or that there is nothing to do now. */
export type JobStart =
  | { readonly kind: 'begun'; readonly attempt: JobAttempt }
  /** The last verdict's wait is not over: Retry-After or the back-off has so long to go. */
  | { readonly kind: 'early'; readonly waitMs: number }
  | { readonly kind: 'nothing'; readonly state: 'ended' | 'waits' | 'review' };

/**
 * Begins one attempt of a job: marks it running, counts the attempt and writes an operation row
 * for each integration that has not ended, all before any call (IN2). A job whose attempts all
 * died without a word goes to review instead of a sixth one. Ended jobs are left alone, and one
 * whose last verdict asked for a wait is not begun before it is over: a worker may have died
 * between that verdict and its word to Temporal, which then knows nothing of the wait (IN4).
 */
export async function beginJob(pool: Pool, jobId: string, now: string | null): Promise<JobStart> {
  return inTransaction(pool, async (client) => {
    const [job] = await run(client, lockOpenJob, [jobId]);
    if (job === undefined) return { kind: 'nothing', state: 'ended' };
    const targets = await run(client, readTargets, [jobId]);
    const { now: at, nowMs } = await readClock(client, now);
    const open = targets.filter(({ paused, ended }) => !paused && ended === null);
    const [counted] = await run(client, countFailures, [jobId]);
    const failures = counted?.failures ?? 0;
    if (open.length > 0 && failures > RETRY_DELAYS_MS.length) {
      await settle(client, job, { kind: 'review', code: 'attempts_lost' }, at);
      return { kind: 'nothing', state: 'review' };
    }
    if (open.length === 0) {
      const verdict = judgeJob(targets.map(standing), failures, 0);
      await settle(client, job, verdict, at);
      return { kind: 'nothing', state: stateAfter(verdict) };
    }
    const waitMs = waitLeftMs(job, nowMs);
    if (waitMs > 0) return { kind: 'early', waitMs };
    const ids = open.map(({ id }) => id);
    await run(client, beginAttempt, [jobId, at, ids, ATTEMPT_LOST_AFTER_MS]);
    const { attempts, state: _state, nextAttemptAtMs: _nextAttemptAtMs, ...identity } = job;
    return { kind: 'begun', attempt: { ...identity, attempt: attempts + 1, targets: open } };
  });
}

/**
 * What is left of the wait that the last verdict asked for. The row is due to the loop only
 * `STARTED_AGAIN_AFTER_MS` behind it; a start that was noted lies no further ahead than that, and
 * the row of an attempt under way says nothing of a wait.
 */
function waitLeftMs({ state, attempts, nextAttemptAtMs }: JobRow, nowMs: number): number {
  if (state !== 'queued' || attempts === 0) return 0;
  return Math.max(0, Math.ceil(nextAttemptAtMs - STARTED_AGAIN_AFTER_MS - nowMs));
}

/** What is known of an integration that this attempt does not call. */
function standing({ ended, endedCode, pausedReason }: TargetRow): CallResult {
  return ended === null
    ? { outcome: 'paused', code: pausedReason, retryAfterMs: null }
    : { outcome: ended, code: endedCode, retryAfterMs: null };
}

function stateAfter(verdict: JobVerdict): 'ended' | 'waits' | 'review' {
  if (verdict.kind === 'review') return 'review';
  return verdict.kind === 'succeeded' ? 'ended' : 'waits';
}

const closeOperation = statement(
  'close-job-operation',
  `update job_attempts set outcome = $4, code = $5, ended_at = $6
   where job_id = $1 and attempt = $2 and integration_id = $3 and outcome is null`,
);

/** The result of each call of an attempt, by integration. */
export type CallResults = ReadonlyMap<string, CallResult>;

/**
 * Ends one attempt: closes its operation rows, pauses integrations that refused our credentials,
 * and moves the job by compare-and-set on the attempt, so that a late worker's result is kept as
 * evidence and changes nothing else (IN4). `random` in [0, 1) gives the jitter. Null where the
 * attempt was no longer the current one.
 */
export async function endJobAttempt(
  pool: Pool,
  attempt: JobAttempt,
  results: CallResults,
  draw: { readonly random: number; readonly now: string | null },
): Promise<JobVerdict | null> {
  return inTransaction(pool, async (client) => {
    const [job] = await run(client, lockOpenJob, [attempt.id]);
    const { now: at } = await readClock(client, draw.now);
    for (const [integrationId, { outcome, code }] of results) {
      await run(client, closeOperation, [
        attempt.id,
        attempt.attempt,
        integrationId,
        outcome,
        code,
        at,
      ]);
      if (outcome === 'paused') {
        await pauseIntegration(client, integrationId, code ?? 'refused', at);
      }
    }
    if (job?.attempts !== attempt.attempt) return null;
    const targets = await run(client, readTargets, [attempt.id]);
    const [counted] = await run(client, countFailures, [attempt.id]);
    const known = targets.map((target) => results.get(target.id) ?? standing(target));
    const verdict = judgeJob(known, counted?.failures ?? 0, draw.random);
    await settle(client, job, verdict, at);
    return verdict;
  });
}

const moveJob = statement(
  'move-job',
  `update delivery_jobs set state = $3, last_error_code = $4,
     next_attempt_at = $2::timestamptz + make_interval(secs => $5::float8 / 1000),
     ended_at = case when $3 in ('succeeded', 'review') then $2::timestamptz end
   where id = $1`,
);

async function settle(
  client: PoolClient,
  job: JobRow,
  verdict: JobVerdict,
  at: string,
): Promise<void> {
  if (verdict.kind === 'succeeded') {
    await run(client, moveJob, [job.id, at, 'succeeded', null, 0]);
    return;
  }
  const { code } = verdict;
  if (verdict.kind === 'review') {
    await run(client, moveJob, [job.id, at, 'review', code, 0]);
    await openReview(client, job, code, at);
    return;
  }
  const waitMs = verdict.kind === 'retry' ? verdict.delayMs + STARTED_AGAIN_AFTER_MS : 0;
  await run(client, moveJob, [job.id, at, 'queued', code, waitMs]);
}

const WORDS: Readonly<Record<RunOperation, string>> = {
  'crm-upsert': "A lead's contact could not be written to the CRM",
  'audit-export': 'A record could not be added to the audit export',
};

/** The item names no conversation: nothing about a lead's answer waits for it (T10). */
async function openReview(
  client: PoolClient,
  job: JobRow,
  code: string,
  at: string,
): Promise<void> {
  await openWorkItem(client, {
    businessId: job.businessId,
    conversationId: null,
    kind: 'job-review',
    reason: code,
    explanation: `${WORDS[job.operation]} (code ${code}). Job ${job.id} is kept with all its attempts.`,
    subjectId: job.id,
    at,
  });
}
