import type { Pool, PoolClient } from 'pg';
import { refreshAgenda } from '../agenda';
import { lockConversation, readClock, type Locked } from '../conversations';
import { inTransaction, run, statement } from '../database';
import { sha256 } from '../digest';
import type { WakeTarget } from '../due';
import { newId } from '../new-id';
import { actorOf, refuse, type Action } from './action';
import type {
  ChannelRules,
  ConversationRequest,
  SettleRequest,
  StaffCommandRequest,
  StaffCommandResult,
  WorkItemRequest,
} from './contract';
import { runConversationCommand } from './conversation';
import { conversationOfItem, lockWorkItem, runItemCommand, toItemResponse } from './items';
import { conversationOfSend, settle } from './settle';

type Response = Extract<StaffCommandResult, { kind: 'done' }>['response'];

/** Without channels every text fits and no window closes; the gate still judges. */
const NO_RULES: ChannelRules = { fits: () => true, replyWindowMs: () => null };

/** One request while its transaction runs. */
interface Context<Request extends StaffCommandRequest> {
  readonly client: PoolClient;
  readonly request: Request;
  readonly now: string | null;
  readonly channels: ChannelRules;
}

/**
 * Carries out one staff command: one transaction as the staff role, under row-level security, with
 * the Idempotency-Key's answer written beside the facts. The caller wakes the conversation after
 * it (design.md 2). Throws `StatementError` and `CommitUnknownError`; the same key is then safe.
 */
export async function runStaffCommand(
  staffPool: Pool,
  request: StaffCommandRequest,
  now: string | null,
  channels: ChannelRules = NO_RULES,
): Promise<StaffCommandResult> {
  return inTransaction(staffPool, async (client): Promise<StaffCommandResult> => {
    await enterBusiness(client, request);
    const known = await findAnswer(client, request);
    if (known !== null) return known;
    return dispatch({ client, request, now, channels });
  });
}

function dispatch(context: Context<StaffCommandRequest>): Promise<StaffCommandResult> {
  const { request, ...rest } = context;
  if ('conversationId' in request) return onConversation({ ...rest, request });
  if ('workItemId' in request) return onWorkItem({ ...rest, request });
  return onSend({ ...rest, request });
}

const setBusiness = statement(
  'enter-business',
  `select set_config('unsilent.business_id', $1, true)`,
);

/** Repeats of one key come one after the other, so that the second finds the first one's answer. */
const lockKey = statement(
  'lock-idempotency-key',
  `select pg_advisory_xact_lock(hashtextextended($1, 0))`,
);

/** The first statement of every staff transaction: row-level security reads it (design.md). */
async function enterBusiness(
  client: PoolClient,
  { businessId, idempotencyKey }: StaffCommandRequest,
): Promise<void> {
  await Promise.all([
    run(client, setBusiness, [businessId]),
    run(client, lockKey, [JSON.stringify([businessId, idempotencyKey])]),
  ]);
}

const findCommand = statement<{
  requestDigest: string;
  response: Response;
}>(
  'find-staff-command',
  `select request_digest as "requestDigest", response from staff_commands
   where business_id = $1 and idempotency_key = $2`,
);

const insertCommand = statement(
  'insert-staff-command',
  `insert into staff_commands (business_id, idempotency_key, request_digest, response, created_at)
   values ($1, $2, $3, $4, $5)`,
);

/** What the request asks for; who asks and under which key does not belong to it. */
function digestOf(request: StaffCommandRequest): string {
  const { businessId: _business, role: _role, idempotencyKey: _key, ...asked } = request;
  return sha256(JSON.stringify(Object.entries(asked).sort(([a], [b]) => (a < b ? -1 : 1))));
}

/** The answer that this key got before; the key's lock is held. */
async function findAnswer(
  client: PoolClient,
  request: StaffCommandRequest,
): Promise<StaffCommandResult | null> {
  const [row] = await run(client, findCommand, [request.businessId, request.idempotencyKey]);
  if (row === undefined) return null;
  if (row.requestDigest !== digestOf(request)) {
    return refuse('key_reused', 'This Idempotency-Key was used for another command.');
  }
  return { kind: 'done', response: row.response, wake: null };
}

