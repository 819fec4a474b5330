import { ATTEMPT_LIMIT_MS } from './limits';
import type { TakeoverReason } from './takeover';

const MINUTE_MS = 60_000;

/** The sweeper takes what is owed for longer than this, and sends so far past their notBefore. */
export const SWEEP_AFTER_MS = 3 * MINUTE_MS;

/** A turn that began less than this ago may still be at work; only the sweeper respects it. */
const TURN_IN_FLIGHT_MS = 10 * MINUTE_MS;

/** Later than this an automatic answer does more harm than good (T4, T5). */
const TOO_OLD_MS = 60 * MINUTE_MS;

/** An attempt that is unsettled so long past its limit goes to review. */
const UNSETTLED_MS = 3 * MINUTE_MS;

/** A sent marker older than this without its record proves an answer that nobody filed. */
export const MARKER_UNRECORDED_MS = MINUTE_MS;

/** So many replays that began a turn, and it still did not settle: a person takes it. */
const REPLAYS_MAX = 3;

/** A send without a debt that is so late is shown to a person. */
const NOT_SENT_MS = 10 * MINUTE_MS;

/** The committed facts of a conversation that owes a reply, ages in milliseconds by one clock. */
export interface SweptDebt {
  /** Since `overdue_from`, from which every age of T4 counts (T5). */
  readonly overdueMs: number;
  /** Since the first attempt of the turn in flight; null where none is, or the last one threw. */
  readonly turnAgeMs: number | null;
  /** Since the gate of a covering send that is `sending` or `delivery_unknown`; null without one. */
  readonly attemptAgeMs: number | null;
  /** True where the provider accepted a send that covers the owed messages, and it stayed so. */
  readonly accepted: boolean;
  /** Age of the oldest sent marker of a covering send that no record follows; null without one. */
  readonly markerAgeMs: number | null;
  /** Replays for this oldest message, each of a turn that raised its attempt. */
  readonly replays: number;
  /** True while it waits for credentials, for the switch of automation or for a back-off. */
  readonly waits: boolean;
}

/** The rungs of T4, in their order; the name says why a rung applies. */
const RUNGS = [
  'turn_in_flight',
  'delivery_unsettled',
  'too_old',
  'sent_not_recorded',
  'replays_exhausted',
  'unanswered',
] as const;
export type SweepReason = (typeof RUNGS)[number];

export type SweepAction =
  | { readonly kind: 'leave' }
  /** Wake the conversation, so that the open attempt is read back. */
  | { readonly kind: 'wake' }
  /** Open a delivery-unknown item, which takes the debt and pauses nothing (C6). */
  | { readonly kind: 'review' }
  | { readonly kind: 'hand-over'; readonly reason: TakeoverReason }
  | { readonly kind: 'replay' };

/** How loudly a rung speaks (T7); silent where nothing is wrong yet. */
export type SweepLevel = 'silent' | 'warn' | 'error' | 'fatal';

export interface SweepVerdict {
  /** The first rung that applies, 1 to 6. */
  readonly rung: number;
  readonly action: SweepAction;
  readonly level: SweepLevel;
  /** Every rung that applies, the acting one first. */
  readonly reasons: readonly SweepReason[];
}

const APPLIES: Record<SweepReason, (debt: SweptDebt) => boolean> = {
  turn_in_flight: ({ turnAgeMs, overdueMs }) =>
    turnAgeMs !== null && turnAgeMs < TURN_IN_FLIGHT_MS && overdueMs < TOO_OLD_MS,
  delivery_unsettled: ({ attemptAgeMs }) => attemptAgeMs !== null,
  too_old: ({ overdueMs }) => overdueMs > TOO_OLD_MS,
  sent_not_recorded: ({ accepted, markerAgeMs }) =>
    accepted || (markerAgeMs !== null && markerAgeMs > MARKER_UNRECORDED_MS),
  replays_exhausted: ({ replays }) => replays >= REPLAYS_MAX,
  // The ladder's "else": it names a debt for which no other rung speaks.
  unanswered: () => false,
};

/**
 * The sweeper's ladder (T4): the first rung that applies acts and sets the log level (T7), and the
 * reasons name every rung that applies. Null where the debt is not owed for more than three
 * minutes, which includes a reply that waits for its policy clock (T5). Pure.
 */
