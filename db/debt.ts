import type { PoolClient } from 'pg';
import { run, statement } from './database';

/** The one ending of an owed message (T3, INV-6). */
export interface Settlement {
  readonly kind: 'reply' | 'person' | 'no-answer' | 'work-item';
  /** The send or work item behind it. */
  readonly ref: string | null;
  readonly reason: string | null;
  readonly at: string;
}

const settleMessages = statement<{ id: string }>(
  'settle-messages',
  `update messages set settlement = $3, settlement_ref = $4, settlement_reason = $5, settled_at = $6
   where conversation_id = $1 and owes and settled_at is null and seq <= $2 returning id`,
);

/**
 * Compare-and-clear (T2, T3). Where the token still stands, the debt is cleared. Where a newer
 * message came, its debt stays and the oldest time advances to the oldest message not settled.
 */
const clearDebt = statement<{ cleared: boolean }>(
  'clear-debt',
  `with oldest as (
     select min(coalesce(least(m.source_at, m.received_at), m.received_at)) as at
     from messages m where m.conversation_id = $1 and m.owes and m.settled_at is null)
   update conversations c set
     owed_since = case when oldest.at is null and c.owed_since = $2::timestamptz
                       then null else c.owed_since end,
     oldest_owed_at = case when oldest.at is null and c.owed_since = $2::timestamptz
                       then null else coalesce(oldest.at, c.oldest_owed_at) end,
     overdue_from = case when oldest.at is null and c.owed_since = $2::timestamptz
                       then null else greatest(oldest.at, c.overdue_from) end,
     turn_due_at = case when oldest.at is null and c.owed_since = $2::timestamptz
                       then null else c.turn_due_at end,
     draft_withdrawals = 0
   from oldest where c.id = $1 and c.owed_since is not null
   returning c.owed_since is null as cleared`,
);

const deleteMarker = statement(
  'delete-turn-marker',
  `delete from turn_markers where conversation_id = $1`,
);

export interface Settling {
  readonly conversationId: string;
  /** The newest message that the outcome covers; older ones are covered too. */
  readonly throughSeq: number;
  /** The token that the outcome answers; only this one is cleared. */
  readonly token: string;
  readonly settlement: Settlement;
}

/**
 * Settles the covered messages and clears the debt by compare, in the transaction that records the
 * outcome (T3). Returns whether nothing is owed any more.
 */
export async function settleDebt(client: PoolClient, settling: Settling): Promise<boolean> {
  const { settlement } = settling;
  await run(client, settleMessages, [
    settling.conversationId,
    settling.throughSeq,
    settlement.kind,
    settlement.ref,
    settlement.reason,
    settlement.at,
  ]);
  const [[cleared]] = await Promise.all([
    run(client, clearDebt, [settling.conversationId, settling.token]),
    run(client, deleteMarker, [settling.conversationId]),
  ]);
  return cleared?.cleared ?? true;
}

const resettle = statement(
  'resettle-messages',
  `update messages set settlement = $3, settlement_ref = $4, settlement_reason = $5, settled_at = $6
   where conversation_id = $1 and settlement_ref = $2`,
);

/**
 * Moves the messages that one fact settled to another: a reply that later failed to its work item,
 * an unknown delivery that was proven to its reply (T3, C6).
 */
export async function moveSettlement(
  client: PoolClient,
  conversationId: string,
  fromRef: string,
  to: Settlement,
): Promise<void> {
  await run(client, resettle, [conversationId, fromRef, to.kind, to.ref, to.reason, to.at]);
}

const mintDebt = statement(
  'mint-debt',
  `with reopened as (
     update messages set settlement = null, settlement_ref = null, settlement_reason = null,
       settled_at = null
     where conversation_id = $1 and owes and settlement = 'work-item' and settlement_ref = any($2)
     returning coalesce(least(source_at, received_at), received_at) as at),
   oldest as (select min(at) as at from reopened)
   update conversations c set
     owed_since = greatest($3::timestamptz, c.last_token + interval '1 microsecond'),
     last_token = greatest($3::timestamptz, c.last_token + interval '1 microsecond'),
     oldest_owed_at = least(c.oldest_owed_at, oldest.at), overdue_from = $3, turn_due_at = $3, draft_withdrawals = 0
   from oldest where c.id = $1 and oldest.at is not null`,
);

const settleAnswered = statement(
  'settle-answered-meanwhile',
  `update messages m set settled_at = $3, settlement_reason = s.reason,
     settlement = case when s.item is null then 'reply' else 'work-item' end,
     settlement_ref = coalesce(s.item, s.id)
   from (
     select waiting.id as message, sent.* from messages waiting cross join lateral (
       select o.id, w.id as item,
         case when w.id is null then o.purpose else 'delivery_unknown' end as reason
       from outbox o
       left join work_items w on w.send_id = o.id and w.kind = 'delivery-unknown'
         and o.state = 'delivery_unknown'
       where o.conversation_id = $1 and o.purpose in ('answer', 'staff', 'opt-out-confirmation')
         and o.covers_seq >= waiting.seq
         and (o.state in ('accepted', 'delivered') or w.id is not null)
       order by w.id nulls first limit 1) sent
     where waiting.conversation_id = $1 and waiting.owes and waiting.settlement = 'work-item'
       and waiting.settlement_ref = any($2)) s
   where m.id = s.message`,
);

/** An answer that a stop met before it left will not leave, so it answers nothing. */
const claimOnItsWay = statement(
  'answer-debt-by-send-on-its-way',
  `update outbox o set token = c.owed_since from conversations c
   where c.id = $1 and c.owed_since is not null and o.conversation_id = c.id
     and o.covers_seq >= c.last_inbound_seq and not o.awaiting_approval
     and o.state in ('queued', 'leased', 'sending')
     and (o.purpose in ('staff', 'opt-out-confirmation') or o.purpose = 'answer'
       and (o.state = 'sending' or o.stop_requested_at is null))`,
);

/**
 * Hand-back (T6): what was settled to the given items and answered by nobody owes again, under a
 * new token; ages count from the hand-back (T5). An answer that was in flight when a person took
 * over did answer, or its review has the debt; one that is still on its way and saw everything
 * answers the new token, so that the lead gets no second answer.
 */
export async function reopenDebt(
  client: PoolClient,
  conversationId: string,
  workItemIds: readonly string[],
  at: string,
): Promise<void> {
  await Promise.all([
    run(client, settleAnswered, [conversationId, workItemIds, at]),
    run(client, mintDebt, [conversationId, workItemIds, at]),
    run(client, claimOnItsWay, [conversationId]),
  ]);
}
