import type { PolicyDecision } from './policy';

/** Who decided: a company role, never a person (H1). */
export type StaffRole = 'agent' | 'manager' | 'owner';

/** The rules by which a person's own decisions are recognised in the timeline (C2). */
export const STAFF_RULES = {
  draft: 'awaits-approval',
  approved: 'staff-approved',
  reply: 'staff-reply',
  sendNow: 'staff-send-now',
  postpone: 'staff-postpone',
} as const;

/** A send as a superseding decision finds it. Epoch ms. */
export interface StandingDecision {
  readonly notBeforeMs: number;
  readonly expiresAtMs: number | null;
  readonly cancelOnInbound: boolean;
}

/** A draft waits for a person (T3). Its approval makes the decision under which it may leave. */
export function awaitApproval(
  nowMs: number,
  draft: { readonly overdueFromMs: number; readonly expiresAtMs: number },
): PolicyDecision {
  return {
    notBeforeMs: nowMs,
    expiresAtMs: draft.expiresAtMs,
    reason: 'manual-review',
    rule: STAFF_RULES.draft,
    cancelOnInbound: true,
    inputs: { overdueFromMs: draft.overdueFromMs },
  };
}

/** A person approved a draft: it may leave at once, within the time that it had (T3, C2). */
export function approveDraft(
  nowMs: number,
  standing: StandingDecision,
  approval: { readonly role: StaffRole; readonly edited: boolean },
): PolicyDecision {
  return {
    ...superseding(nowMs, standing),
    reason: 'manual-review',
    rule: STAFF_RULES.approved,
    inputs: { role: approval.role, edited: approval.edited },
  };
}

/** A person's own message leaves at once; nothing the lead writes takes it back (C2). */
export function sendStaffReply(nowMs: number, role: StaffRole): PolicyDecision {
  return {
    notBeforeMs: nowMs,
    expiresAtMs: null,
    reason: 'immediate-first-response',
    rule: STAFF_RULES.reply,
    cancelOnInbound: false,
    inputs: { role },
  };
}

/** Why a person decided otherwise: their role, and the note in which they said why. */
export interface StaffReason {
  readonly role: StaffRole;
  /** Content stays in the note, because decisions are never erased (C2, H5). */
  readonly noteId: string | null;
}

/** A person lets a waiting send leave now; the gate still holds (C2). */
export function sendNow(
  nowMs: number,
  standing: StandingDecision,
  why: StaffReason,
): PolicyDecision {
  return {
    ...superseding(nowMs, standing),
    reason: 'manual-review',
    rule: STAFF_RULES.sendNow,
    inputs: { ...why, insteadOfMs: standing.notBeforeMs },
  };
}

/**
 * A person lets a send wait until `untilMs` (C2). What has an end keeps the length of its span,
 * except an answer, whose end never moves: see `mayPostpone`.
 */
export function postpone(
  untilMs: number,
  standing: StandingDecision,
  { keepsEnd, ...why }: StaffReason & { readonly keepsEnd: boolean },
): PolicyDecision {
  const { expiresAtMs, notBeforeMs } = standing;
  const movedEndMs = expiresAtMs === null ? null : untilMs + (expiresAtMs - notBeforeMs);
  return {
    ...superseding(untilMs, standing),
    expiresAtMs: keepsEnd ? expiresAtMs : movedEndMs,
    reason: 'manual-review',
    rule: STAFF_RULES.postpone,
    inputs: { ...why, insteadOfMs: notBeforeMs },
  };
}

/** An answer must leave before its end: later, a person answers instead (C2). Pure. */
export function mayPostpone(untilMs: number, standing: StandingDecision): boolean {
  return standing.expiresAtMs === null || untilMs < standing.expiresAtMs;
}

function superseding(notBeforeMs: number, standing: StandingDecision) {
  const { expiresAtMs, cancelOnInbound } = standing;
  return { notBeforeMs, expiresAtMs, cancelOnInbound };
}
