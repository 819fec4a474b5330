import type { PoolClient } from 'pg';
import { NOTIFY_AGAIN_AFTER_MS, openingEscalation } from '../domain/escalation';
import type { WorkItemId } from '../domain/ids';
import type { WorkItemKind } from '../domain/work-items';
import { run, statement } from './database';
import { newId } from './new-id';

export interface NewWorkItem {
  readonly businessId: string | null;
  readonly conversationId: string | null;
  readonly kind: WorkItemKind;
  readonly reason: string;
  /** One plain sentence for the person who opens it; no personal data. */
  readonly explanation: string;
  readonly sendId?: string;
  readonly rawId?: string;
  /** The account, integration, job or receipt that it is about; it has one open item of a kind. */
  readonly subjectId?: string | undefined;
  readonly newestSeq?: number;
  /** How long its first notice may wait, so that many handovers make one notice (T4). */
  readonly noticeDelayMs?: number;
  readonly at: string;
}

/** The first level is reached with the opening where the kind notifies at once (C7). */
const insertItem = statement<{ id: WorkItemId }>(
  'insert-work-item',
  `with opened as (
     insert into work_items (id, business_id, conversation_id, kind, reason, explanation, send_id,
       raw_id, newest_seq, opened_at, assigned_queue, escalate_at, next_escalation_at, level,
       automation_paused_at, subject_id)
     values ($1, $2, $3, $4::text, $5, $6, $7, $8, $9, $10, $11,
       $10::timestamptz + make_interval(secs => $12::float8 / 1000),
       $10::timestamptz + make_interval(secs => $13::float8 / 1000),
       case when $12::float8 > 0 then 0 else 1 end,
       case when $4::text = 'handoff' then $10::timestamptz end, $15)
     on conflict do nothing returning *),
   reached as (
     insert into escalations (work_item_id, level, business_id, queue, due_at, at, notify_at)
     select id, level, business_id, assigned_queue, escalate_at, opened_at,
       opened_at + make_interval(secs => $14::float8 / 1000)
     from opened where level = 1)
   select id from opened`,
);

const findOpen = statement<{ id: WorkItemId }>(
  'find-open-work-item',
  `select id from work_items
   where resolved_at is null and kind = $1
     and ((send_id is not null and send_id = $2) or (kind = 'handoff' and conversation_id = $3)
       or (subject_id is not null and subject_id = $4))`,
);

/**
 * Opens a work item with its deadline, or returns the open one of the same kind for the same
 * conversation, send or subject: unique indexes decide, so replays open and notify nothing twice (T6, C7).
 */
export async function openWorkItem(
  client: PoolClient,
  item: NewWorkItem,
): Promise<{ id: WorkItemId; opened: boolean }> {
  const { queue, deadlineMs, nextMs } = openingEscalation(item.kind);
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
    queue,
    deadlineMs,
    nextMs,
    item.noticeDelayMs ?? 0,
    item.subjectId ?? null,
  ]);
  if (inserted !== undefined) return { id: inserted.id, opened: true };
  const [open] = await run(client, findOpen, [
    item.kind,
    item.sendId ?? null,
    item.conversationId,
    item.subjectId ?? null,
  ]);
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

/**
 * The lead waits anew: where somebody acted and the clock stands, it starts again, and a level is
 * reached now. While it runs, staff were notified and nothing is added.
 */
const WAITS_ANEW = `
  level = level + case when next_escalation_at is null then 1 else 0 end,
  clock_from_level = case when next_escalation_at is null then level else clock_from_level end,
  assigned_queue = case when next_escalation_at is null then $4 else assigned_queue end,
  next_escalation_at = coalesce(next_escalation_at,
    $3::timestamptz + make_interval(secs => $5::float8 / 1000))`;

const REACHED_NOW = `
  insert into escalations (work_item_id, level, business_id, queue, due_at, at, notify_at)
  select id, level, business_id, assigned_queue, $3, $3, $3 from waiting where started`;

const WAITING = `id, business_id, level, assigned_queue, old.next_escalation_at is null as started`;

const joinHandoff = statement(
  'join-handoff',
  `with waiting as (
     update work_items set newest_seq = greatest(newest_seq, $2), ${WAITS_ANEW}
     where id = $1 and resolved_at is null and coalesce(newest_seq, 0) < $2
     returning ${WAITING})
   ${REACHED_NOW}`,
);

/** Lets a newer message wait with an open handoff; staff are notified once per burst (T6). */
export async function joinOpenHandoff(
  client: PoolClient,
  workItemId: WorkItemId,
  joining: { readonly newestSeq: number; readonly at: string },
): Promise<void> {
  const { queue } = openingEscalation('handoff');
  const { newestSeq, at } = joining;
  await run(client, joinHandoff, [workItemId, newestSeq, at, queue, NOTIFY_AGAIN_AFTER_MS]);
}

const explainHandoff = statement<{ known: boolean }>(
  'explain-open-handoff',
  `with waiting as (
     update work_items set reason = $2, explanation = $6, ${WAITS_ANEW}
     where conversation_id = $1 and kind = 'handoff' and resolved_at is null
     returning ${WAITING}),
   reached as (${REACHED_NOW})
   select true as known from waiting`,
);

/**
 * Says why the open handoff still waits, and tells staff anew where somebody had acted: what they
 * did has failed (T3, C7). Returns false where none is open. The caller refreshes the agenda.
 */
export async function explainOpenHandoff(
  client: PoolClient,
  conversationId: string,
  why: { readonly reason: string; readonly explanation: string; readonly at: string },
): Promise<boolean> {
  const { queue } = openingEscalation('handoff');
  const { reason, explanation, at } = why;
  const values = [conversationId, reason, at, queue, NOTIFY_AGAIN_AFTER_MS, explanation];
  const found = await run(client, explainHandoff, values);
  return found.length > 0;
}

const claimItem = statement<{ id: WorkItemId }>(
  'claim-work-item',
  `update work_items set
     claimed_at = case when claimed_by = $3 then claimed_at else $2::timestamptz end, claimed_by = $3,
     next_escalation_at = null
   where id = $1 and resolved_at is null returning id`,
);

/**
 * Somebody acts on an item: its clock stops until the lead writes again (C7). Who takes it over
 * from a colleague has it from then on; who has it already keeps their time. Returns false where it
 * is not open. The caller refreshes the agenda.
 */
export async function claimWorkItem(
  client: PoolClient,
  workItemId: string,
  claim: { readonly at: string; readonly by: string },
): Promise<boolean> {
  const rows = await run(client, claimItem, [workItemId, claim.at, claim.by]);
  return rows.length > 0;
}

/** A closed item has its end and no clock any more. */
const RESOLVED = `resolved_at = $3, resolved_by = $4, resolution = $5, next_escalation_at = null`;

const resolveItems = statement<{ id: WorkItemId }>(
  'resolve-work-items',
  `update work_items set ${RESOLVED}
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
  `update work_items set ${RESOLVED}
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

const resolveOfSubject = statement(
  'resolve-work-items-of-subject',
  `update work_items set ${RESOLVED}
   where subject_id = $1 and kind = $2 and resolved_at is null`,
);

/** Closes the items about an account, integration or job, such as one that goes on (IN4). */
export async function resolveWorkItemsOfSubject(
  client: PoolClient,
  subjectId: string,
  resolution: Pick<Resolution, 'at' | 'by' | 'resolution'> & { readonly kind: WorkItemKind },
): Promise<void> {
  await run(client, resolveOfSubject, [
    subjectId,
    resolution.kind,
    resolution.at,
    resolution.by,
    resolution.resolution,
  ]);
}
