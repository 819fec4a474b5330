import { LEASE_MS } from '../../../domain/limits';
import type { PolicyDecision } from '../../../domain/policy';
import type { Purpose } from '../../../domain/sending';
import { isOpen, type Conversation, type Facts, type Send } from './facts';

export interface NewSend {
  readonly purpose: Purpose;
  readonly sourceEvent: string;
  readonly coversSeq: number;
  readonly token: number | null;
  readonly decision: PolicyDecision;
}

/** `queueSend` of db/outbox: one logical send per source event and purpose (C5). */
export function queueSend(facts: Facts, conversation: Conversation, send: NewSend): Send | null {
  const known = conversation.sends.some(
    ({ purpose, sourceEvent }) => purpose === send.purpose && sourceEvent === send.sourceEvent,
  );
  if (known) return null;
  const queued: Send = {
    id: `s${facts.sendCount}`,
    conversation: conversation.index,
    purpose: send.purpose,
    sourceEvent: send.sourceEvent,
    coversSeq: send.coversSeq,
    episode: conversation.episode,
    cancelOnInbound: send.decision.cancelOnInbound,
    rule: send.decision.rule,
    expiresAtMs: send.decision.expiresAtMs,
    state: 'queued',
    token: send.token,
    notBeforeMs: send.decision.notBeforeMs,
    stands: false,
    leaseOwner: null,
    leaseUntilMs: null,
    attemptId: null,
    attemptedAtMs: null,
    attempts: 0,
    stopRequestedAtMs: null,
    stopVerdict: null,
    endReason: null,
    endedAtMs: null,
    providerMessageId: null,
  };
  facts.sendCount += 1;
  conversation.sends.push(queued);
  return queued;
}

/** `claimSend` of db/outbox: only where `notBefore <= now < expiresAt`, and one worker wins (C4). */
export function claimSend(send: Send, worker: string, nowMs: number): boolean {
  const expired = send.expiresAtMs !== null && nowMs >= send.expiresAtMs;
  const free =
    send.state === 'queued' || (send.state === 'leased' && (send.leaseUntilMs ?? 0) <= nowMs);
  if (!free || nowMs < send.notBeforeMs) return false;
  if (expired) return false;
  send.state = 'leased';
  send.leaseOwner = worker;
  send.leaseUntilMs = nowMs + LEASE_MS;
  return true;
}

/** `giveBackSend` of db/outbox. */
export function giveBackSend(send: Send, worker: string): void {
  if (send.state !== 'leased' || send.leaseOwner !== worker) return;
  send.state = 'queued';
  send.leaseOwner = null;
  send.leaseUntilMs = null;
}

/** `endOpenSend` of db/outbox. */
export function endOpenSend(
  send: Send,
  state: 'cancelled' | 'failed',
  reason: string,
  nowMs: number,
): void {
  if (!isOpen(send)) return;
  send.state = state;
  send.endReason = reason;
  send.endedAtMs = nowMs;
  send.leaseOwner = null;
  send.leaseUntilMs = null;
}
