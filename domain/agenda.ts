import type { ConversationState } from './conversation-state';
import { ATTEMPT_LIMIT_MS } from './limits';
import type { Purpose } from './sending';

/** A send that is not at its end: what the agenda has to look after. */
export interface OpenSend {
  readonly sendId: string;
  readonly purpose: Purpose;
  readonly state: 'queued' | 'leased' | 'sending';
  /** The debt's token that it answers; null for what answers nothing. */
  readonly token: string | null;
  /** True once a turn decided that it leaves although newer messages came (P4b case 4). */
  readonly stands: boolean;
  /** A draft that a person has to approve: it never leaves by itself, and still expires (T3). */
  readonly awaitingApproval: boolean;
  readonly notBeforeMs: number;
  readonly expiresAtMs: number | null;
  readonly leaseUntilMs: number | null;
  readonly attemptedAtMs: number | null;
}

/** The committed facts of one conversation, read in one statement. Instants are epoch ms. */
export interface AgendaFacts {
  readonly nowMs: number;
  readonly state: ConversationState;
  readonly personOwns: boolean;
  /** True while a handoff item is open. */
  readonly escalated: boolean;
  readonly owedSince: string | null;
  readonly turnDueAtMs: number | null;
  /** Sends wait while the account is paused or automation is switched off; only expiry goes on. */
  readonly sendsHeld: boolean;
  readonly sends: readonly OpenSend[];
  readonly followUp: {
    readonly planId: string;
    readonly step: number;
    readonly dueAtMs: number;
  } | null;
  /** The earliest deadline of the open work items that nobody acted on (C7). */
  readonly escalation: { readonly workItemId: string; readonly dueAtMs: number } | null;
}

export type Step =
  | { readonly kind: 'take-turn' }
  | { readonly kind: 'deliver'; readonly sendId: string }
  | { readonly kind: 'resolve'; readonly sendId: string }
  | { readonly kind: 'expire'; readonly sendId: string }
  | { readonly kind: 'escalate'; readonly workItemId: string }
  | { readonly kind: 'follow-up'; readonly planId: string; readonly step: number };

export interface AgendaItem {
  readonly step: Step;
  /** Milliseconds from the reading until it is due; zero or less is due now. */
  readonly dueInMs: number;
}

/**
 * What is due and when, by the clock of the process that read it. It crosses Temporal, so it holds
 * ids only, and durations instead of instants (design.md, "Time").
 */
export interface Agenda {
  readonly state: ConversationState;
  readonly owner: 'automation' | 'person';
  readonly owed: boolean;
  readonly escalated: boolean;
  /** Sorted: the earliest first, and of those due at once the more urgent first. */
  readonly items: readonly AgendaItem[];
}

/** A deadline stands before what may leave: it wins against a send that nobody claimed (C7). */
const URGENCY: readonly Step['kind'][] = [
  'resolve',
  'expire',
  'escalate',
  'take-turn',
  'deliver',
  'follow-up',
];

/** Plans what is due from the committed facts (design.md 3). Pure. */
export function planAgenda(facts: AgendaFacts): Agenda {
  const items = [...turnItems(facts), ...facts.sends.flatMap((send) => sendItems(facts, send))];
  if (facts.followUp !== null) {
    const { planId, step, dueAtMs } = facts.followUp;
    items.push({ step: { kind: 'follow-up', planId, step }, dueInMs: dueAtMs - facts.nowMs });
  }
  if (facts.escalation !== null) {
    const { workItemId, dueAtMs } = facts.escalation;
    items.push({ step: { kind: 'escalate', workItemId }, dueInMs: dueAtMs - facts.nowMs });
  }
  items.sort((a, b) => order(a) - order(b) || rank(a) - rank(b));
  return {
    state: facts.state,
    owner: facts.personOwns ? 'person' : 'automation',
    owed: facts.owedSince !== null,
    escalated: facts.escalated,
    items,
  };
}

/** Everything overdue counts as due at once, so that urgency decides and not lateness. */
function order(item: AgendaItem): number {
  return Math.max(item.dueInMs, 0);
}

function rank(item: AgendaItem): number {
  return URGENCY.indexOf(item.step.kind);
}

/** A turn is owed unless an open send already answers this very token, or stands before it. */
function turnItems(facts: AgendaFacts): AgendaItem[] {
  if (facts.owedSince === null) return [];
  const answered = facts.sends.some((send) => send.token === facts.owedSince || send.stands);
  if (answered) return [];
  // A worker that holds an older draft meets the gate, which refuses it; the turn waits for that.
  const leases = facts.sends.map((send) => (send.token === null ? 0 : (send.leaseUntilMs ?? 0)));
  const dueAtMs = Math.max(facts.turnDueAtMs ?? facts.nowMs, ...leases);
  return [{ step: { kind: 'take-turn' }, dueInMs: dueAtMs - facts.nowMs }];
}

function sendItems(facts: AgendaFacts, send: OpenSend): AgendaItem[] {
  const { sendId } = send;
  if (send.state === 'sending') {
    const limitMs = (send.attemptedAtMs ?? facts.nowMs) + ATTEMPT_LIMIT_MS;
    return [{ step: { kind: 'resolve', sendId }, dueInMs: limitMs - facts.nowMs }];
  }
  const items: AgendaItem[] = [];
  const freeAtMs = Math.max(send.notBeforeMs, send.leaseUntilMs ?? send.notBeforeMs);
  const expires = send.expiresAtMs;
  const held = facts.sendsHeld || send.awaitingApproval;
  if (!held && (expires === null || freeAtMs < expires)) {
    items.push({ step: { kind: 'deliver', sendId }, dueInMs: freeAtMs - facts.nowMs });
  }
  if (expires !== null) {
    const expiresAtMs = Math.max(expires, send.leaseUntilMs ?? expires);
    items.push({ step: { kind: 'expire', sendId }, dueInMs: expiresAtMs - facts.nowMs });
  }
  return items.filter((item) => item.step.kind === 'expire' || !hasExpired(facts, send));
}

function hasExpired(facts: AgendaFacts, send: OpenSend): boolean {
  return send.expiresAtMs !== null && facts.nowMs >= send.expiresAtMs;
}

export type Move =
  | { readonly kind: 'do'; readonly step: Step }
  | { readonly kind: 'wait'; readonly step: Step; readonly waitMs: number }
  | { readonly kind: 'complete' };

/**
 * The workflow's next move, `elapsedMs` after the agenda was read: the first thing due, else a
 * wait for it, else the run is complete. The one place where the workflow's rule stands.
 */
export function nextMove(agenda: Agenda, elapsedMs: number): Move {
  const first = agenda.items[0];
  if (first === undefined) return { kind: 'complete' };
  const waitMs = first.dueInMs - elapsedMs;
  return waitMs <= 0
    ? { kind: 'do', step: first.step }
    : { kind: 'wait', step: first.step, waitMs };
}
