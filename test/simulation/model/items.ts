import {
  NOTIFY_AGAIN_AFTER_MS,
  escalationStep,
  openingEscalation,
} from '../../../domain/escalation';
import type { WorkItemKind } from '../../../domain/work-items';
import type { Conversation, Facts, WorkItem } from './facts';

export interface NewItem {
  readonly kind: WorkItemKind;
  readonly reason: string;
  readonly sendId?: string;
  readonly newestSeq?: number;
  readonly nowMs: number;
}

/** `openWorkItem` of db/work-items: one open handoff per conversation, one item of a kind per send. */
export function openItem(
  facts: Facts,
  conversation: Conversation | null,
  item: NewItem,
): { readonly id: string; readonly opened: boolean } {
  const items = conversation?.items ?? facts.operatorItems;
  const sendId = item.sendId ?? null;
  const open = items.find(
    (known) =>
      known.resolution === null &&
      known.kind === item.kind &&
      (known.kind === 'handoff' || (sendId !== null && known.sendId === sendId)),
  );
  if (open !== undefined) return { id: open.id, opened: false };
  const id = `w${facts.itemCount}`;
  facts.itemCount += 1;
  const { kind, reason, nowMs } = item;
  const { deadlineMs, nextMs } = openingEscalation(kind);
  items.push({
    id,
    kind,
    reason,
    sendId,
    openedAtMs: nowMs,
    commit: facts.commits,
    newestSeq: item.newestSeq ?? null,
    level: deadlineMs > 0 ? 0 : 1,
    clockFromLevel: 0,
    nextEscalationAtMs: nowMs + nextMs,
    resolution: null,
  });
  return { id, opened: true };
}

export function openHandoff(conversation: Conversation): WorkItem | undefined {
  return conversation.items.find(({ kind, resolution }) => {
    return kind === 'handoff' && resolution === null;
  });
}

/** `joinOpenHandoff` of db/work-items: where the clock stands, it starts anew. */
export function joinItem(item: WorkItem, newestSeq: number, nowMs: number): void {
  if (item.resolution !== null || (item.newestSeq ?? 0) >= newestSeq) return;
  item.newestSeq = newestSeq;
  if (item.nextEscalationAtMs !== null) return;
  item.clockFromLevel = item.level;
  item.level += 1;
  item.nextEscalationAtMs = nowMs + NOTIFY_AGAIN_AFTER_MS;
}

/** `claimWorkItem` of db/work-items: somebody acts, and the clock stops. */
export function claimItem(item: WorkItem): void {
  if (item.resolution === null) item.nextEscalationAtMs = null;
}

/** Ends an item, unless it ended before. */
function resolveItem(item: WorkItem, resolution: string): void {
  item.resolution ??= resolution;
  item.nextEscalationAtMs = null;
}

/** `escalate` of db/escalations: the next level of an item whose time has come (C7). */
export function escalateItem(conversation: Conversation, itemId: string, nowMs: number): boolean {
  const item = conversation.items.find(({ id }) => id === itemId);
  const dueAtMs = item?.nextEscalationAtMs ?? null;
  if (item === undefined || item.resolution !== null || dueAtMs === null || dueAtMs > nowMs) {
    return false;
  }
  const rung = item.level - item.clockFromLevel + 1;
  const step = escalationStep(item.kind, rung, { dueAtMs, nowMs });
  if (step.act !== 'notify') throw new Error('the model has no drafts for approval');
  item.level += 1;
  item.nextEscalationAtMs = step.nextDueAtMs;
  return true;
}

/** Closes the open handoff and returns its id, as a list that may be empty. */
export function resolveHandoffs(conversation: Conversation, resolution: string): string[] {
  const open = openHandoff(conversation);
  if (open === undefined) return [];
  resolveItem(open, resolution);
  return [open.id];
}

/** `resolveWorkItemOfSend` of db/work-items. */
export function resolveItemOfSend(
  conversation: Conversation,
  sendId: string,
  kind: WorkItemKind,
  resolution: string,
): void {
  for (const item of conversation.items) {
    if (item.sendId === sendId && item.kind === kind && item.resolution === null) {
      resolveItem(item, resolution);
    }
  }
}
