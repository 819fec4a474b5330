import type { Purpose } from './sending';

/** States of a conversation (spec S1, after B5). */
export const CONVERSATION_STATES = [
  'active',
  'replied',
  'booked',
  'opted_out',
  'paused',
  'closed',
] as const;
export type ConversationState = (typeof CONVERSATION_STATES)[number];

/** What can move a conversation. Every one is a command, not an observation (S2). */
export type StateEvent =
  | 'reply'
  | 'booking'
  | 'booking-cancelled'
  | 'opt-out'
  | 'opt-in'
  | 'pause'
  | 'resume'
  | 'close'
  | 'new-episode';

export interface StateSnapshot {
  readonly state: ConversationState;
  /** What `resume` goes back to; null unless paused. */
  readonly remembered: ConversationState | null;
}

export interface Transition extends StateSnapshot {
  /** False where the event is only recorded: it met an equal or stronger state, or cannot apply. */
  readonly changed: boolean;
}

/** Strength of the stops that a lead causes: a weaker one never overwrites a stronger (S1). */
const STRENGTH: Partial<Record<ConversationState, number>> = { active: 0, replied: 1, booked: 2 };

/**
 * Moves a conversation by one event (spec S1). Pure: the caller compares and sets the version.
 * An event that does not apply comes back with `changed: false` and is recorded all the same.
 */
export function transition(current: StateSnapshot, event: StateEvent): Transition {
  return RULES[event](current);
}

const RULES: Record<StateEvent, (current: StateSnapshot) => Transition> = {
  reply: (current) => raise(current, 'replied'),
  booking: (current) => raise(current, 'booked'),
  'booking-cancelled': (current) => from(current, ['booked'], 'replied'),
  'opt-out': (current) => into(current, 'opted_out'),
  'opt-in': (current) => from(current, ['opted_out'], 'active'),
  pause,
  resume: (current) => from(current, ['paused'], current.remembered ?? 'replied'),
  close: (current) => into(current, 'closed'),
  'new-episode': (current) => from(current, ['closed'], 'active'),
};

function into(current: StateSnapshot, target: ConversationState): Transition {
  return current.state === target ? unchanged(current) : moved(target);
}

function raise(current: StateSnapshot, target: ConversationState): Transition {
  if (current.state === 'paused') {
    // A reply or booking that meets `paused` raises what resume goes back to.
    const remembered = isStronger(target, current.remembered) ? target : current.remembered;
    return { state: 'paused', remembered, changed: remembered !== current.remembered };
  }
  return isStronger(target, current.state) ? moved(target) : unchanged(current);
}

function isStronger(target: ConversationState, than: ConversationState | null): boolean {
  const present = than === null ? undefined : STRENGTH[than];
  const wanted = STRENGTH[target];
  return present !== undefined && wanted !== undefined && wanted > present;
}

function pause(current: StateSnapshot): Transition {
  const pausable = STRENGTH[current.state] !== undefined;
  if (!pausable) return unchanged(current);
  return { state: 'paused', remembered: current.state, changed: true };
}

function from(
  current: StateSnapshot,
  sources: readonly ConversationState[],
  target: ConversationState,
): Transition {
  return sources.includes(current.state) ? moved(target) : unchanged(current);
}

function moved(state: ConversationState): Transition {
  return { state, remembered: null, changed: true };
}

function unchanged(current: StateSnapshot): Transition {
  return { ...current, changed: false };
}

const MAY_LEAVE: Record<Purpose, readonly ConversationState[]> = {
  answer: ['active', 'replied', 'booked'],
  'follow-up': ['active'],
  'opt-out-confirmation': ['opted_out'],
  'booking-confirmation': ['booked'],
  staff: ['active', 'replied', 'booked', 'paused', 'closed'],
};

/** Says whether a message of this purpose may leave in this state (spec S1). */
export function mayLeave(purpose: Purpose, state: ConversationState): boolean {
  return MAY_LEAVE[purpose].includes(state);
}
