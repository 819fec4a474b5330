import type { Pool, PoolClient } from 'pg';
import { refreshAgenda } from '../agenda';
import { stopSends } from '../cancellation';
import {
  applyStateEvent,
  lockConversation,
  setConversationOwner,
  type Locked,
} from '../conversations';
import { inTransaction, run, statement } from '../database';
import { reopenDebt, settleDebt } from '../debt';
import { sha256 } from '../digest';
import { optOut } from '../ingest/effects';
import { newId } from '../new-id';
import { appendTakeoverEvent, type TakeoverActor } from '../takeover-log';
import { openWorkItem, resolveWorkItems } from '../work-items';
import type { StaffCommandRequest, StaffCommandResult } from './contract';

type Refusal = Extract<StaffCommandResult, { kind: 'refused' }>;
type Response = Extract<StaffCommandResult, { kind: 'done' }>['response'];

/** One command while its transaction runs. */
interface Action {
  readonly client: PoolClient;
  readonly request: StaffCommandRequest;
  readonly locked: Locked;
  readonly actor: TakeoverActor;
  /** Names the command in the log and in the facts that it caused. */
  readonly commandId: string;
}

const COMMANDS: Record<
  StaffCommandRequest['command'],
  (action: Action) => Promise<Refusal | null>
> = { claim, release, book, 'opt-out': optOutByStaff };

/**
 * Carries out one staff command: one transaction as the staff role, under row-level security, with
 * the Idempotency-Key's answer written beside the facts. The caller wakes the conversation after
 * it (design.md 2). Throws `StatementError` and `CommitUnknownError`; the same key is then safe.
 */
export async function runStaffCommand(
  staffPool: Pool,
  request: StaffCommandRequest,
  now: string | null,
): Promise<StaffCommandResult> {
  return inTransaction(staffPool, async (client): Promise<StaffCommandResult> => {
    await enterBusiness(client, request.businessId);
    const locked = await lockConversation(client, request.conversationId, now);
    if (locked === null) {
      return refuse('not_found', 'There is no such conversation.');
    }
    const known = await findAnswer(client, request);
    if (known !== null) return known;
    const action: Action = {
      client,
      request,
      locked,
      actor: { kind: 'company_role', ref: actorRef(request.role) },
      commandId: newId('cmd'),
    };
    const refusal = await COMMANDS[request.command](action);
    if (refusal !== null) return refusal;
    return answer(action, now);
  });
}

const setBusiness = statement(
  'enter-business',
  `select set_config('unsilent.business_id', $1, true)`,
);

/** The first statement of every staff transaction: row-level security reads it (design.md). */
async function enterBusiness(client: PoolClient, businessId: string): Promise<void> {
  await run(client, setBusiness, [businessId]);
}

function actorRef(role: StaffCommandRequest['role']): TakeoverActor['ref'] {
  return role === 'agent' ? 'support-agent' : 'shift-supervisor';
}

function refuse(code: Refusal['code'], detail: string): Refusal {
  return { kind: 'refused', code, detail };
}

const findCommand = statement<{ requestDigest: string; response: Response }>(
  'find-staff-command',
  `select request_digest as "requestDigest", response from staff_commands
   where business_id = $1 and idempotency_key = $2`,
);

const insertCommand = statement(
  'insert-staff-command',
  `insert into staff_commands (business_id, idempotency_key, request_digest, response, created_at)
   values ($1, $2, $3, $4, $5)`,
);

function digestOf(request: StaffCommandRequest): string {
  return sha256(JSON.stringify([request.command, request.conversationId, request.seenSeq]));
}

/** The answer that this key got before; the conversation's lock makes concurrent repeats wait. */
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

async function answer(action: Action, now: string | null): Promise<StaffCommandResult> {
  const { client, request, locked } = action;
  await refreshAgenda(client, request.conversationId, now);
  const after = await lockConversation(client, request.conversationId, now);
  if (after === null) throw new Error('a conversation vanished under its lock');
  const { conversation } = after;
  const response = {
    conversationId: conversation.id,
    state: conversation.state,
    owner: conversation.owner,
    version: conversation.version,
  };
  await run(client, insertCommand, [
    request.businessId,
    request.idempotencyKey,
    digestOf(request),
    JSON.stringify(response),
    locked.now,
  ]);
  return { kind: 'done', response, wake: conversation };
}

