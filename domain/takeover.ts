/**
 * The takeover log's closed sets, its rules and its replay (H1, H3, H4, H5; after the article
 * "Designing an append-only human takeover audit log"). A new value in a set changes the contract
 * and the policy version.
 */
export const TAKEOVER_EVENT_TYPES = [
  'session.started',
  'takeover.requested',
  'takeover.claimed',
  'takeover.released',
  'automation.resumed',
  'session.ended',
  'content.redacted',
  'decision.annotated',
] as const;
export type TakeoverEventType = (typeof TAKEOVER_EVENT_TYPES)[number];

export const TAKEOVER_REASONS = [
  'caller_requested_human',
  'low_model_confidence',
  'policy_requires_human',
  'operator_claimed',
  'operator_unavailable',
  'connection_lost',
  'session_completed',
  'reply_overdue',
  'replays_exhausted',
  'sent_not_recorded',
  'delivery_unknown',
  'quote_requires_human',
  'draft_expired',
  'lead_requested_human',
] as const;
export type TakeoverReason = (typeof TAKEOVER_REASONS)[number];

/** Who acted: a service, a company role or the system; never a person (H1). */
export type TakeoverActor =
  | {
      readonly kind: 'service';
      readonly ref: 'voice-router' | 'policy-engine' | 'dialer' | 'conversation-router';
    }
  | { readonly kind: 'company_role'; readonly ref: 'support-agent' | 'shift-supervisor' }
  | { readonly kind: 'system'; readonly ref: 'recovery-worker' | 'sweeper' };

export type TakeoverAttributes = Readonly<Record<string, string | number | boolean>>;

/** One event of a session as the log holds it. */
export interface TakeoverEvent {
  readonly eventId: string;
  readonly seq: number;
  readonly type: TakeoverEventType;
  readonly actor: TakeoverActor;
  readonly reason: TakeoverReason;
  readonly contentRef: string | null;
}

export interface TakeoverState {
  readonly mode: 'automated' | 'human' | 'ended';
  readonly ownerRole: string | null;
  readonly lastSeq: number;
  readonly redactedRefs: ReadonlySet<string>;
}

/** A session before its first event. */
const NO_TAKEOVER: TakeoverState = {
  mode: 'automated',
  ownerRole: null,
  lastSeq: 0,
  redactedRefs: new Set(),
};

/** The log of a session is not whole: an event is missing or stands twice (H4). */
export class SequenceGapError extends Error {
  override readonly name = 'SequenceGapError';
  readonly code = 'SEQUENCE_GAP';
  constructor(expected: number, met: number) {
    super(`SEQUENCE_GAP expected=${expected} met=${met}`);
  }
}

/**
 * Rebuilds a session's state from its events (H4): sorted by sequence, never by time, without a
 * clock. Throws `SequenceGapError`.
 */
export function replayTakeover(events: readonly TakeoverEvent[]): TakeoverState {
  return [...events].sort((a, b) => a.seq - b.seq).reduce(applyTakeoverEvent, NO_TAKEOVER);
}

/** Applies the next event to a session's state (H4). Pure. Throws `SequenceGapError`. */
function applyTakeoverEvent(state: TakeoverState, event: TakeoverEvent): TakeoverState {
  if (event.seq !== state.lastSeq + 1) throw new SequenceGapError(state.lastSeq + 1, event.seq);
  const next = { ...state, lastSeq: event.seq };
  switch (event.type) {
    case 'session.started':
      return { ...next, mode: 'automated' };
    case 'takeover.claimed':
      return { ...next, mode: 'human', ownerRole: event.actor.ref };
    case 'takeover.released':
    case 'automation.resumed':
      return { ...next, mode: 'automated', ownerRole: null };
    case 'session.ended':
      return { ...next, mode: 'ended', ownerRole: null };
    case 'content.redacted':
      return event.contentRef === null
        ? next
        : { ...next, redactedRefs: new Set([...state.redactedRefs, event.contentRef]) };
    case 'takeover.requested':
    case 'decision.annotated':
      return next;
  }
}

/** What an ended session still takes: the erasure of content and a reviewed annotation (H1). */
export function mayFollowTheEnd(type: TakeoverEventType): boolean {
  return type === 'content.redacted' || type === 'decision.annotated';
}

/** Attribute names that would carry what the log must never hold (H5). */
const FORBIDDEN_NAMES =
  /phone|e-?mail|transcript|note|token|audio|payload|prompt|reasoning|name|address|text|body/i;

/** Ids, words and figures only: no spaces, so no sentence; no `@` and no `+`, so no address. */
const PLAIN_VALUE = /^[A-Za-z0-9_.:,-]{0,400}$/;
/** Seven digits and more in a row, or a telephone number in groups, are no figure of ours. */
const LONG_NUMBER = /(?<![A-Za-z0-9_-])\d{7,}(?![A-Za-z0-9_-])/;
const GROUPED_NUMBER = /(?<![A-Za-z0-9])\d{3}[-._]\d{3}[-._]\d{4}(?![A-Za-z0-9])/;
/** A duration in ms has up to nine digits (eleven days); a telephone number with its area has ten. */
const FIGURE_MAX = 999_999_999;

/**
 * Says why attributes may not enter the log, or null where they may (H5): phone numbers, e-mail
 * addresses, words of the thread, notes, tokens, payloads and prompts stay outside.
 */
export function forbiddenAttribute(attributes: TakeoverAttributes): string | null {
  for (const [name, value] of Object.entries(attributes)) {
    if (FORBIDDEN_NAMES.test(name)) return `the attribute ${name} may not enter the takeover log`;
    if (!isPlain(value)) return `the attribute ${name} holds more than ids and words`;
  }
  return null;
}

function isPlain(value: string | number | boolean): boolean {
  if (typeof value === 'boolean') return true;
  if (typeof value === 'number') return Math.abs(value) <= FIGURE_MAX;
  return PLAIN_VALUE.test(value) && !LONG_NUMBER.test(value) && !GROUPED_NUMBER.test(value);
}
