import type { PoolClient } from 'pg';
import type { LockedConversation } from './conversations';
import { run, statement } from './database';
import { explainOpenHandoff, openWorkItem } from './work-items';

/** The messages that waited with the handoff move to the reply that covers them. */
const settleByReply = statement(
  'settle-handoff-by-staff-reply',
  `update messages m set settlement = 'reply', settlement_ref = $2, settlement_reason = 'staff',
     settled_at = $3
   from work_items w
   where w.conversation_id = $1 and w.kind = 'handoff' and w.resolved_at is null
     and m.conversation_id = $1 and m.settlement = 'work-item' and m.settlement_ref = w.id
     and m.seq <= $4`,
);

/** What the lead wrote after that still waits with the item. */
const closeHandoff = statement(
  'close-answered-handoff',
  `update work_items w set resolved_at = $3, resolution = 'answered_by_staff',
     next_escalation_at = null,
     resolved_by = case (select d.inputs ->> 'role' from outbox o
         join send_decisions d on d.id = o.decision_id where o.id = $2)
       when 'agent' then 'support-agent' else 'shift-supervisor' end
   where w.conversation_id = $1 and w.kind = 'handoff' and w.resolved_at is null
     and not exists (select from messages m
       where m.conversation_id = $1 and m.settlement_ref = w.id and m.seq > $4)`,
);

/**
 * The provider accepted a person's reply (T3): it settles what it covers, and the handoff closes
 * unless the lead wrote something since that the person had not seen.
 */
export async function closeAnsweredHandoff(
  client: PoolClient,
  conversation: LockedConversation,
  reply: { readonly sendId: string; readonly coversSeq: number; readonly at: string },
): Promise<void> {
  const values = [conversation.id, reply.sendId, reply.at, reply.coversSeq];
  await Promise.all([run(client, settleByReply, values), run(client, closeHandoff, values)]);
}

/**
 * A person's reply did not leave: the handoff stays open, says why and notifies anew (T3, C7). Where
 * none is open, an item of its own says so, so that nobody believes it was sent.
 */
export async function keepReplyWaiting(
  client: PoolClient,
  conversation: LockedConversation,
  failure: {
    readonly sendId: string;
    readonly reason: string;
    readonly explanation: string;
    readonly at: string;
  },
): Promise<void> {
  const { sendId, reason, explanation, at } = failure;
  const why = { reason, explanation, at };
  if (await explainOpenHandoff(client, conversation.id, why)) return;
  await openWorkItem(client, {
    businessId: conversation.businessId,
    conversationId: conversation.id,
    kind: 'not-sent',
    reason,
    explanation,
    sendId,
    at,
  });
}
