import {
  initialResponseState,
  type JobOperation,
  type JobState,
  type ResponseFacts,
} from '../domain/jobs';
import { run, statement, type Executor } from './database';
import { iso } from './queries/staff-reading';

/** One job as the audit tells it. */
export interface AuditedJob {
  readonly key: string;
  readonly operation: JobOperation;
  readonly state: JobState;
  readonly attempts: number;
  readonly lastErrorCode: string | null;
  /** True where nothing is connected that it could write to; it made no call. */
  readonly skipped: boolean;
}

/** A delivery of the same event that made no work. */
export interface AuditedDuplicate {
  readonly rawId: string;
  readonly receivedAt: string;
  readonly contentSha256: string;
  /** One event id, two contents: an alert, not a second insert (IN3). */
  readonly differs: boolean;
}

/**
 * What happened to one event (IN5): which it was, which key won, which jobs followed with attempts
 * and state, and which duplicates made no work. Ids, words and digests only.
 */
export interface IntakeAudit {
  readonly receiptId: string;
  readonly rawId: string;
  readonly provider: string;
  readonly kind: string;
  readonly keySha256: string;
  readonly contentSha256: string;
  readonly receivedAt: string;
  readonly quarantineReason: string | null;
  readonly conversationId: string | null;
  readonly messageId: string | null;
  readonly jobs: readonly AuditedJob[];
  readonly duplicates: readonly AuditedDuplicate[];
}

interface AuditRow extends Omit<IntakeAudit, 'jobs'> {
  readonly jobs: readonly Omit<AuditedJob, 'skipped'>[];
  readonly response: ResponseFacts & { readonly attempts: number };
}

const AUDIT = `
  select r.id as "receiptId", r.raw_id as "rawId", r.provider, r.kind,
    r.key_sha256 as "keySha256", r.content_sha256 as "contentSha256",
    ${iso('r.received_at')} as "receivedAt", r.quarantine_reason as "quarantineReason",
    m.conversation_id as "conversationId", m.id as "messageId",
    coalesce((select jsonb_agg(jsonb_build_object('key', j.job_key, 'operation', j.operation,
        'state', j.state, 'attempts', j.attempts, 'lastErrorCode', j.last_error_code)
        order by j.job_key)
      from delivery_jobs j where j.receipt_id = r.id), '[]') as jobs,
    coalesce((select jsonb_agg(jsonb_build_object('rawId', d.raw_id,
        'receivedAt', ${iso('d.received_at')}, 'contentSha256', d.content_sha256,
        'differs', d.differs) order by d.id)
      from receipt_duplicates d where d.receipt_id = r.id), '[]') as duplicates,
    jsonb_build_object('settlement', m.settlement,
      'itemOpen', exists (select from work_items w
        where w.id = m.settlement_ref and w.resolved_at is null),
      'inFlight', coalesce(o.in_flight, false), 'attempts', coalesce(o.attempts, 0)) as response
  from webhook_receipts r
  left join transport_traces t on t.receipt_id = r.id
  left join messages m on m.id = t.message_id
  left join lateral (
    select bool_or(s.state = 'sending') as in_flight, sum(s.attempts)::int as attempts
    from outbox s where s.conversation_id = m.conversation_id and s.purpose = 'answer'
      and s.covers_seq >= m.seq and (m.settlement_ref is null or s.id = m.settlement_ref
        or s.created_at <= m.settled_at)) o on true`;

const readOne = statement<AuditRow>('read-intake-audit', `${AUDIT} where r.id = $1`);

const readThread = statement<AuditRow>(
  'read-conversation-intake',
  `${AUDIT} where r.id in (select receipt_id from messages
     where conversation_id = $1 and receipt_id is not null)
   order by r.received_at, r.id limit $2`,
);

/** Reads the audit of one receipt; null where there is no such receipt. */
export async function readIntakeAudit(
  executor: Executor,
  receiptId: string,
): Promise<IntakeAudit | null> {
  const [row] = await run(executor, readOne, [receiptId]);
  return row === undefined ? null : toAudit(row);
}

/**
 * Reads the audit of the events that brought messages into a conversation, the oldest first and at
 * most `limit` of them.
 */
export async function readConversationIntake(
  executor: Executor,
  conversationId: string,
  limit: number,
): Promise<readonly IntakeAudit[]> {
  const rows = await run(executor, readThread, [conversationId, limit]);
  return rows.map(toAudit);
}

function toAudit({ jobs, response, ...event }: AuditRow): IntakeAudit {
  return {
    ...event,
    jobs: jobs.map((job) =>
      job.operation === 'initial-response'
        ? {
            ...job,
            state: initialResponseState(response),
            attempts: response.attempts,
            skipped: false,
          }
        : { ...job, skipped: job.state === 'succeeded' && job.attempts === 0 },
    ),
  };
}
