import type { Agenda } from '../../../domain/agenda';
import { ATTEMPT_LIMIT_MS } from '../../../domain/limits';
import { backOff } from '../../../domain/policy';
import { retryDelayMs } from '../../../domain/retry';
import type { SendOutcome } from '../../../domain/sending';
import { pauseAccount } from './accounts';
import { refreshAgenda } from './agenda';
import { settleDebt } from './debt';
import {
  at,
  findAttempt,
  findSend,
  wasNotAccepted,
  type Attempt,
  type Conversation,
  type Facts,
  type Send,
} from './facts';
import { handOver } from './hand-over';
import { openItem } from './items';
import { endOpenSend } from './outbox';
import { optOut } from './stops';

type NotAccepted = Extract<SendOutcome, { kind: 'not-accepted' }>;

/** `recordNotAccepted` of db/attempts: back to `queued` under a later notBefore, or ended. */
export function recordNotAccepted(
  facts: Facts,
  attempt: Attempt,
  outcome: NotAccepted,
  nowMs: number,
): Agenda {
  const conversation = at(facts.conversations, attempt.conversation);
  const send = findSend(conversation, attempt.sendId);
  attempt.outcomes.push({ outcome: 'not-accepted', evidence: 'response', filed: true });
  if (send.state === 'sending' && send.attemptId === attempt.id) {
    forgetContact(facts, conversation);
    if (outcome.pausesAccount) {
      pauseAccount(facts, at(facts.accounts, conversation.account), outcome.code, nowMs);
    }
    continueOrEnd(facts, conversation, { send, attempt, outcome, nowMs });
  }
  return refreshAgenda(facts, conversation, nowMs);
}

/** What was never accepted is no contact: the lead's next message is not yet a reply (S1). */
function forgetContact(facts: Facts, conversation: Conversation): void {
  const since = conversation.contactStartedAtMs;
  if (since === null) return;
  const contacted = facts.attempts.some(
    (attempt) =>
      attempt.conversation === conversation.index &&
      attempt.startedAtMs >= since &&
      !wasNotAccepted(attempt),
  );
  if (!contacted) conversation.contactStartedAtMs = null;
}

interface Refused {
  readonly send: Send;
  readonly attempt: Attempt;
  readonly outcome: NotAccepted;
  readonly nowMs: number;
}

function continueOrEnd(facts: Facts, conversation: Conversation, refused: Refused): void {
  const { send, attempt, outcome, nowMs } = refused;
  if (outcome.optedOut) optOut(facts, conversation, nowMs);
  const delayMs =
    outcome.retry === 'back-off'
      ? retryDelayMs(attempt.number, facts.jitter, outcome.retryAfterMs)
      : null;
  if (delayMs !== null) {
    const failure = { code: outcome.code, attempt: attempt.number };
    send.notBeforeMs = backOff(nowMs, delayMs, send, failure).notBeforeMs;
    send.state = 'queued';
    return;
  }
  endOpenSend(send, 'failed', outcome.code, nowMs);
  if (send.purpose === 'answer' && conversation.owedSince !== null && !outcome.optedOut) {
    const never = outcome.retry === 'never';
    handOver(facts, conversation, never ? 'policy_requires_human' : 'replays_exhausted', nowMs);
    return;
  }
  const reason = outcome.code;
  openItem(facts, conversation, { kind: 'delivery-failed', reason, sendId: send.id, nowMs });
}

/** `recordUnknown` of db/attempts: nobody judges it before the attempt limit (C6). */
export function recordUnknown(facts: Facts, attempt: Attempt, nowMs: number): Agenda {
  const conversation = at(facts.conversations, attempt.conversation);
  attempt.outcomes.push({ outcome: 'unknown', evidence: 'response', filed: true });
  if (facts.mutant === 'blind-resend') requeueBlindly(conversation, attempt, nowMs);
  return refreshAgenda(facts, conversation, nowMs);
}

/** What the mutants do and the product never does: the same text a second time. */
function requeueBlindly(conversation: Conversation, attempt: Attempt, nowMs: number): void {
  const send = findSend(conversation, attempt.sendId);
  if (send.state !== 'sending' || send.attemptId !== attempt.id) return;
  send.state = 'queued';
  send.notBeforeMs = nowMs;
}

/** What proves an attempt's acceptance without asking the provider. */
export interface Proof {
  readonly providerMessageId: string;
  readonly acceptedAtMs: number;
  readonly evidence: 'marker' | 'status';
}

/** `findOverdueAttempt` of db/attempts: `sending`, and past the attempt limit. Else null. */
export function findOverdueAttempt(
  facts: Facts,
  conversation: Conversation,
  sendId: string,
  nowMs: number,
): { readonly attempt: Attempt; readonly proof: Proof | null } | null {
  const send = findSend(conversation, sendId);
  const { attemptId, attemptedAtMs } = send;
  if (send.state !== 'sending' || attemptId === null || attemptedAtMs === null) return null;
  if (attemptedAtMs + ATTEMPT_LIMIT_MS > nowMs) return null;
  const attempt = findAttempt(facts, attemptId);
  const proof = facts.mutant === 'marker-not-read' ? null : proofOf(facts, conversation, attempt);
  return { attempt, proof };
}

/** Our marker, else the provider's own word. */
export function proofOf(facts: Facts, conversation: Conversation, attempt: Attempt): Proof | null {
  if (attempt.marker !== null) return { ...attempt.marker, evidence: 'marker' };
  const prefix = `${conversation.account}/`;
  for (const [key, message] of Object.entries(facts.providerMessages)) {
    if (message.attemptId !== attempt.id || !key.startsWith(prefix)) continue;
    const providerMessageId = key.slice(prefix.length);
    return { providerMessageId, acceptedAtMs: message.firstSeenAtMs, evidence: 'status' };
  }
  return null;
}

/** `reviewAttempt` of db/attempts as the sweeper uses it: also where it is unknown already. */
export function reviewUnsettled(
  facts: Facts,
  conversation: Conversation,
  send: Send,
  { attempt, nowMs }: { readonly attempt: Attempt; readonly nowMs: number },
): void {
  review(facts, conversation, send, { attempt, code: 'unsettled', nowMs });
}

/** `giveToReview` of db/attempts: the item takes the debt without pausing (C6). */
export function giveToReview(facts: Facts, attempt: Attempt, code: string, nowMs: number): Agenda {
  const conversation = at(facts.conversations, attempt.conversation);
  const send = findSend(conversation, attempt.sendId);
  if (send.state === 'sending' && send.attemptId === attempt.id) {
    if (facts.mutant === 'absent-means-not-sent' && code === 'absent_on_read_back') {
      requeueBlindly(conversation, attempt, nowMs);
    } else {
      review(facts, conversation, send, { attempt, code, nowMs });
    }
  }
  return refreshAgenda(facts, conversation, nowMs);
}

function review(
  facts: Facts,
  conversation: Conversation,
  send: Send,
  { attempt, code, nowMs }: { attempt: Attempt; code: string; nowMs: number },
): void {
  send.state = 'delivery_unknown';
  send.endReason = code;
  attempt.outcomes.push({ outcome: 'unknown', evidence: 'read-back', filed: true });
  const item = openItem(facts, conversation, {
    kind: 'delivery-unknown',
    reason: code,
    sendId: send.id,
    nowMs,
  });
  if (send.token === null) return;
  settleDebt(facts, conversation, {
    throughSeq: send.coversSeq,
    token: send.token,
    settlement: { kind: 'work-item', ref: item.id, reason: 'delivery_unknown' },
  });
}
