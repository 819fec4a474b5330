import type { PoolClient } from 'pg';
import type { LockedConversation } from './conversations';
import { run, statement } from './database';

interface ReopenedDebt {
  readonly owedSince: string;
  readonly oldestOwedAt: string;
  readonly overdueFrom: string;
  readonly turnDueAt: string;
}

/**
 * The messages that an item of a draft had settled owe again, under a new token and with their own
 * oldest time (T2, T3). Ages count from where they counted before the draft, which its first
 * decision remembers: waiting for an approval moves nothing (T5).
 */
const REOPEN = `
   reopened as (
     update messages m set settlement = null, settlement_ref = null, settlement_reason = null,
       settled_at = null
     from item where m.conversation_id = $1 and m.owes and m.settlement = 'work-item'
       and m.settlement_ref = item.id
     returning coalesce(least(m.source_at, m.received_at), m.received_at) as at),
   oldest as (
     select min(at) as at, (select greatest(min(at), max(to_timestamp(
         (d.inputs ->> 'overdueFromMs')::float8 / 1000)))
       from draft join send_decisions d on d.send_id = draft.id
       where d.supersedes_id is null) as overdue_from
     from reopened)
   update conversations c set
     owed_since = greatest($2::timestamptz, c.last_token + interval '1 microsecond'),
     last_token = greatest($2::timestamptz, c.last_token + interval '1 microsecond'),
     oldest_owed_at = least(c.oldest_owed_at, oldest.at),
     overdue_from = coalesce(c.overdue_from, oldest.overdue_from), turn_due_at = $2
   from oldest where c.id = $1 and oldest.at is not null
   returning c.owed_since::text as "owedSince", c.oldest_owed_at::text as "oldestOwedAt",
     c.overdue_from::text as "overdueFrom", c.turn_due_at::text as "turnDueAt"`;

const withdraw = statement<ReopenedDebt>(
  'withdraw-draft',
  `with draft as (
     update outbox set state = 'cancelled', end_reason = $3, ended_at = $2
     where conversation_id = $1 and state = 'queued' and awaiting_approval returning id),
   item as (
     update work_items w set resolved_at = $2, resolved_by = $4, resolution = $5,
       next_escalation_at = null
     from draft where w.send_id = draft.id and w.kind = 'approval' and w.resolved_at is null
     returning w.id),
   ${REOPEN}`,
);

const approve = statement<ReopenedDebt>(
  'reopen-debt-of-approved-draft',
  `with draft as (select $3::text as id),
   item as (
     update work_items w set resolved_at = $2, resolved_by = $4, resolution = 'approved',
       claimed_at = coalesce(claimed_at, $2), claimed_by = coalesce(claimed_by, $4),
       next_escalation_at = null
     from draft where w.send_id = draft.id and w.kind = 'approval' and w.resolved_at is null
     returning w.id),
   ${REOPEN}`,
);

export interface Withdrawal {
  /** Why it does not leave, in a controlled word. */
  readonly reason: string;
  readonly at: string;
  /** How its item ends, and by whom: a role or service. */
  readonly resolution?: string;
  readonly by?: string;
}

/**
 * Withdraws the conversation's draft that waits for approval, if there is one: it is cancelled,
 * its item closes, and what the item had settled owes again (T3). Whoever takes the debt next,
 * a turn or a person, works with the conversation that comes back. Its lock is held.
 */
export async function withdrawDraft(
  client: PoolClient,
  conversation: LockedConversation,
  withdrawal: Withdrawal,
): Promise<LockedConversation> {
  const reopened = await withdrawDraftOf(client, conversation.id, withdrawal);
  return { ...conversation, ...reopened };
}

/** The same by the conversation's id, for callers who read its debt anew. */
export async function withdrawDraftOf(
  client: PoolClient,
  conversationId: string,
  withdrawal: Withdrawal,
): Promise<ReopenedDebt | null> {
  const { reason, at, resolution = 'withdrawn', by = 'conversation-router' } = withdrawal;
  const [reopened] = await run(client, withdraw, [conversationId, at, reason, by, resolution]);
  return reopened ?? null;
}

/** Mints the token that an approved draft's acceptance will settle (T3). Closes its item. */
export async function reopenForApproval(
  client: PoolClient,
  conversation: LockedConversation,
  approval: { readonly sendId: string; readonly at: string; readonly by: string },
): Promise<string | null> {
  const { sendId, at, by } = approval;
  const [reopened] = await run(client, approve, [conversation.id, at, sendId, by]);
  return reopened?.owedSince ?? null;
}
