import { ANSWER_EXPIRES_AFTER_MS } from './limits';

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

/** A follow-up step may leave from its due time on and is dropped half a day later. */
export function followUpAt(dueAtMs: number, day: number): PolicyDecision {
  return {
    notBeforeMs: dueAtMs,
    expiresAtMs: dueAtMs + FOLLOW_UP_EXPIRES_AFTER_MS,
    reason: 'business-rule-delay',
    rule: `follow-up-day-${day}`,
    cancelOnInbound: true,
    inputs: { dueAtMs, day },
  };
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