/**
 * Takes the conversation over (T6): automation stops, what waits is cancelled, and an owed answer
 * settles to the one open handoff item.
 */
async function claim(action: Action): Promise<Refusal | null> {
  const { client, locked, commandId, actor } = action;
  const { conversation, now: at } = locked;
  if (conversation.owner === 'person') {
    return refuse('not_applicable', 'A person owns this conversation already.');
  }
  const cause = { cause: 'staff_claim', causeRef: commandId, at };
  const paused = await applyStateEvent(client, conversation, 'pause', cause);
  await setConversationOwner(client, conversation.id, 'person', at);
  await stopSends(client, {
    conversationId: conversation.id,
    scope: 'automatic',
    reason: 'person_owns',
    at,
  });
  await appendTakeoverEvent(client, paused, {
    type: 'takeover.claimed',
    reason: 'operator_claimed',
    actor,
    correlationId: commandId,
    at,
  });
  if (conversation.owedSince === null) return null;
  const item = await openWorkItem(client, {
    businessId: conversation.businessId,
    conversationId: conversation.id,
    kind: 'handoff',
    reason: 'operator_claimed',
    explanation: 'A person took the conversation over while the lead waited for an answer.',
    newestSeq: conversation.lastSeq,
    at,
  });
  await settleDebt(client, {
    conversationId: conversation.id,
    throughSeq: conversation.lastSeq,
    token: conversation.owedSince,
    settlement: { kind: 'work-item', ref: item.id, reason: 'operator_claimed', at },
  });
  return null;
}

/**
 * Gives the conversation back (T6): the open handoff closes, the state resumes, and what nobody
 * answered owes again under a new token. A newer message than the person saw refuses it.
 */
async function release(action: Action): Promise<Refusal | null> {
  const { client, request, locked, commandId, actor } = action;
  const { conversation, now: at } = locked;
  if (conversation.owner !== 'person' && conversation.state !== 'paused') {
    return refuse('not_applicable', 'Automation owns this conversation already.');
  }
  if (request.seenSeq === null) {
    return refuse('seen_seq_required', 'Say the newest message that you saw, as `seenSeq`.');
  }
  if (request.seenSeq < conversation.lastInboundSeq) {
    return {
      ...refuse('newer_message', 'The lead wrote again. Look at the new message first.'),
      newestSeq: conversation.lastInboundSeq,
    };
  }
  const cause = { cause: 'staff_release', causeRef: commandId, at };
  const resumed = await applyStateEvent(client, conversation, 'resume', cause);
  await setConversationOwner(client, conversation.id, 'automation', at);
  await appendTakeoverEvent(client, resumed, {
    type: 'takeover.released',
    reason: 'operator_released',
    actor,
    correlationId: commandId,
    at,
  });
  const closed = await resolveWorkItems(client, {
    conversationId: conversation.id,
    kinds: ['handoff'],
    at,
    by: actor.ref,
    resolution: 'given_back',
  });
  await reopenDebt(client, conversation.id, closed, at);
  return null;
}

/** Marks the job booked (S1): what the business started stops; answers go on. */
async function book(action: Action): Promise<Refusal | null> {
  const { client, locked, commandId } = action;
  const { conversation, now: at } = locked;
  if (conversation.state === 'opted_out' || conversation.state === 'closed') {
    return refuse('not_applicable', 'A closed or opted-out conversation cannot be booked.');
  }
  const cause = { cause: 'staff_booking', causeRef: commandId, at };
  await applyStateEvent(client, conversation, 'booking', cause);
  await stopSends(client, {
    conversationId: conversation.id,
    scope: 'follow-ups',
    reason: 'booked',
    at,
  });
  return null;
}

/** Opts the lead out on every address (S6, INV-13); from then on even staff are refused. */
async function optOutByStaff(action: Action): Promise<Refusal | null> {
  const { client, locked, commandId } = action;
  const { conversation, now: at } = locked;
  await optOut(client, conversation, { cause: 'staff_opt_out', causeRef: commandId, at });
  if (conversation.owedSince === null) return null;
  await settleDebt(client, {
    conversationId: conversation.id,
    throughSeq: conversation.lastSeq,
    token: conversation.owedSince,
    settlement: { kind: 'no-answer', ref: commandId, reason: 'opted_out_by_staff', at },
  });
  return null;
}