export function sweepDebt(debt: SweptDebt): SweepVerdict | null {
  if (debt.overdueMs <= SWEEP_AFTER_MS) return null;
  const applying = RUNGS.filter((rung) => APPLIES[rung](debt));
  const [first = 'unanswered', ...others] = applying;
  return { rung: RUNGS.indexOf(first) + 1, reasons: [first, ...others], ...CLIMB[first](debt) };
}

type Climbed = Pick<SweepVerdict, 'action' | 'level'>;

const LEAVE: Climbed = { action: { kind: 'leave' }, level: 'silent' };

function give(reason: TakeoverReason, level: SweepLevel): Climbed {
  return { action: { kind: 'hand-over', reason }, level };
}

const CLIMB: Record<SweepReason, (debt: SweptDebt) => Climbed> = {
  turn_in_flight: () => LEAVE,
  delivery_unsettled: ({ attemptAgeMs }) => judgeAttempt(attemptAgeMs ?? 0),
  too_old: () => give('reply_overdue', 'error'),
  sent_not_recorded: () => give('sent_not_recorded', 'fatal'),
  replays_exhausted: () => give('replays_exhausted', 'fatal'),
  // What waits for credentials or a back-off is never replayed; the hour ends it.
  unanswered: ({ waits }) => (waits ? LEAVE : { action: { kind: 'replay' }, level: 'warn' }),
};

/** Rung 2: within the limit nobody judges; past it it is read back; then a person reviews it. */
function judgeAttempt(attemptAgeMs: number): Climbed {
  if (attemptAgeMs < ATTEMPT_LIMIT_MS) return LEAVE;
  if (attemptAgeMs < ATTEMPT_LIMIT_MS + UNSETTLED_MS) {
    return { action: { kind: 'wake' }, level: 'warn' };
  }
  return { action: { kind: 'review' }, level: 'error' };
}

/** A row of the outbox whose debt nobody watches: a follow-up, a person's message, a confirmation. */
export interface SweptSend {
  readonly pastNotBeforeMs: number;
  /** Since its gate, while it is `sending`; else null. */
  readonly attemptAgeMs: number | null;
  /** True once a person was told that it did not leave. */
  readonly told: boolean;
}

export interface SendVerdict {
  readonly action: { readonly kind: 'leave' | 'wake' | 'review' | 'not-sent' };
  readonly level: SweepLevel;
}

/**
 * What becomes of a send without a debt that is late (T4): it is woken three minutes past its
 * notBefore, and shown to a person past ten. An attempt in flight is judged as on rung 2. Pure.
 */
export function sweepSend({ pastNotBeforeMs, attemptAgeMs, told }: SweptSend): SendVerdict {
  if (pastNotBeforeMs <= SWEEP_AFTER_MS) return { action: { kind: 'leave' }, level: 'silent' };
  if (attemptAgeMs !== null) return sendAction(judgeAttempt(attemptAgeMs));
  if (pastNotBeforeMs <= NOT_SENT_MS) return { action: { kind: 'wake' }, level: 'warn' };
  if (told) return { action: { kind: 'leave' }, level: 'silent' };
  return { action: { kind: 'not-sent' }, level: 'error' };
}

function sendAction({ action, level }: Climbed): SendVerdict {
  if (action.kind === 'wake' || action.kind === 'review') {
    return { action: { kind: action.kind }, level };
  }
  return { action: { kind: 'leave' }, level };
}

const SENTENCES: Partial<Record<SweepReason, string>> = {
  too_old: 'The answer is more than an hour late; an automatic one would do more harm than good.',
  sent_not_recorded:
    'The provider accepted an answer that was never recorded: look at the thread before you write.',
  replays_exhausted: 'The turn was begun again three times and did not settle.',
  delivery_unsettled: 'It is not known whether a message that was being sent arrived.',
};

/** The reasons as sentences for the person who takes over (T6); no personal data. */
export function explainSweep(reasons: readonly SweepReason[]): string {
  return reasons.flatMap((reason) => SENTENCES[reason] ?? []).join(' ');
}
