import { sweepDebt, sweepSend, type SweptDebt } from '../../../domain/sweep';
import { refreshAgenda } from './agenda';
import { proofOf, reviewUnsettled, type Proof } from './attempts';
import {
  at,
  findAttempt,
  isOpen,
  unsettled,
  type Attempt,
  type Conversation,
  type Facts,
  type Send,
} from './facts';
import { expireSend } from './follow-up';
import { handOver } from './hand-over';
import { openItem } from './items';
import { fileAcceptance } from './record';

const EXPIRED_MS = 60_000;
const JUST_SWEPT_MS = 55_000;

/** What one transaction of the sweeper did; `wake` says whom it wakes behind its commit. */
export interface Swept {
  readonly did: 'passed' | 'wake' | 'replay' | 'other';
}

const PASSED: Swept = { did: 'passed' };

function isCovering(send: Send, owedSince: number | null): boolean {
  const answers = send.purpose === 'answer' || send.purpose === 'opt-out-confirmation';
  return answers || (send.token !== null && send.token === owedSince);
}

function wasJustSwept({ sweptAtMs }: Conversation, nowMs: number): boolean {
  return sweptAtMs !== null && sweptAtMs > nowMs - JUST_SWEPT_MS;
}

interface DebtFacts extends SweptDebt {
  readonly open: Send | undefined;
}

/** The statement `read-swept-debt`; null where nothing is owed. */
function readDebt(facts: Facts, conversation: Conversation, nowMs: number): DebtFacts | null {
  const { owedSince, overdueFromMs, marker } = conversation;
  const [oldest] = unsettled(conversation);
  if (owedSince === null || overdueFromMs === null || oldest === undefined) return null;
  const covering = conversation.sends.filter((send) => {
    return isCovering(send, owedSince) && send.coversSeq >= oldest.seq;
  });
  const open = covering
    .filter(({ state }) => state === 'sending' || state === 'delivery_unknown')
    .sort((a, b) => (b.attemptedAtMs ?? 0) - (a.attemptedAtMs ?? 0))[0];
  return {
    overdueMs: nowMs - overdueFromMs,
    turnAgeMs: marker === null || marker.thrown ? null : nowMs - marker.startedAtMs,
    attemptAgeMs: open === undefined ? null : nowMs - (open.attemptedAtMs ?? nowMs),
    ...acceptances(facts, conversation, covering, nowMs),
    replays: replaysOf(conversation),
    waits:
      at(facts.accounts, conversation.account).pausedAtMs !== null ||
      covering.some(({ state, notBeforeMs }) => state === 'queued' && notBeforeMs > nowMs),
    open,
  };
}

/** A replay counts once a turn has raised its attempt. */
function replaysOf(conversation: Conversation): number {
  const { replays, replayAttempt, marker } = conversation;
  if (conversation.replaysForMs !== conversation.oldestOwedAtMs) return 0;
  const raised = replayAttempt !== null && marker !== null && replayAttempt < marker.attempt;
  return replays + (raised ? 1 : 0);
}

function acceptances(
  facts: Facts,
  conversation: Conversation,
  covering: readonly Send[],
  nowMs: number,
): Pick<SweptDebt, 'accepted' | 'markerAgeMs'> {
  const standing = covering.filter((send) => !hasFailed(facts, conversation, send));
  const attempts = facts.attempts.filter(
    ({ sendId, outcomes }) =>
      standing.some(({ id }) => id === sendId) &&
      !outcomes.some(({ evidence }) => evidence === 'review'),
  );
  const marked = attempts.flatMap(({ marker, outcomes }) => {
    const filed = outcomes.some(({ outcome }) => outcome === 'accepted');
    return marker === null || filed ? [] : [marker.acceptedAtMs];
  });
  return {
    accepted: attempts.some(({ outcomes }) => {
      return outcomes.some(({ outcome }) => outcome === 'accepted');
    }),
    markerAgeMs: marked.length === 0 ? null : nowMs - Math.min(...marked),
  };
}

function hasFailed(facts: Facts, conversation: Conversation, send: Send): boolean {
  const prefix = `${conversation.account}/`;
  return Object.entries(facts.providerMessages).some(
    ([key, { attemptId, status }]) =>
      key.startsWith(prefix) &&
      status === 'failed' &&
      attemptId !== null &&
      findAttempt(facts, attemptId).sendId === send.id,
  );
}

