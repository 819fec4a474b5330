import {
  businessHoursOf,
  nextAllowed,
  type AllowedHours,
  type AllowedInstant,
} from './allowed-hours';
import { nextOpenInAll } from './hours-search';
import { ANSWER_EXPIRES_AFTER_MS } from './limits';
import type { PolicyRules } from './policy-rules';

/** Why a send may leave when it may (C2). */
export type PolicyReason =
  | 'immediate-first-response'
  | 'business-rule-delay'
  | 'rate-limit-backoff'
  | 'manual-review'
  | 'escalation-window';

/** A policy decision before it is stored: permits, never measures (design.md 5). Epoch ms. */
export interface PolicyDecision {
  readonly notBeforeMs: number;
  readonly expiresAtMs: number | null;
  readonly reason: PolicyReason;
  /** The named rule behind a delay; null where the reason says it all. */
  readonly rule: string | null;
  readonly cancelOnInbound: boolean;
  /** What was looked at, without personal data, so that anyone can redo the decision. */
  readonly inputs: Readonly<Record<string, string | number | boolean | null>>;
}

/**
 * An answer to a message the lead just sent leaves at once, and at most an hour after the debt
 * fell due (C2): later it would do more harm than good, and a person takes it.
 */
export function answerAtOnce(nowMs: number, overdueFromMs: number): PolicyDecision {
  return {
    notBeforeMs: nowMs,
    expiresAtMs: overdueFromMs + ANSWER_EXPIRES_AFTER_MS,
    reason: 'immediate-first-response',
    rule: null,
    cancelOnInbound: true,
    inputs: { overdueFromMs, answerExpiresAfterMs: ANSWER_EXPIRES_AFTER_MS },
  };
}

export interface AnswerFacts {
  readonly nowMs: number;
  readonly overdueFromMs: number;
  /** When the oldest unanswered message was written: delays count from it, so nobody waits twice. */
  readonly oldestOwedMs: number;
  /** The business's. */
  readonly timeZone: string;
}

interface Hold {
  readonly untilMs: number;
  readonly reason: PolicyReason;
  readonly rule: string | null;
}

const MINUTE_MS = 60_000;

/**
 * When an answer may leave (C2): at once, unless the policy names a delay, a window in which a
 * person may answer first, or business hours for answers too. The hour after which it is void
 * counts from where the wait ends (T5).
 */
export function decideAnswer(rules: PolicyRules, facts: AnswerFacts): PolicyDecision {
  const { nowMs, overdueFromMs } = facts;
  const held = heldBy(rules, facts);
  const base = answerAtOnce(nowMs, overdueFromMs);
  if (held === null) return base;
  const { untilMs: notBeforeMs, reason, rule } = held;
  return {
    ...base,
    notBeforeMs,
    expiresAtMs: Math.max(overdueFromMs, notBeforeMs) + ANSWER_EXPIRES_AFTER_MS,
    reason,
    rule,
    inputs: {
      ...base.inputs,
      oldestOwedMs: facts.oldestOwedMs,
      timeZone: facts.timeZone,
      answerOutsideHours: rules.answerOutsideHours,
      delayMinutes: rules.answerDelay?.minutes ?? null,
      escalationWindowMinutes: rules.escalationWindowMinutes,
    },
  };
}

/** The hold that ends last; null where none ends behind now. */
function heldBy(rules: PolicyRules, facts: AnswerFacts): Hold | null {
  const { answerDelay, escalationWindowMinutes } = rules;
  const { nowMs, oldestOwedMs } = facts;
  const after = (minutes: number): number => oldestOwedMs + minutes * MINUTE_MS;
  const none: Hold = { untilMs: nowMs, reason: 'immediate-first-response', rule: null };
  const holds: Hold[] = [none];
  if (answerDelay !== null) {
    const { minutes, rule } = answerDelay;
    holds.push({ untilMs: after(minutes), reason: 'business-rule-delay', rule });
  }
  if (escalationWindowMinutes !== null) {
    const untilMs = after(escalationWindowMinutes);
    holds.push({ untilMs, reason: 'escalation-window', rule: null });
  }
  const last = holds.reduce((a, b) => (b.untilMs > a.untilMs ? b : a));
  const open = businessHoursOf(rules, facts.timeZone);
  if (open === null || rules.answerOutsideHours) return last === none ? null : last;
  const untilMs = nextOpenInAll([open], last.untilMs) ?? last.untilMs;
  if (untilMs > last.untilMs) {
    return { untilMs, reason: 'business-rule-delay', rule: 'business-hours' };
  }
  return last === none ? null : last;
}

/** The one confirmation of an opt-out leaves at once; nothing the lead writes takes it back. */
export function confirmAtOnce(nowMs: number, overdueFromMs: number): PolicyDecision {
  return {
    ...answerAtOnce(nowMs, overdueFromMs),
    rule: 'opt-out-confirmation',
    cancelOnInbound: false,
  };
}

