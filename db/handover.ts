import type { PoolClient } from 'pg';
import type { WorkItemId } from '../domain/ids';
import { stopPlansOfPerson, stopSends } from './cancellation';
import { applyStateEvent, type LockedConversation } from './conversations';
import { settleDebt } from './debt';
import { withdrawDraft } from './draft-withdrawal';
import type { TakeoverActor, TakeoverReason } from '../domain/takeover';
import { appendTakeoverEvent } from './takeover-log';
import { joinOpenHandoff, openWorkItem } from './work-items';

export interface Handover {
  readonly reason: TakeoverReason;
  /** One plain sentence for the person who takes over; no personal data. */
  readonly explanation: string;
  readonly actor: TakeoverActor;
  /** How long the notice may wait, so that the handovers of one outage make one notice (T4). */
  readonly noticeDelayMs?: number;
  readonly at: string;
}

/**
 * Hands a conversation to a person: the one path of T6, in the caller's transaction. Work item,
 * pause, cancellation, takeover event and settlement of the debt stand or fall together, and
 * however often it runs there is one open handoff. The conversation's lock is held.
 */
export async function handOver(
  client: PoolClient,
  found: LockedConversation,
  handover: Handover,
): Promise<WorkItemId> {
  const { at } = handover;
  const conversation = await withdrawDraft(client, found, { reason: 'handed_over', at });
  const item = await openWorkItem(client, {
    businessId: conversation.businessId,
    conversationId: conversation.id,
    kind: 'handoff',
    reason: handover.reason,
    explanation: handover.explanation,
    newestSeq: conversation.lastSeq,
    noticeDelayMs: handover.noticeDelayMs ?? 0,
    at,
  });
  // Pause before anybody is notified, so that nothing leaves during the handoff (C7).
  await stopSends(client, {
    conversationId: conversation.id,
    scope: 'automatic',
    reason: 'handed_over',
    at,
  });
  await stopPlansOfPerson(client, conversation, { reason: 'handed_over', at });
  if (item.opened) {
    const cause = { cause: 'handover', causeRef: item.id, at };
    const paused = await applyStateEvent(client, conversation, 'pause', cause);
    await appendTakeoverEvent(client, paused, {
      type: 'takeover.requested',
      reason: handover.reason,
      actor: handover.actor,
      correlationId: item.id,
      at,
    });
  } else {
    await joinOpenHandoff(client, item.id, { newestSeq: conversation.lastSeq, at });
  }
  if (conversation.owedSince !== null) {
    await settleDebt(client, {
      conversationId: conversation.id,
      throughSeq: conversation.lastSeq,
      token: conversation.owedSince,
      settlement: { kind: 'work-item', ref: item.id, reason: handover.reason, at },
    });
  }
  return item.id;
}
