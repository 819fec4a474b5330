import type { PoolClient } from 'pg';
import type { MessageElement } from '../../domain/inbound';
import { writtenAtMs } from '../../domain/inbound-time';
import { OPENER_WAIT_MS } from '../../domain/limits';
import { refreshAgenda } from '../agenda';
import { stopPlansOfPerson, stopSends } from '../cancellation';
import {
  applyStateEvent,
  setConversationOwner,
  type Instant,
  type LockedConversation,
} from '../conversations';
import { run, statement } from '../database';
import { settleDebt } from '../debt';
import { withdrawDraft, withdrawDraftOf } from '../draft-withdrawal';
import { lockOtherConversations, optIn } from '../person';
import { appendTakeoverEvent } from '../takeover-log';
import { joinOpenHandoff, openWorkItem, resolveWorkItems } from '../work-items';
import { toMs, type NewMessage } from './messages';
import type { PreparedElement } from './request';

const optOutAddresses = statement(
  'opt-out-addresses',
  `update addresses set opted_out_at = $2 where lead_id = $1 and opted_out_at is null`,
);

/** Writes an opt-out to every address of the person and stops what waits anywhere (S6, INV-13). */
export async function optOut(
  client: PoolClient,
  found: LockedConversation,
  cause: { readonly cause: string; readonly causeRef: string | null; readonly at: string },
): Promise<LockedConversation> {
  const { at } = cause;
  const conversation = await withdrawDraft(client, found, { reason: 'opted_out', at });
  const next = await applyStateEvent(client, conversation, 'opt-out', cause);
  // Conversations before addresses, as everywhere: a gate holds the one and waits for the other.
  const others = await lockOtherConversations(client, conversation);
  await run(client, optOutAddresses, [conversation.leadId, at]);
  for (const id of others) await withdrawDraftOf(client, id, { reason: 'opted_out', at });
  for (const id of [conversation.id, ...others]) {
    await stopSends(client, {
      conversationId: id,
      scope: 'everything',
      reason: 'opted_out',
      at,
    });
  }
  // Their callers refresh the agenda of this conversation only; without it the relay would wake
  // the others for what no longer waits.
  for (const id of others) await refreshAgenda(client, id, at);
  return next;
}

/**
 * Moves the state for one message of the lead (S1, S2): opt-out and opt-in words first, then a
 * new episode, then the reply that stops what the business started.
 */
export async function applyLeadMessage(
  client: PoolClient,
  conversation: LockedConversation,
  message: NewMessage,
  at: string,
): Promise<LockedConversation> {
  const causeRef = message.id;
  if (message.optOut?.startsWith('stop') === true) {
    return optOut(client, conversation, { cause: 'lead_opted_out', causeRef, at });
  }
  // Whoever writes on one channel has been heard: the follow-ups of the others stop (INV-11, S6).
  await stopPlansOfPerson(client, conversation, { reason: 'lead_replied', at });
  if (message.optOut === 'start') {
    const optedIn = await optIn(client, conversation, { cause: 'lead_opted_in', causeRef, at });
    if (optedIn !== null) return optedIn;
  }
  if (conversation.state === 'closed') {
    const cause = { cause: 'lead_wrote_again', causeRef, at };
    return applyStateEvent(client, conversation, 'new-episode', cause);
  }
  if (conversation.contactStartedAt === null) return conversation;
  const next = await applyStateEvent(client, conversation, 'reply', {
    cause: 'lead_replied',
    causeRef,
    at,
  });
  await stopSends(client, {
    conversationId: conversation.id,
    scope: 'follow-ups',
    reason: 'lead_replied',
    at,
  });
  return next;
}

const writeDebt = statement(
  'write-debt',
  `update conversations c set
     owed_since = greatest($2::timestamptz, c.last_token + interval '1 microsecond'),
     last_token = greatest($2::timestamptz, c.last_token + interval '1 microsecond'),
     oldest_owed_at = least(c.oldest_owed_at, $3),
     overdue_from = case when c.overdue_from = c.oldest_owed_at
                         then least(c.overdue_from, $3) else coalesce(c.overdue_from, $3) end,
     turn_due_at = case when $4::timestamptz is null then $2
                        when c.owed_since is null then $4
                        else least(c.turn_due_at, $4) end,
     next_due_at = case when $4::timestamptz is null then $2::timestamptz
                        when c.owed_since is null then $4
                        else least(c.turn_due_at, $4) end,
     relay_count = 0, relay_at = null
   where c.id = $1`,
);

