import type { Pool, PoolClient } from 'pg';
import { escalationStep, type EscalationStep } from '../domain/escalation';
import type { WorkItemId } from '../domain/ids';
import type { WorkItemKind } from '../domain/work-items';
import { refreshAgenda } from './agenda';
import { lockConversation, readClock, type Locked } from './conversations';
import { inTransaction, run, statement } from './database';
import { expireDraft } from './drafts';

interface DueItem {
  readonly kind: WorkItemKind;
  readonly level: number;
  readonly clockFromLevel: number;
  readonly dueAtMs: number;
}

const readDueItem = statement<DueItem>(
  'read-due-work-item',
  `select kind, level, clock_from_level as "clockFromLevel",
     (extract(epoch from next_escalation_at) * 1000)::float8 as "dueAtMs"
   from work_items where id = $1 and next_escalation_at <= $2 and resolved_at is null`,
);

/** By compare-and-set on the level: whoever comes second finds it raised and changes nothing. */
const raiseItem = statement<{ level: number }>(
  'raise-work-item',
  `with raised as (
     update work_items set level = level + 1, assigned_queue = $3,
       next_escalation_at = to_timestamp($4::float8 / 1000)
     where id = $1 and level = $2 and next_escalation_at <= $5 and resolved_at is null
     returning id, level, business_id, assigned_queue, old.next_escalation_at as due_at)
   insert into escalations (work_item_id, level, business_id, queue, due_at, at, notify_at)
   select id, level, business_id, assigned_queue, due_at, $5, $5 from raised
   returning level`,
);

type Instants = Pick<Locked, 'now' | 'nowMs'>;

/**
 * Carries out the deadline of an item whose time has come (C7): notifies again, moves it to the
 * next queue, or turns a draft that nobody approved into a handoff (T3). Where somebody acted, or
 * it was raised already, nothing happens: replays notify nothing twice. The conversation's lock is
 * held and the caller refreshes its agenda. Returns whether it did something.
 */
export async function escalate(
  client: PoolClient,
  locked: Locked,
  workItemId: string,
): Promise<boolean> {
  const due = await readDue(client, locked, workItemId);
  if (due === null) return false;
  if (due.step.act === 'notify') return raise(client, locked, { ...due, workItemId });
  await expireDraft(client, locked, workItemId);
  return true;
}

async function readDue(
  client: PoolClient,
  { now, nowMs }: Instants,
  workItemId: string,
): Promise<{ level: number; step: EscalationStep } | null> {
  const [item] = await run(client, readDueItem, [workItemId, now]);
  if (item === undefined) return null;
  const { kind, level, dueAtMs } = item;
  return { level, step: escalationStep(kind, level - item.clockFromLevel + 1, { dueAtMs, nowMs }) };
}

async function raise(
  client: PoolClient,
  { now }: Instants,
  due: { readonly workItemId: string; readonly level: number; readonly step: EscalationStep },
): Promise<boolean> {
  const { workItemId, level, step } = due;
  if (step.act !== 'notify') throw new Error('only a notification raises an item');
  const { queue, nextDueAtMs } = step;
  const raised = await run(client, raiseItem, [workItemId, level, queue, nextDueAtMs, now]);
  return raised.length > 0;
}

interface OverdueItem {
  readonly id: WorkItemId;
  readonly conversationId: string | null;
}

const findOverdue = statement<OverdueItem>(
  'find-overdue-escalations',
  `select w.id, w.conversation_id as "conversationId"
   from work_items w, (select coalesce($1::timestamptz, clock_timestamp()) as now) n
   where w.next_escalation_at <= n.now and (w.conversation_id is null
     or w.next_escalation_at <= n.now - make_interval(secs => $2::float8 / 1000))
   order by w.next_escalation_at limit $3`,
);

/** What a round over the overdue items did. */
export interface EscalatedOverdue {
  readonly done: number;
  /** Those that could not be carried out; the next round meets them again. */
  readonly failed: readonly { readonly workItemId: string; readonly error: unknown }[];
}

/**
 * Carries out escalations without a workflow: those more than `olderThanMs` overdue, whatever kept
 * their workflow from it, and at once those of items without a conversation (T4, INV-9). Each in a
 * transaction of its own, and one that fails stops no other; several loops may run at once.
 */
export async function escalateOverdue(
  pool: Pool,
  options: { readonly olderThanMs: number; readonly limit: number; readonly now: string | null },
): Promise<EscalatedOverdue> {
  const { olderThanMs, limit, now } = options;
  const overdue = await run(pool, findOverdue, [now, olderThanMs, limit]);
  const failed: { workItemId: string; error: unknown }[] = [];
  let done = 0;
  for (const item of overdue) {
    try {
      if (await escalateAlone(pool, item, now)) done += 1;
    } catch (error) {
      failed.push({ workItemId: item.id, error });
    }
  }
  return { done, failed };
}

function escalateAlone(pool: Pool, item: OverdueItem, now: string | null): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    if (item.conversationId === null) return escalateHomeless(client, item.id, now);
    const locked = await lockConversation(client, item.conversationId, now);
    if (locked === null) throw new Error('an escalated item has no conversation');
    const acted = await escalate(client, locked, item.id);
    if (acted) await refreshAgenda(client, item.conversationId, now);
    return acted;
  });
}

/** Items without a conversation pause nothing and are no drafts: they only notify. */
async function escalateHomeless(
  client: PoolClient,
  workItemId: string,
  now: string | null,
): Promise<boolean> {
  const instant = await readClock(client, now);
  const due = await readDue(client, instant, workItemId);
  return due !== null && raise(client, instant, { ...due, workItemId });
}
