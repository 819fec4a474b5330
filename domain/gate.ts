import { mayLeave, type ConversationState } from './conversation-state';
import {
  DRAFT_PATIENCE_MS,
  DRAFT_WITHDRAWALS_MAX,
  MISSABLE_AGE_MS,
  SENDS_PER_10_MINUTES_MAX,
  SENDS_PER_DAY_MAX,
  SENDS_PER_HOUR_MAX,
  SENDS_PER_INBOUND_MAX,
} from './limits';
import type { Purpose } from './sending';

/**
 * What the gate knows when it judges: read under the locks of account, conversation, address and
 * outbox row, in the transaction that records the attempt. The boundaries `reached` and
 * `unexpired` are computed in SQL, by the clock that all hosts share (C4).
 */
export interface GateFacts {
  readonly purpose: Purpose;
  readonly cancelOnInbound: boolean;
  readonly leaseHeld: boolean;
  readonly reached: boolean;
  readonly unexpired: boolean;
  /** A stop met the row while a worker held it; such a row never leaves, whatever came later. */
  readonly stopRequested: boolean;
  /** Null where the channel has no reply window. */
  readonly windowOpen: boolean | null;
  /** For what the business starts: quiet for the recipient, or the business is closed (S6). */
  readonly outsideHours: boolean;
  readonly state: ConversationState;
  readonly personOwns: boolean;
  readonly automationEnabled: boolean;
  readonly accountPaused: boolean;
  readonly addressOptedOut: boolean;
  /** The person's present opt-out was confirmed already, perhaps on another channel (INV-13). */
  readonly optOutConfirmed: boolean;
  readonly coversSeq: number;
  readonly lastInboundSeq: number;
  readonly draftWithdrawals: number;
  readonly oldestOwedAgeMs: number | null;
  /** The age of the oldest inbound that the draft did not see; null where it saw all. */
  readonly oldestMissedAgeMs: number | null;
  readonly counts: SendCounts;
}

/** Sends to the address, from `send_attempts` under the address lock. */
export interface SendCounts {
  /** Automatic ones other than follow-up steps since the address last wrote. */
  readonly sinceInbound: number;
  readonly followUpsToday: number;
  readonly last10Minutes: number;
  readonly lastHour: number;
  readonly lastDay: number;
}

export type CancelReason =
  | 'conversation_stopped'
  | 'person_owns'
  | 'newer_inbound'
  | 'expired'
  | 'window_closed'
  | 'opted_out'
  | 'send_budget';

export type GateVerdict =
  | { readonly kind: 'allow' }
  /** The row stays queued: nothing is wrong with it, but not now. */
  | { readonly kind: 'give-back'; readonly reason: 'not_reached' | 'lease_lost' | 'held' }
  /** It waited in a queue until it became quiet: a superseding decision says when it may leave. */
  | { readonly kind: 'plan-again' }
  | { readonly kind: 'cancel'; readonly reason: CancelReason };

const ALLOW: GateVerdict = { kind: 'allow' };

/**
 * The one rule through which every outgoing message passes (design.md, "the gate"; spec C4, S3,
 * P4b, INV-9 to INV-17b). Pure. The order matters only for the reason that is recorded.
 */
export function judgeGate(facts: GateFacts): GateVerdict {
  if (!facts.leaseHeld) return { kind: 'give-back', reason: 'lease_lost' };
  if (!facts.reached) return { kind: 'give-back', reason: 'not_reached' };
  if (!facts.unexpired) return cancel('expired');
  const stop = stopReason(facts);
  if (stop !== null) return cancel(stop);
  if (isHeld(facts)) return { kind: 'give-back', reason: 'held' };
  if (facts.windowOpen === false) return cancel('window_closed');
  if (facts.outsideHours) return { kind: 'plan-again' };
  if (exceedsBudget(facts)) return cancel('send_budget');
  return ALLOW;
}

function cancel(reason: CancelReason): GateVerdict {
  return { kind: 'cancel', reason };
}

/** A paused account holds everything; the business's kill switch holds only what is automatic. */
function isHeld({ accountPaused, automationEnabled, purpose }: GateFacts): boolean {
  return accountPaused || (!automationEnabled && purpose !== 'staff');
}

function stopReason(facts: GateFacts): CancelReason | null {
  const confirmsOptOut = facts.purpose === 'opt-out-confirmation';
  if (facts.addressOptedOut && !confirmsOptOut) return 'opted_out';
  if (confirmsOptOut && facts.optOutConfirmed) return 'opted_out';
  if (facts.personOwns && facts.purpose !== 'staff' && !confirmsOptOut) return 'person_owns';
  if (facts.stopRequested || !mayLeave(facts.purpose, facts.state)) return 'conversation_stopped';
  if (facts.cancelOnInbound && missesInbound(facts)) return 'newer_inbound';
  return null;
}

function missesInbound(facts: GateFacts): boolean {
  if (facts.lastInboundSeq <= facts.coversSeq) return false;
  if (facts.purpose !== 'answer') return true;
  return !draftStands(facts);
}

/**
 * P4b case 4: an answer that was withdrawn twice, or whose oldest message waits 5 s, may leave
 * although it missed messages, as long as those are younger than 2 s. They keep their debt.
 */
export function draftStands(
  facts: Pick<GateFacts, 'draftWithdrawals' | 'oldestOwedAgeMs' | 'oldestMissedAgeMs'>,
): boolean {
  const impatient =
    facts.draftWithdrawals >= DRAFT_WITHDRAWALS_MAX ||
    (facts.oldestOwedAgeMs !== null && facts.oldestOwedAgeMs >= DRAFT_PATIENCE_MS);
  const fresh = facts.oldestMissedAgeMs === null || facts.oldestMissedAgeMs < MISSABLE_AGE_MS;
  return impatient && fresh;
}

function exceedsBudget({ purpose, counts }: GateFacts): boolean {
  if (counts.last10Minutes >= SENDS_PER_10_MINUTES_MAX) return true;
  if (counts.lastHour >= SENDS_PER_HOUR_MAX || counts.lastDay >= SENDS_PER_DAY_MAX) return true;
  if (purpose === 'follow-up') return counts.followUpsToday >= 1;
  return purpose !== 'staff' && counts.sinceInbound >= SENDS_PER_INBOUND_MAX;
}
