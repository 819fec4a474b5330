import { lockConversation } from '../../../db/conversations';
import { inTransaction } from '../../../db/database';
import { refreshAgenda } from '../../../db/agenda';
import type {
  ChannelRules,
  ConversationCommand,
  StaffCommandRequest,
  StaffCommandResult,
  WorkItemCommand,
} from '../../../db/commands/contract';
import { runStaffCommand } from '../../../db/commands/run';
import { queueDraft } from '../../../db/drafts';
import { newId } from '../../../db/new-id';
import { DEMO_BUSINESS } from '../../../dev/demo';
import type { World } from '../../support/world';

export interface How {
  readonly seenSeq?: number | null;
  readonly key?: string;
  readonly role?: 'agent' | 'manager' | 'owner';
  readonly channels?: ChannelRules;
}

function envelope({ seenSeq = null, key = newId('key'), role = 'agent' }: How) {
  return { businessId: DEMO_BUSINESS.id, role, idempotencyKey: key, seenSeq };
}

function run(
  world: World,
  request: StaffCommandRequest,
  { channels }: How,
): Promise<StaffCommandResult> {
  return runStaffCommand(world.database.staff, request, world.clock.iso, channels);
}

/** A command on a conversation, as the api carries it out. */
export function act(
  world: World,
  conversationId: string,
  command: ConversationCommand,
  how: How = {},
): Promise<StaffCommandResult> {
  return run(world, { ...envelope(how), conversationId, ...command }, how);
}

/** A command on a work item. */
export function actOnItem(
  world: World,
  workItemId: string,
  command: WorkItemCommand,
  how: How = {},
): Promise<StaffCommandResult> {
  return run(world, { ...envelope(how), workItemId, ...command }, how);
}

/** A person says whether an unknown message arrived. */
export function settleSend(
  world: World,
  sendId: string,
  arrived: boolean,
  how: How = {},
): Promise<StaffCommandResult> {
  return run(world, { ...envelope(how), command: 'settle', sendId, arrived }, how);
}

/** Queues a draft for approval, as a turn under a policy that wants one would. */
export function draftFor(world: World, conversationId: string, text = 'A drafted answer.') {
  return inTransaction(world.database.service, async (client) => {
    const locked = await lockConversation(client, conversationId, world.clock.iso);
    const token = locked?.conversation.owedSince;
    if (locked === null || token === null || token === undefined)
      throw new Error('nothing is owed');
    const sendId = await queueDraft(client, locked, {
      body: text,
      verdict: 'meaningful',
      sourceEvent: `draft:${locked.conversation.lastInboundSeq}:${token}`,
      coversSeq: locked.conversation.lastInboundSeq,
      token,
      turn: null,
    });
    if (sendId === null) throw new Error('the draft was made before');
    await refreshAgenda(client, conversationId, world.clock.iso);
    return sendId;
  });
}

/** A lead who wrote, and whose answer is a draft that waits for approval. */
export async function draftedLead(world: World) {
  await world.write({ text: 'My sink leaks' });
  const { id } = await world.conversation();
  return { id, sendId: await draftFor(world, id) };
}

/** The work items of the world, the oldest first. */
export async function itemsOf(world: World): Promise<readonly Record<string, unknown>[]> {
  return world.rows(
    `select id, kind, resolution, resolved_by, claimed_by, assigned_queue as queue, reason,
       next_escalation_at is not null as ticking from work_items order by opened_at, id`,
  );
}

/** How the lead's messages ended, in their order; null for what still owes. */
export async function settlementsOf(world: World): Promise<readonly unknown[]> {
  const rows = await world.rows(
    `select settlement from messages where author = 'lead' and owes order by received_at, seq`,
  );
  return rows.map((row) => row['settlement']);
}

/** What takeover events say of a conversation, in their order, without the sessions' beginnings. */
export async function takeoversOf(world: World): Promise<readonly string[]> {
  const rows = await world.rows(
    `select type from takeover_events where type not like 'session.%' order by session_id, seq`,
  );
  return rows.map((row) => String(row['type']));
}
