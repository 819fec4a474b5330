import type { PoolClient } from 'pg';
import { INTEGRATION_KINDS, type RunOperation } from '../domain/jobs';
import { jobKey } from '../domain/keys';
import type { LockedConversation } from './conversations';
import { run, statement } from './database';

const OPERATION: RunOperation = 'audit-export';
/** The first version tells how a message came in, the second one how it was answered. */
const VERSION = 2;

const insertAnswered = statement(
  'insert-post-send-jobs',
  `insert into delivery_jobs (id, receipt_id, business_id, conversation_id, job_key, operation,
     state, next_attempt_at, created_at)
   select 'job_' || replace(uuidv7()::text, '-', ''), m.receipt_id, m.business_id,
     m.conversation_id, m.receipt_id || $5, $6, 'queued', $4, $4
   from messages m
   where m.conversation_id = $1 and m.settlement_ref = $2 and m.receipt_id is not null
     and exists (select from integrations i where i.kind = any($7)
       and (i.business_id = $3 or i.business_id is null))
   on conflict (job_key) do nothing`,
);

/**
 * Writes the work that follows an answer with its record: a second audit record for each message
 * that it settled. Nobody waits for it, and nothing of the send depends on how it ends (T10).
 */
export async function writePostSendJobs(
  client: PoolClient,
  conversation: LockedConversation,
  sent: { readonly sendId: string; readonly evidence: string; readonly at: string },
): Promise<void> {
  // What staff settled by hand is in their own log, and their role writes no jobs.
  if (sent.evidence === 'review') return;
  await run(client, insertAnswered, [
    conversation.id,
    sent.sendId,
    conversation.businessId,
    sent.at,
    jobKey('', OPERATION, VERSION),
    OPERATION,
    INTEGRATION_KINDS[OPERATION],
  ]);
}