/** `sweepOneDebt` of db/sweep: takes one overdue debt down the ladder (T4). */
export function sweepConversation(facts: Facts, conversation: Conversation, nowMs: number): Swept {
  const debt = readDebt(facts, conversation, nowMs);
  const verdict = debt === null ? null : sweepDebt(debt);
  if (debt === null || verdict === null) return PASSED;
  const { action } = verdict;
  if (action.kind === 'leave') return PASSED;
  if (action.kind === 'wake' || action.kind === 'replay') {
    return wakeAgain(conversation, action.kind, debt.replays, nowMs);
  }
  if (action.kind === 'hand-over') handOver(facts, conversation, action.reason, nowMs);
  else if (debt.open !== undefined) settleAttempt(facts, conversation, debt.open, nowMs);
  refreshAgenda(facts, conversation, nowMs);
  return { did: 'other' };
}

/** Wakes, at most once a minute; a replay is written down before its wake-up (T4). */
function wakeAgain(
  conversation: Conversation,
  did: 'wake' | 'replay',
  replays: number,
  nowMs: number,
): Swept {
  if (wasJustSwept(conversation, nowMs)) return PASSED;
  conversation.sweptAtMs = nowMs;
  if (did === 'replay') {
    conversation.replays = replays;
    conversation.replaysForMs = conversation.oldestOwedAtMs;
    conversation.replayAttempt = conversation.marker?.attempt ?? 0;
  }
  return { did };
}

/** What proves an unsettled attempt files it, and else a person reviews it (C6). */
function settleAttempt(facts: Facts, conversation: Conversation, send: Send, nowMs: number): void {
  if (send.attemptId === null) return;
  const attempt = findAttempt(facts, send.attemptId);
  const proof = proofOf(facts, conversation, attempt);
  if (proof === null) reviewUnsettled(facts, conversation, send, { attempt, nowMs });
  else fileProof(facts, conversation, attempt, { proof, nowMs });
}

function fileProof(
  facts: Facts,
  conversation: Conversation,
  attempt: Attempt,
  { proof, nowMs }: { readonly proof: Proof; readonly nowMs: number },
): void {
  const { sendId, id: attemptId } = attempt;
  fileAcceptance(facts, conversation, { sendId, attemptId, ...proof }, nowMs);
}

/** `sweepOneSend` of db/sweep: a late send whose debt nobody watches (T4). */
export function sweepLateSend(
  facts: Facts,
  conversation: Conversation,
  send: Send,
  nowMs: number,
): Swept {
  if (!isOpen(send) || (send.token !== null && conversation.owedSince !== null)) return PASSED;
  const inFlight = send.state === 'sending';
  const told = conversation.items.some(({ sendId, kind }) => {
    return sendId === send.id && kind === 'not-sent';
  });
  const { action } = sweepSend({
    pastNotBeforeMs: nowMs - send.notBeforeMs,
    attemptAgeMs: inFlight ? nowMs - (send.attemptedAtMs ?? nowMs) : null,
    told,
  });
  if (action.kind === 'leave') return PASSED;
  if (action.kind === 'wake') {
    if (wasJustSwept(conversation, nowMs)) return PASSED;
    conversation.sweptAtMs = nowMs;
    return { did: 'wake' };
  }
  if (action.kind === 'review') settleAttempt(facts, conversation, send, nowMs);
  else {
    const { id: sendId } = send;
    openItem(facts, conversation, { kind: 'not-sent', reason: 'not_sent', sendId, nowMs });
  }
  refreshAgenda(facts, conversation, nowMs);
  return { did: 'other' };
}

/** `sweepExpired` of db/sweep: a send that expired a minute ago and nobody ended (C3). */
export function sweepExpired(
  facts: Facts,
  conversation: Conversation,
  send: Send,
  nowMs: number,
): void {
  const waits = send.state === 'queued' || send.state === 'leased';
  const expired = send.expiresAtMs !== null && send.expiresAtMs <= nowMs - EXPIRED_MS;
  if (!waits || !expired || send.notBeforeMs > nowMs - EXPIRED_MS) return;
  if (send.state === 'leased' && (send.leaseUntilMs ?? 0) > nowMs) return;
  expireSend(facts, conversation, send.id, nowMs);
}

/** `sweepMarker` of db/sweep: an acceptance that a marker proves and nobody recorded (T8). */
export function sweepMarker(facts: Facts, attempt: Attempt, nowMs: number): void {
  const { marker, outcomes } = attempt;
  if (marker === null || marker.acceptedAtMs >= nowMs - EXPIRED_MS) return;
  if (outcomes.some(({ outcome }) => outcome === 'accepted')) return;
  const conversation = at(facts.conversations, attempt.conversation);
  const proof = { ...marker, evidence: 'marker' } as const;
  fileProof(facts, conversation, attempt, { proof, nowMs });
  refreshAgenda(facts, conversation, nowMs);
}
