import type { WorkItemKind } from './work-items';

/** Who is notified: those who talk to leads, or those who keep the system running (C7). */
export const ESCALATION_QUEUES = [
  'front-desk',
  'shift-lead',
  'owner',
  'operators',
  'operators-on-call',
] as const;
export type EscalationQueue = (typeof ESCALATION_QUEUES)[number];

const MINUTE_MS = 60_000;

/** An unclaimed item notifies again after this long (C7). */
export const NOTIFY_AGAIN_AFTER_MS = 5 * MINUTE_MS;
/** And moves to the next queue after this long, counted from its deadline. */
const NEXT_QUEUE_AFTER_MS = 10 * MINUTE_MS;
/** From then on it notifies again and again until somebody acts. */
const NOTIFY_REPEATEDLY_EVERY_MS = 30 * MINUTE_MS;
/** A draft that nobody approved notifies after this long (T3). */
const APPROVAL_NOTIFIES_AFTER_MS = 10 * MINUTE_MS;
/** And becomes a handoff after this long. */
const APPROVAL_HANDS_OVER_AFTER_MS = 20 * MINUTE_MS;

const LEADS: readonly EscalationQueue[] = ['front-desk', 'shift-lead', 'owner'];
const SYSTEM: readonly EscalationQueue[] = ['operators', 'operators-on-call'];

/** The queues of a kind, the first one first. */
const QUEUES: Record<WorkItemKind, readonly EscalationQueue[]> = {
  handoff: LEADS,
  approval: LEADS,
  'delivery-unknown': LEADS,
  'delivery-failed': LEADS,
  'not-sent': LEADS,
  'follow-up-by-hand': LEADS,
  'job-review': SYSTEM,
  quarantine: SYSTEM,
  credentials: SYSTEM,
  'content-conflict': SYSTEM,
};

/** What a new work item starts with. */
export interface OpeningEscalation {
  readonly queue: EscalationQueue;
  /** From the opening to the deadline `escalateAt`; zero notifies with the opening (C7). */
  readonly deadlineMs: number;
  /** From the opening to the first level that is not reached by then. */
  readonly nextMs: number;
}

/** The deadline that is set with the decision to open an item (C7). */
export function openingEscalation(kind: WorkItemKind): OpeningEscalation {
  const queue = queueOf(kind, 0);
  return kind === 'approval'
    ? { queue, deadlineMs: APPROVAL_NOTIFIES_AFTER_MS, nextMs: APPROVAL_NOTIFIES_AFTER_MS }
    : { queue, deadlineMs: 0, nextMs: NOTIFY_AGAIN_AFTER_MS };
}

/** What happens when a level's time has come. */
export type EscalationStep =
  | { readonly act: 'hand-over' }
  | {
      readonly act: 'notify';
      readonly queue: EscalationQueue;
      readonly nextDueAtMs: number;
    };

/**
 * The `rung`-th level since the clock started, the first one being 1 (C7, T3): again to the same
 * queue, then to the next one, then every 30 minutes until somebody acts. A level keeps its own
 * time however late it is carried out; of the repetitions that were missed only one is made good.
 */
export function escalationStep(
  kind: WorkItemKind,
  rung: number,
  { dueAtMs, nowMs }: { readonly dueAtMs: number; readonly nowMs: number },
): EscalationStep {
  if (kind === 'approval' && rung > 1) return { act: 'hand-over' };
  if (kind === 'approval') {
    const waitMs = APPROVAL_HANDS_OVER_AFTER_MS - APPROVAL_NOTIFIES_AFTER_MS;
    return { act: 'notify', queue: queueOf(kind, 0), nextDueAtMs: dueAtMs + waitMs };
  }
  const queue = queueOf(kind, rung - 2);
  if (rung === 1) return { act: 'notify', queue, nextDueAtMs: dueAtMs + NOTIFY_AGAIN_AFTER_MS };
  if (rung === 2) {
    const waitMs = NEXT_QUEUE_AFTER_MS - NOTIFY_AGAIN_AFTER_MS;
    return { act: 'notify', queue, nextDueAtMs: dueAtMs + waitMs };
  }
  const missed = Math.max(0, Math.floor((nowMs - dueAtMs) / NOTIFY_REPEATEDLY_EVERY_MS));
  return { act: 'notify', queue, nextDueAtMs: dueAtMs + (missed + 1) * NOTIFY_REPEATEDLY_EVERY_MS };
}

function queueOf(kind: WorkItemKind, place: number): EscalationQueue {
  const queues = QUEUES[kind];
  const queue = queues[Math.min(Math.max(place, 0), queues.length - 1)];
  if (queue === undefined) throw new Error(`no queue for ${kind}`);
  return queue;
}
