import { refreshAgenda } from './agenda';
import { reopenDebt, settleDebt } from './debt';
import type { Conversation, Facts } from './facts';
import { claimItem, openHandoff, openItem, resolveHandoffs } from './items';
import { applyStateEvent } from './state';
import { optOut, stopPlansOfPerson, stopSends } from './stops';

export const STAFF_COMMANDS = ['claim', 'release', 'book', 'opt-out'] as const;
export type StaffCommand = (typeof STAFF_COMMANDS)[number];

const COMMANDS: Record<
  StaffCommand,
  (facts: Facts, conversation: Conversation, nowMs: number) => boolean
> = { claim, release, book, 'opt-out': optOutByStaff };

/** A command of staff who saw everything; false where it is refused and nothing changed. */
export function runCommand(
  facts: Facts,
  conversation: Conversation,
  command: StaffCommand,
  nowMs: number,
): boolean {
  if (!conversation.born || !COMMANDS[command](facts, conversation, nowMs)) return false;
  refreshAgenda(facts, conversation, nowMs);
  return true;
}

function claim(facts: Facts, conversation: Conversation, nowMs: number): boolean {
  if (conversation.owner === 'person') return false;
  const reason = 'operator_claimed';
  conversation.takeover.push({ type: 'takeover.claimed', reason });
  if (facts.mutant === 'no-stop-at-claim') return true;
  applyStateEvent(conversation, 'pause');
  conversation.owner = 'person';
  stopSends(conversation, 'automatic', 'person_owns', nowMs);
  stopPlansOfPerson(facts, conversation, 'person_owns', nowMs);
  settleToHandoff(facts, conversation, reason, nowMs);
  const open = openHandoff(conversation);
  if (open !== undefined) claimItem(open);
  return true;
}

function settleToHandoff(
  facts: Facts,
  conversation: Conversation,
  reason: string,
  nowMs: number,
): void {
  if (conversation.owedSince === null) return;
  const { lastSeq, owedSince: token } = conversation;
  const item = openItem(facts, conversation, {
    kind: 'handoff',
    reason,
    newestSeq: lastSeq,
    nowMs,
  });
  settleDebt(facts, conversation, {
    throughSeq: lastSeq,
    token,
    settlement: { kind: 'work-item', ref: item.id, reason },
  });
}

function release(facts: Facts, conversation: Conversation, nowMs: number): boolean {
  if (conversation.owner !== 'person' && conversation.state !== 'paused') return false;
  applyStateEvent(conversation, 'resume');
  conversation.owner = 'automation';
  conversation.takeover.push({ type: 'takeover.released', reason: 'operator_released' });
  reopenDebt(facts, conversation, resolveHandoffs(conversation, 'given_back'), nowMs);
  return true;
}

function book(facts: Facts, conversation: Conversation, nowMs: number): boolean {
  if (conversation.state === 'opted_out' || conversation.state === 'closed') return false;
  applyStateEvent(conversation, 'booking');
  stopSends(conversation, 'follow-ups', 'booked', nowMs);
  stopPlansOfPerson(facts, conversation, 'booked', nowMs);
  return true;
}

function optOutByStaff(facts: Facts, conversation: Conversation, nowMs: number): boolean {
  optOut(facts, conversation, nowMs);
  if (conversation.owedSince === null) return true;
  settleDebt(facts, conversation, {
    throughSeq: conversation.lastSeq,
    token: conversation.owedSince,
    settlement: { kind: 'no-answer', ref: 'command', reason: 'opted_out_by_staff' },
  });
  return true;
}
