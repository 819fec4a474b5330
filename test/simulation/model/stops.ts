import type { Purpose } from '../../../domain/sending';
import { refreshAgenda } from './agenda';
import { at, type Conversation, type Facts } from './facts';
import { applyStateEvent } from './state';

type Scope = 'follow-ups' | 'automatic' | 'everything';

const PURPOSES: Record<Scope, readonly Purpose[]> = {
  'follow-ups': ['follow-up'],
  automatic: ['answer', 'follow-up', 'booking-confirmation'],
  everything: ['answer', 'follow-up', 'booking-confirmation', 'staff'],
};

/** `stopSends` of db/cancellation: what waits is cancelled, what a worker holds is marked. */
export function stopSends(
  conversation: Conversation,
  scope: Scope,
  reason: string,
  nowMs: number,
): void {
  const purposes = PURPOSES[scope];
  for (const send of conversation.sends) {
    if (!purposes.includes(send.purpose)) continue;
    const expiredLease = send.state === 'leased' && (send.leaseUntilMs ?? 0) <= nowMs;
    if (send.state === 'queued' || expiredLease) {
      send.state = 'cancelled';
      send.endReason = reason;
      send.endedAtMs = nowMs;
      send.leaseOwner = null;
      send.leaseUntilMs = null;
    } else if (send.state === 'leased' || send.state === 'sending') {
      send.stopRequestedAtMs ??= nowMs;
    }
  }
  for (const plan of conversation.plans) plan.stopReason ??= reason;
}

/** The person's other conversations. */
function othersOf(facts: Facts, conversation: Conversation): Conversation[] {
  return facts.conversations.filter(
    (other) => other.born && other.address === conversation.address && other !== conversation,
  );
}

/** `optOut` of db/ingest/effects: every address of the person, everything that waits (INV-13). */
export function optOut(facts: Facts, conversation: Conversation, nowMs: number): void {
  applyStateEvent(conversation, 'opt-out');
  if (facts.mutant === 'opt-out-stops-nothing') {
    conversation.state = 'replied';
    return;
  }
  at(facts.addresses, conversation.address).optedOutAtMs ??= nowMs;
  const others = othersOf(facts, conversation);
  for (const one of [conversation, ...others]) stopSends(one, 'everything', 'opted_out', nowMs);
  for (const other of others) refreshAgenda(facts, other, nowMs);
}

/** `stopPlansOfPerson` of db/cancellation: the follow-ups of the person's other channels. */
export function stopPlansOfPerson(
  facts: Facts,
  conversation: Conversation,
  reason: string,
  nowMs: number,
): void {
  if (facts.mutant === 'reply-stops-nothing') return;
  for (const other of othersOf(facts, conversation)) {
    stopSends(other, 'follow-ups', reason, nowMs);
    refreshAgenda(facts, other, nowMs);
  }
}

/** `optIn` of db/person: lifts the opt-out on every channel; false where there was none. */
export function optIn(facts: Facts, conversation: Conversation): boolean {
  const address = at(facts.addresses, conversation.address);
  if (address.optedOutAtMs === null && conversation.state !== 'opted_out') return false;
  address.optedOutAtMs = null;
  for (const one of [...othersOf(facts, conversation), conversation]) {
    if (one.state === 'opted_out') applyStateEvent(one, 'opt-in');
  }
  return true;
}