/**
 * Writes the debt with the messages (T1): a new token, the oldest time beside it, and when the
 * turn may start. A message that arrives late may be the oldest; ages count from it, unless they
 * count from something later, such as a hand-back (T5). Only a burst of openers waits (P4b case 2).
 */
export async function oweAnswer(
  client: PoolClient,
  conversation: LockedConversation,
  owing: readonly { readonly message: NewMessage; readonly prepared: PreparedElement }[],
  { now, nowMs }: Instant,
): Promise<void> {
  const written = owing.map(({ message }) => writtenAtMs(toMs(message.sourceAt), nowMs));
  const oldest = new Date(Math.min(...written)).toISOString();
  const waits = owing.every(({ prepared }) => prepared.mayWait);
  const turnDueAt = waits ? new Date(nowMs + OPENER_WAIT_MS).toISOString() : null;
  await run(client, writeDebt, [conversation.id, now, oldest, turnDueAt]);
}

/**
 * A person answered in the provider's own app (IN7, T3): the conversation is theirs, the debt is
 * settled, an open handoff is answered, and automation stays silent.
 */
export async function takeOverByNative(
  client: PoolClient,
  found: LockedConversation,
  message: NewMessage,
  at: string,
): Promise<LockedConversation> {
  const conversation = await withdrawDraft(client, found, { reason: 'person_owns', at });
  const cause = { cause: 'answered_in_provider_app', causeRef: message.id, at };
  const next = await applyStateEvent(client, conversation, 'pause', cause);
  await setConversationOwner(client, conversation.id, 'person', at);
  await stopSends(client, {
    conversationId: conversation.id,
    scope: 'automatic',
    reason: 'person_owns',
    at,
  });
  await stopPlansOfPerson(client, conversation, { reason: 'person_owns', at });
  if (conversation.owner !== 'person') {
    await appendTakeoverEvent(client, next, {
      type: 'takeover.claimed',
      reason: 'operator_claimed',
      actor: { kind: 'company_role', ref: 'support-agent' },
      correlationId: message.id,
      at,
    });
  }
  let { owedSince } = conversation;
  if (owedSince !== null) {
    const cleared = await settleDebt(client, {
      conversationId: conversation.id,
      throughSeq: message.seq,
      token: owedSince,
      settlement: { kind: 'person', ref: message.id, reason: 'answered_in_provider_app', at },
    });
    // Messages behind the answer in the same batch still owe.
    if (cleared) owedSince = null;
  }
  await resolveWorkItems(client, {
    conversationId: conversation.id,
    kinds: ['handoff'],
    at,
    by: 'support-agent',
    resolution: 'answered_in_provider_app',
  });
  return { ...next, owner: 'person', owedSince };
}

/**
 * The item that a message joins while a person owns the conversation: the open one, or a new one
 * with a deadline of its own (T6).
 */
export async function openItemForOwner(
  client: PoolClient,
  conversation: LockedConversation,
  newestSeq: number,
  at: string,
): Promise<string> {
  const item = await openWorkItem(client, {
    businessId: conversation.businessId,
    conversationId: conversation.id,
    kind: 'handoff',
    reason: 'operator_claimed',
    explanation: 'The lead wrote again while a person owns this conversation.',
    newestSeq,
    at,
  });
  if (!item.opened) await joinOpenHandoff(client, item.id, { newestSeq, at });
  return item.id;
}

const reviseMessage = statement(
  'revise-message',
  `update messages set
     text = case when $3::boolean then null else $4 end,
     edited_at = case when $3::boolean then edited_at else $5 end,
     deleted_at = case when $3::boolean then $5 else deleted_at end
   where conversation_id = $1 and provider_message_sha256 = $2 and direction = 'in'`,
);

/** An edit replaces the text, a withdrawal removes it; neither is an extra turn (IN7). */
export async function revise(
  client: PoolClient,
  conversation: LockedConversation,
  revision: {
    readonly providerMessageSha256: string;
    readonly deleted: boolean;
    readonly text: string | null;
    readonly at: string;
  },
): Promise<void> {
  await run(client, reviseMessage, [
    conversation.id,
    revision.providerMessageSha256,
    revision.deleted,
    revision.text,
    revision.at,
  ]);
}

/** Media without text, or an opener, may be the start of a burst (P4b case 2). */
export function isMessage(prepared: PreparedElement): prepared is PreparedElement & {
  readonly element: MessageElement;
} {
  return prepared.element.type === 'message';
}
