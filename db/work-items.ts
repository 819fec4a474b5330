import type { PoolClient } from 'pg';
import { run, statement } from './database';
import { newId } from './new-id';
import type { WorkItemId } from '../domain/ids';
import type { WorkItemKind } from '../domain/work-items';

export interface NewWorkItem {
  readonly businessId: string | null;
  readonly conversationId: string | null;
  readonly kind: WorkItemKind;
  readonly reason: string;
  /** One plain sentence for the person who opens it; no personal data. */
  readonly explanation: string;
  readonly sendId?: string;
  readonly rawId?: string;
  readonly newestSeq?: number;
  readonly at: string;
}

const insertItem = statement<{ id: WorkItemId }>(
  'insert-work-item',
  `insert into work_items (id, business_id, conversation_id, kind, reason, explanation, send_id,
     raw_id, newest_seq, opened_at, escalate_at, assigned_queue)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11)
   on conflict do nothing returning id`,
);

const findOpen = statement<{ id: WorkItemId }>(
  'find-open-work-item',
  `select id from work_items
   where resolved_at is null and kind = $1
     and ((send_id is not null and send_id = $2) or (kind = 'handoff' and conversation_id = $3))`,
);

/** Who sees items of a kind first: people who talk to leads, or those who keep the system running. */
const QUEUES: Record<WorkItemKind, string> = {
  handoff: 'front-desk',
  approval: 'front-desk',
  'delivery-unknown': 'front-desk',
  'delivery-failed': 'front-desk',
  'not-sent': 'front-desk',
  'follow-up-by-hand': 'front-desk',
  'job-review': 'operators',
  quarantine: 'operators',
  credentials: 'operators',
  'content-conflict': 'operators',
};

/**
 * Opens a work item, or returns the open one of the same kind for the same conversation or send:
 * unique indexes decide, so replays open nothing twice (T6, C7).
 */
export async function openWorkItem(
  client: PoolClient,
  item: NewWorkItem,
): Promise<{ id: WorkItemId; opened: boolean }> {
  const [inserted] = await run(client, insertItem, [
    newId('wrk'),
    item.businessId,
    item.conversationId,
    item.kind,
    item.reason,
    item.explanation,
    item.sendId ?? null,
    item.rawId ?? null,
    item.newestSeq ?? null,
    item.at,
    QUEUES[item.kind],
  ]);
  if (inserted !== undefined) return { id: inserted.id, opened: true };
  const [open] = await run(client, findOpen, [item.kind, item.sendId ?? null, item.conversationId]);
  if (open === undefined) throw new Error(`no open ${item.kind} item although one was met`);
  return { id: open.id, opened: false };
}

const findHandoff = statement<{ id: WorkItemId }>(
  'find-open-handoff',
  `select id from work_items
   where conversation_id = $1 and kind = 'handoff' and resolved_at is null`,
);

/** The conversation's open handoff item; there is at most one (partial unique index). */
export async function findOpenHandoff(
  client: PoolClient,
  conversationId: string,
): Promise<WorkItemId | null> {
  const [row] = await run(client, findHandoff, [conversationId]);
  return row?.id ?? null;
}

const joinHandoff = statement(
  'join-handoff',
  `update work_items set newest_seq = greatest(newest_seq, $2) where id = $1`,
);

/** Notes that a newer message waits with an open handoff (T6). */
export async function joinOpenHandoff(
  client: PoolClient,
  workItemId: WorkItemId,
  newestSeq: number,
): Promise<void> {
  await run(client, joinHandoff, [workItemId, newestSeq]);
}

const resolveItems = statement<{ id: WorkItemId }>(
  'resolve-work-items',
  `update work_items set resolved_at = $3, resolved_by = $4, resolution = $5
   where conversation_id = $1 and kind = any($2) and resolved_at is null returning id`,
);

export interface Resolution {
  readonly conversationId: string;
  readonly kinds: readonly WorkItemKind[];
  readonly at: string;
  /** A role or service, never a person's name. */
  readonly by: string;
  readonly resolution: string;
}

/** Closes the conversation's open items of the given kinds. */
export async function resolveWorkItems(
  client: PoolClient,
  resolution: Resolution,
): Promise<readonly WorkItemId[]> {
  const rows = await run(client, resolveItems, [
    resolution.conversationId,
    resolution.kinds,
    resolution.at,
    resolution.by,
    resolution.resolution,
  ]);
  return rows.map((row) => row.id);
}

const resolveForSend = statement(
  'resolve-work-item-of-send',
  `update work_items set resolved_at = $3, resolved_by = $4, resolution = $5
   where send_id = $1 and kind = $2 and resolved_at is null`,
);

/** Closes the item of one send, such as an unknown delivery that a late status proved (C6). */
export async function resolveWorkItemOfSend(
  client: PoolClient,
  sendId: string,
  resolution: Pick<Resolution, 'at' | 'by' | 'resolution'> & { readonly kind: WorkItemKind },
): Promise<void> {
  await run(client, resolveForSend, [
    sendId,
    resolution.kind,
    resolution.at,
    resolution.by,
    resolution.resolution,
  ]);
}
