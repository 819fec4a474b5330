import { settleDebt } from './debt';
import type { Conversation, Facts } from './facts';
import { joinItem, openHandoff, openItem } from './items';
import { applyStateEvent } from './state';
import { stopPlansOfPerson, stopSends } from './stops';

/** `handOver` of db/handover: the one path to a person (T6). */
export function handOver(
  facts: Facts,
  conversation: Conversation,
  reason: string,
  nowMs: number,
): void {
  const { lastSeq } = conversation;
  const item = openItem(facts, conversation, {
    kind: 'handoff',
    reason,
    newestSeq: lastSeq,
    nowMs,
  });
  stopSends(conversation, 'automatic', 'handed_over', nowMs);
  stopPlansOfPerson(facts, conversation, 'handed_over', nowMs);
  const open = openHandoff(conversation);
  if (item.opened) {
    applyStateEvent(conversation, 'pause');
    conversation.takeover.push({ type: 'takeover.requested', reason });
  } else if (open !== undefined) {
    joinItem(open, lastSeq, nowMs);
  }
  if (conversation.owedSince === null) return;
  settleDebt(facts, conversation, {
    throughSeq: lastSeq,
    token: conversation.owedSince,
    settlement: { kind: 'work-item', ref: item.id, reason },
  });
}