async function keepAnswer(
  { client, request }: Context<StaffCommandRequest>,
  done: { readonly response: Response; readonly wake: WakeTarget | null; readonly at: string },
): Promise<StaffCommandResult> {
  const { response, wake, at } = done;
  await run(client, insertCommand, [
    request.businessId,
    request.idempotencyKey,
    digestOf(request),
    JSON.stringify(response),
    at,
  ]);
  return { kind: 'done', response, wake };
}

const NO_CONVERSATION = refuse('not_found', 'There is no such conversation.');

function actionOn(context: Context<StaffCommandRequest>, locked: Locked): Action {
  const { client, request, channels } = context;
  return {
    client,
    locked,
    channels,
    actor: actorOf(request.role),
    role: request.role,
    seenSeq: request.seenSeq,
    idempotencyKey: request.idempotencyKey,
    commandId: newId('cmd'),
  };
}

async function onConversation(context: Context<ConversationRequest>): Promise<StaffCommandResult> {
  const { client, request, now } = context;
  const locked = await lockConversation(client, request.conversationId, now);
  if (locked === null) return NO_CONVERSATION;
  const refusal = await runConversationCommand(actionOn(context, locked), request);
  return refusal ?? answerConversation(context, request.conversationId);
}

async function onSend(context: Context<SettleRequest>): Promise<StaffCommandResult> {
  const { client, request, now } = context;
  const conversationId = await conversationOfSend(client, request.sendId);
  const locked =
    conversationId === null ? null : await lockConversation(client, conversationId, now);
  if (locked === null) return refuse('not_found', 'There is no such message.');
  const refusal = await settle(actionOn(context, locked), request);
  return refusal ?? answerConversation(context, locked.conversation.id);
}

async function answerConversation(
  context: Context<StaffCommandRequest>,
  conversationId: string,
): Promise<StaffCommandResult> {
  const { locked, wake } = await refresh(context, conversationId);
  const { id, state, owner, version } = locked.conversation;
  const response = { conversationId: id, state, owner, version };
  return keepAnswer(context, { response, wake, at: locked.now });
}

async function refresh(
  { client, now }: Context<StaffCommandRequest>,
  conversationId: string,
): Promise<{ readonly locked: Locked; readonly wake: WakeTarget }> {
  await refreshAgenda(client, conversationId, now);
  const locked = await lockConversation(client, conversationId, now);
  if (locked === null) throw new Error('a conversation vanished under its lock');
  return { locked, wake: locked.conversation };
}

async function onWorkItem(context: Context<WorkItemRequest>): Promise<StaffCommandResult> {
  const { client, request, now } = context;
  const found = await conversationOfItem(client, request.workItemId);
  if (found === null) return refuse('not_found', 'There is no such work item.');
  const { conversationId } = found;
  const locked =
    conversationId === null ? null : await lockConversation(client, conversationId, now);
  const [item, instant] = await Promise.all([
    lockWorkItem(client, request.workItemId),
    readClock(client, now),
  ]);
  if (item === null) return refuse('not_found', 'There is no such work item.');
  const refusal = await runItemCommand(
    {
      client,
      item,
      actor: actorOf(request.role),
      at: instant.now,
      now,
      onConversation: locked === null ? null : actionOn(context, locked),
    },
    request,
  );
  return refusal ?? answerItem(context, conversationId, instant.now);
}

async function answerItem(
  context: Context<WorkItemRequest>,
  conversationId: string | null,
  at: string,
): Promise<StaffCommandResult> {
  const refreshed = conversationId === null ? null : await refresh(context, conversationId);
  const item = await lockWorkItem(context.client, context.request.workItemId);
  if (item === null) throw new Error('a work item vanished under its lock');
  const response = toItemResponse(item);
  return keepAnswer(context, { response, wake: refreshed?.wake ?? null, at });
}