/** A follow-up that is a day late has lost its point (S6). */
const FOLLOW_UP_EXPIRES_AFTER_MS = 12 * 3_600_000;

/** Two follow-ups of one plan keep this distance, more than the gate's one a day asks (INV-17b). */
const FOLLOW_UP_DISTANCE_MS = 21 * 3_600_000;

export interface FollowUpFacts {
  readonly day: number;
  readonly dueAtMs: number;
  /** When the follow-up before it left or leaves; null where there is none. */
  readonly previousMs: number | null;
  /** The business's. */
  readonly timeZone: string;
}

/**
 * When a follow-up step may leave (S6): from its due time on, moved into allowed hours, a day
 * behind the step before it, and dropped half a day later.
 */
export function decideFollowUp(
  rules: PolicyRules,
  hours: AllowedHours,
  facts: FollowUpFacts,
): PolicyDecision {
  const { day, dueAtMs, previousMs, timeZone } = facts;
  const fromMs = Math.max(dueAtMs, (previousMs ?? -Infinity) + FOLLOW_UP_DISTANCE_MS);
  const allowed = nextAllowed(hours, fromMs);
  return {
    notBeforeMs: allowed.atMs,
    expiresAtMs: allowed.atMs + FOLLOW_UP_EXPIRES_AFTER_MS,
    reason: 'business-rule-delay',
    rule: `follow-up-day-${day}`,
    cancelOnInbound: true,
    inputs: {
      dueAtMs,
      day,
      timeZone,
      ...hoursInputs(rules, hours, allowed),
    },
  };
}

/**
 * A follow-up waited in a queue until it became quiet, or the business closed: it leaves when both
 * allow it again (INV-14). The decision supersedes the one before it.
 */
export function planAgainLater(
  rules: PolicyRules,
  hours: AllowedHours,
  facts: { readonly nowMs: number; readonly rule: string | null; readonly timeZone: string },
): PolicyDecision {
  const { nowMs, rule, timeZone } = facts;
  const allowed = nextAllowed(hours, nowMs);
  return {
    notBeforeMs: allowed.atMs,
    expiresAtMs: allowed.atMs + FOLLOW_UP_EXPIRES_AFTER_MS,
    reason: 'business-rule-delay',
    rule,
    cancelOnInbound: true,
    inputs: { fromMs: nowMs, timeZone, ...hoursInputs(rules, hours, allowed) },
  };
}

function hoursInputs(rules: PolicyRules, hours: AllowedHours, allowed: AllowedInstant) {
  return {
    movedBy: allowed.movedBy,
    leastBad: allowed.leastBad,
    zoneSource: hours.recipient.source,
    recipientZones: hours.recipient.zones.join(','),
    quietFrom: rules.quietHours?.from ?? null,
    quietTo: rules.quietHours?.to ?? null,
  };
}

/**
 * What replaces an answer that failed after its acceptance leaves at once, and never later than
 * the answer itself might have (T3, C2).
 */
export function fallbackAtOnce(
  nowMs: number,
  expiresAtMs: number,
  onOtherChannel: boolean,
): PolicyDecision {
  return {
    notBeforeMs: nowMs,
    expiresAtMs,
    reason: 'immediate-first-response',
    rule: onOtherChannel ? 'fallback-other-channel' : 'fallback-template',
    cancelOnInbound: true,
    inputs: { expiresAtMs },
  };
}

/** Rows that wait under rules that changed (C5). */
export interface StandingUnderOldRules {
  readonly reason: PolicyReason;
  readonly rule: string | null;
  readonly notBeforeMs: number;
  readonly expiresAtMs: number | null;
  readonly cancelOnInbound: boolean;
}

/**
 * The decision under changed rules for a row whose own reason they do not touch, such as the
 * provider's back-off, a person's decision or a fallback: its times stay, its version does not.
 */
export function keepUnderNewRules(standing: StandingUnderOldRules): PolicyDecision {
  const { reason, rule, notBeforeMs, expiresAtMs, cancelOnInbound } = standing;
  const inputs = { policyChanged: true, timesKept: true };
  return { reason, rule, notBeforeMs, expiresAtMs, cancelOnInbound, inputs };
}

/**
 * A send that was definitely not accepted waits and keeps its expiry, its key and its row; the
 * decision supersedes the one before it (C2, C5).
 */
export function backOff(
  nowMs: number,
  delayMs: number,
  previous: { readonly expiresAtMs: number | null; readonly cancelOnInbound: boolean },
  failure: { readonly code: string; readonly attempt: number },
): PolicyDecision {
  return {
    notBeforeMs: nowMs + delayMs,
    expiresAtMs: previous.expiresAtMs,
    reason: 'rate-limit-backoff',
    rule: null,
    cancelOnInbound: previous.cancelOnInbound,
    inputs: { delayMs, code: failure.code, attempt: failure.attempt },
  };
}
