import type { PoolClient } from 'pg';
import { cleanText } from '../../domain/text';
import type { WorkItemKind } from '../../domain/work-items';
import { mendCredentials } from '../accounts';
import { run, statement } from '../database';
import { writeNote } from '../notes';
import { claimWorkItem } from '../work-items';
import { refuse, refuseUnseen, type Action, type StaffActor } from './action';
import type { Refusal, WorkItemRequest, WorkItemResponse } from './contract';
import { takeOver } from './ownership';

/** A work item as its command finds it, behind the locks. */
export interface ItemRow extends WorkItemResponse {
  readonly kind: WorkItemKind;
  readonly subjectId: string | null;
  /** True while its clock runs. */
  readonly ticking: boolean;
}

const COLUMNS = `id as "workItemId", conversation_id as "conversationId", kind,
  subject_id as "subjectId", assigned_queue as queue, claimed_at::text as "claimedAt",
  claimed_by as "claimedBy", resolved_at::text as "resolvedAt", resolution,
  next_escalation_at is not null as ticking`;

const lockItem = statement<ItemRow>(
  'lock-work-item',
  `select ${COLUMNS} from work_items where id = $1 for update`,
);

const findItem = statement<{ conversationId: string | null }>(
  'find-work-item',
  `select conversation_id as "conversationId" from work_items where id = $1`,
);

/** Which conversation an item belongs to, to be locked before it. Null where there is no item. */
export async function conversationOfItem(
  client: PoolClient,
  workItemId: string,
): Promise<{ readonly conversationId: string | null } | null> {
  const [found] = await run(client, findItem, [workItemId]);
  return found ?? null;
}

/** An item, locked. The lock of its conversation is held. */
export async function lockWorkItem(
  client: PoolClient,
  workItemId: string,
): Promise<ItemRow | null> {
  const [item] = await run(client, lockItem, [workItemId]);
  return item ?? null;
}

/** One command on a work item, with the action on its conversation where it has one. */
export interface ItemAction {
  readonly client: PoolClient;
  readonly item: ItemRow;
  readonly actor: StaffActor;
  readonly at: string;
  readonly now: string | null;
  readonly onConversation: Action | null;
}

/** Carries out a command on an open item. */
export async function runItemCommand(
  action: ItemAction,
  request: WorkItemRequest,
): Promise<Refusal | null> {
  if (action.item.resolvedAt !== null) {
    return refuse('not_applicable', 'This item is resolved already.');
  }
  return request.command === 'claim-item'
    ? claimItem(action)
    : resolveItem(action, request.resolution);
}

/**
 * A person acts on an item: its clock stops (C7), and where it is a handoff they own the
 * conversation (T6).
 */
async function claimItem(action: ItemAction): Promise<Refusal | null> {
  const { client, item, at, actor, onConversation } = action;
  if (item.claimedAt !== null && !waitsAgain(action)) {
    return refuse('not_applicable', 'Somebody claimed this item already.');
  }
  if (item.kind === 'handoff' && onConversation !== null) {
    await takeOver(onConversation, 'staff_claim');
    return null;
  }
  await claimWorkItem(client, item.workItemId, { at, by: actor.ref });
  return null;
}

/** A claimed item waits again where the lead wrote since, or where its conversation has no owner. */
function waitsAgain({ item, onConversation }: ItemAction): boolean {
  const owner = onConversation?.locked.conversation.owner;
  return item.ticking || (item.kind === 'handoff' && owner === 'automation');
}

/** Kinds that end by a command of their own, and which. */
const OTHER_WAY_OUT: Partial<Record<WorkItemKind, string>> = {
  'delivery-unknown': 'Look at the thread, then settle the delivery: did the message arrive?',
  approval: 'Approve or reject the draft.',
};

/**
 * A person closes an item: they answered, or nothing needs to be done, with their reason (INV-6).
 * A handoff leaves them the owner until they give the conversation back; refused credentials let
 * their account go on (IN4).
 */
async function resolveItem(action: ItemAction, resolution: string | null): Promise<Refusal | null> {
  const { item, onConversation } = action;
  const wayOut = OTHER_WAY_OUT[item.kind];
  if (wayOut !== undefined) return refuse('not_applicable', wayOut);
  if (onConversation !== null) {
    const unseen = refuseUnseen(onConversation, item.kind === 'handoff');
    if (unseen !== null) return unseen;
    if (item.kind === 'handoff') await takeOver(onConversation, 'staff_claim');
  }
  if (item.kind === 'credentials') {
    await mendCredentials(action.client, item.subjectId, action.actor.ref, action.now);
  }
  await closeItem(action, await resolutionWord(action, resolution));
  return null;
}

const RESOLUTIONS: readonly string[] = ['answered', 'no_answer_needed', 'done'];

/** Known words stand in the item; a person's own words are content and stand in a note. */
async function resolutionWord(
  { onConversation }: ItemAction,
  resolution: string | null,
): Promise<string> {
  const words = cleanText(resolution ?? '').trim();
  if (words === '') return 'resolved_by_staff';
  if (RESOLUTIONS.includes(words)) return words;
  if (onConversation !== null) {
    const { client, locked, role } = onConversation;
    await writeNote(client, locked.conversation, { role, text: words, at: locked.now });
  }
  return 'explained_in_note';
}

const closeOpenItem = statement(
  'close-work-item',
  `update work_items set resolved_at = $2, resolved_by = $3, resolution = $4,
     next_escalation_at = null, claimed_at = coalesce(claimed_at, $2),
     claimed_by = coalesce(claimed_by, $3)
   where id = $1 and resolved_at is null`,
);

async function closeItem({ client, item, at, actor }: ItemAction, word: string): Promise<void> {
  await run(client, closeOpenItem, [item.workItemId, at, actor.ref, word]);
}

/** The answer of a command on an item: what it is now. */
export function toItemResponse(item: ItemRow): WorkItemResponse {
  const { kind: _kind, subjectId: _subject, ticking: _ticking, ...response } = item;
  return response;
}
