import type { Agenda } from '../../../domain/agenda';
import { isAllowedAt } from '../../../domain/allowed-hours';
import {
  judgeGate,
  type CancelReason,
  type GateFacts,
  type GateVerdict,
} from '../../../domain/gate';
import { followUpSourceEvent } from '../../../domain/keys';
import { ATTEMPT_LIMIT_MS } from '../../../domain/limits';
import { planAgainLater } from '../../../domain/policy';
import { DEFAULT_RULES } from '../../../domain/policy-rules';
import { refreshAgenda } from './agenda';
import {
  at,
  findSend,
  wasNotAccepted,
  type Attempt,
  type Conversation,
  type Facts,
  type Send,
} from './facts';
import { handOver } from './hand-over';
import { HOURS, TIME_ZONE } from './hours';
import { openItem } from './items';
import { endOpenSend, giveBackSend } from './outbox';
import { oldestMissedAgeMs } from './turn';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export type GateResult =
  | { readonly kind: 'permitted'; readonly attemptId: string }
  | { readonly kind: 'refused'; readonly agenda: Agenda };

/** `passGate` of db/gate: one transaction that records the attempt, or refuses and says why. */
export function passGate(
  facts: Facts,
  conversation: Conversation,
  held: { readonly sendId: string; readonly worker: string },
  nowMs: number,
): GateResult {
  const send = findSend(conversation, held.sendId);
  const verdict = judge(facts, gateFacts(facts, conversation, { ...held, send }, nowMs));
  if (verdict.kind === 'allow') {
    return { kind: 'permitted', attemptId: permit(facts, conversation, send, nowMs) };
  }
  refuse(facts, conversation, { send, worker: held.worker, verdict, nowMs });
  return { kind: 'refused', agenda: refreshAgenda(facts, conversation, nowMs) };
}

function judge({ mutant }: Facts, seen: GateFacts): GateVerdict {
  if (mutant === 'skip-second-check') return { kind: 'allow' };
  const lenient = {
    ...seen,
    leaseHeld: seen.leaseHeld || mutant === 'lease-not-compared',
  };
  return judgeGate(mutant === null ? seen : lenient);
}

/** The statement `read-gate-facts`, over the model's rows. */
function gateFacts(
  facts: Facts,
  conversation: Conversation,
  { send, worker }: { readonly send: Send; readonly worker: string },
  nowMs: number,
): GateFacts {
  const address = at(facts.addresses, conversation.address);
  const { oldestOwedAtMs } = conversation;
  return {
    purpose: send.purpose,
    cancelOnInbound: send.cancelOnInbound,
    leaseHeld:
      send.state === 'leased' && send.leaseOwner === worker && nowMs < (send.leaseUntilMs ?? 0),
    reached: send.notBeforeMs <= nowMs,
    unexpired: send.expiresAtMs === null || nowMs < send.expiresAtMs,
    stopRequested: send.stopRequestedAtMs !== null,
    windowOpen: windowOpen(facts, conversation, nowMs),
    outsideHours: send.purpose === 'follow-up' && !isAllowedAt(HOURS, nowMs),
    state: conversation.state,
    personOwns: conversation.owner === 'person',
    automationEnabled: true,
    accountPaused: at(facts.accounts, conversation.account).pausedAtMs !== null,
    addressOptedOut: address.optedOutAtMs !== null,
    optOutConfirmed: optOutConfirmed(facts, conversation, send),
    coversSeq: send.coversSeq,
    lastInboundSeq: conversation.lastInboundSeq,
    draftWithdrawals: conversation.draftWithdrawals,
    oldestOwedAgeMs: oldestOwedAtMs === null ? null : nowMs - oldestOwedAtMs,
    oldestMissedAgeMs: oldestMissedAgeMs(conversation, send, nowMs),
    counts: sendCounts(facts, conversation, nowMs),
  };
}

function windowOpen(facts: Facts, conversation: Conversation, nowMs: number): boolean | null {
  if (facts.replyWindowMs === null) return null;
  const { lastInboundAtMs } = conversation;
  return lastInboundAtMs !== null && nowMs < lastInboundAtMs + facts.replyWindowMs;
}

function optOutConfirmed(facts: Facts, conversation: Conversation, send: Send): boolean {
  if (send.purpose !== 'opt-out-confirmation') return false;
  const since = at(facts.addresses, conversation.address).optedOutAtMs;
  if (since === null) return false;
  return facts.attempts.some(
    (attempt) =>
      attempt.address === conversation.address &&
      attempt.purpose === 'opt-out-confirmation' &&
      attempt.startedAtMs >= since &&
      !wasNotAccepted(attempt),
  );
}

function sendCounts(facts: Facts, conversation: Conversation, nowMs: number): GateFacts['counts'] {
  const inboundMs = conversation.lastInboundReceivedAtMs;
  const counts = { sinceInbound: 0, followUpsToday: 0, last10Minutes: 0, lastHour: 0, lastDay: 0 };
  for (const attempt of facts.attempts) {
    const ageMs = nowMs - attempt.startedAtMs;
    if (attempt.address !== conversation.address) continue;
    if (ageMs < 24 * HOUR_MS) counts.lastDay += 1;
    if (ageMs < HOUR_MS) counts.lastHour += 1;
    if (ageMs < 10 * MINUTE_MS) counts.last10Minutes += 1;
    if (attempt.purpose === 'follow-up') {
      if (ageMs < 20 * HOUR_MS) counts.followUpsToday += 1;
    } else if (attempt.purpose !== 'staff' && inboundMs !== null) {
      const since = attempt.startedAtMs >= inboundMs && !wasNotAccepted(attempt);
      if (since) counts.sinceInbound += 1;
    }
  }
  return counts;
}

function permit(facts: Facts, conversation: Conversation, send: Send, nowMs: number): string {
  const attempt: Attempt = {
    id: `a${facts.attempts.length}`,
    sendId: send.id,
    conversation: conversation.index,
    address: conversation.address,
    purpose: send.purpose,
    number: send.attempts + 1,
    startedAtMs: nowMs,
    sawSeq: conversation.lastInboundSeq,
    outcomes: [],
    marker: null,
  };
  facts.attempts.push(attempt);
  send.state = 'sending';
  send.attemptId = attempt.id;
  send.attemptedAtMs = nowMs;
  send.attempts += 1;
  send.leaseOwner = null;
  send.leaseUntilMs = null;
  conversation.contactStartedAtMs ??= nowMs;
  conversation.nextDueAtMs = nowMs + ATTEMPT_LIMIT_MS;
  return attempt.id;
}

interface Refusal {
  readonly send: Send;
  readonly worker: string;
  readonly verdict: Exclude<GateVerdict, { kind: 'allow' }>;
  readonly nowMs: number;
}

function refuse(facts: Facts, conversation: Conversation, refusal: Refusal): void {
  const { send, worker, verdict, nowMs } = refusal;
  if (verdict.kind === 'plan-again') {
    planAgain(send, nowMs);
    return;
  }
  if (verdict.kind === 'give-back') {
    giveBackSend(send, worker);
    return;
  }
  endOpenSend(send, 'cancelled', verdict.reason, nowMs);
  if (verdict.reason === 'newer_inbound' && send.purpose === 'answer') {
    conversation.draftWithdrawals += 1;
    return;
  }
  afterRefusal(facts, conversation, { send, reason: verdict.reason, nowMs });
}

/** Quiet hours began while it waited: a superseding decision, and the row stays (INV-14, C2). */
function planAgain(send: Send, nowMs: number): void {
  const { rule } = send;
  const decision = planAgainLater(DEFAULT_RULES, HOURS, { nowMs, rule, timeZone: TIME_ZONE });
  send.notBeforeMs = decision.notBeforeMs;
  send.expiresAtMs = decision.expiresAtMs;
  send.state = 'queued';
  send.leaseOwner = null;
  send.leaseUntilMs = null;
}

/** `reopenStep` of db/follow-ups: outside the window the step looks for another way (S6). */
function reopenStep(conversation: Conversation, send: Send): boolean {
  for (const plan of conversation.plans) {
    const step = plan.steps.find((one) => {
      return followUpSourceEvent(plan.id, one.step) === send.sourceEvent;
    });
    if (step === undefined || plan.stopReason !== null) continue;
    step.written = false;
    return true;
  }
  return false;
}

const TO_A_PERSON: readonly CancelReason[] = ['expired', 'window_closed', 'send_budget'];
const BY_HAND: readonly CancelReason[] = ['window_closed', 'send_budget'];

/** `afterRefusal` of db/gate: a person where an answer is owed, an item for a lost follow-up. */
export function afterRefusal(
  facts: Facts,
  conversation: Conversation,
  refused: { readonly send: Send; readonly reason: CancelReason; readonly nowMs: number },
): void {
  const { send, reason, nowMs } = refused;
  const { purpose } = send;
  if (!TO_A_PERSON.includes(reason)) return;
  if (purpose === 'answer' && conversation.owedSince !== null) {
    const words = reason === 'expired' ? 'reply_overdue' : 'policy_requires_human';
    handOver(facts, conversation, words, nowMs);
    return;
  }
  if (purpose !== 'follow-up' || !BY_HAND.includes(reason)) return;
  if (reason === 'window_closed' && reopenStep(conversation, send)) return;
  openItem(facts, conversation, { kind: 'follow-up-by-hand', reason, sendId: send.id, nowMs });
}
