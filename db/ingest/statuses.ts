import type { PoolClient } from 'pg';
import type { EchoElement, StatusElement } from '../../domain/inbound';
import { lockConversation, type LockedConversation } from '../conversations';
import { run, statement } from '../database';
import { sha256 } from '../digest';
import { applyDeliveryStatus, showVisible } from '../delivery-evidence';
import { proveAcceptance } from '../proof';
import {
  noteProviderMessage,
  reportStatus,
  type ProviderMessage,
  type Sighting,
} from '../provider-messages';
import type { AccountRow, NewElement } from './receipts';

interface AttemptRow {
  readonly attemptId: string;
  readonly sendId: string;
  readonly conversationId: string;
}

const findByRef = statement<AttemptRow>(
  'find-attempt',
  `select id as "attemptId", send_id as "sendId", conversation_id as "conversationId"
   from send_attempts where id = $1 and business_id = $2`,
);

const findByProviderId = statement<AttemptRow>(
  'find-attempt-by-provider-message',
  `select a.id as "attemptId", a.send_id as "sendId", a.conversation_id as "conversationId"
   from provider_messages p join send_attempts a on a.id = p.attempt_id
   where p.account_id = $1 and p.provider_message_sha256 = $2`,
);

/** Which attempt of ours a status or echo speaks of: by our reference, else by the provider's id. */
async function findAttempt(
  client: PoolClient,
  account: AccountRow,
  ref: string | null,
  providerMessageId: string | null,
): Promise<AttemptRow | null> {
  const byRef = ref === null ? [] : await run(client, findByRef, [ref, account.businessId]);
  if (byRef[0] !== undefined) return byRef[0];
  if (providerMessageId === null) return null;
  const [byId] = await run(client, findByProviderId, [account.id, sha256(providerMessageId)]);
  return byId ?? null;
}

/**
 * Applies a status or an echo of our own, which stand outside threads. Returns the conversation
 * whose facts changed, or null. An unknown message id is kept and waits for its send (traps.md).
 */
export async function applyOutside(
  client: PoolClient,
  { prepared: { element }, account }: NewElement,
  now: string | null,
  at: string,
): Promise<LockedConversation | null> {
  if (account === null) return null;
  if (element.type === 'echo' && element.author === 'ours') {
    const attempt = await findAttempt(
      client,
      account,
      element.attemptRef,
      element.providerMessageId,
    );
    return applyEvidence(client, { account, attempt, element, now, at });
  }
  if (element.type !== 'status') return null;
  if (element.providerMessageId === null) return applyWatermark(client, account, element);
  const attempt = await findAttempt(client, account, element.attemptRef, element.providerMessageId);
  return applyEvidence(client, { account, attempt, element, now, at });
}

interface Evidence {
  readonly account: AccountRow;
  readonly attempt: AttemptRow | null;
  readonly element: EchoElement | StatusElement;
  readonly now: string | null;
  readonly at: string;
}

async function applyEvidence(
  client: PoolClient,
  evidence: Evidence,
): Promise<LockedConversation | null> {
  const { account, attempt, element, at } = evidence;
  const { providerMessageId } = element;
  if (providerMessageId === null) return null;
  const sighting = {
    accountId: account.id,
    businessId: account.businessId,
    providerMessageId,
    sendId: attempt?.sendId ?? null,
    attemptId: attempt?.attemptId ?? null,
    echoedAt: element.type === 'echo' ? at : null,
    at,
  };
  if (attempt === null) {
    await note(client, sighting, element);
    return null;
  }
  // The order of locks is the same everywhere: the conversation before the provider's row.
  const locked = await lockConversation(client, attempt.conversationId, evidence.now);
  if (locked === null) throw new Error('an attempt has no conversation');
  const known = await note(client, sighting, element);
  const proven = await proveAcceptance(client, locked.conversation, {
    attemptId: attempt.attemptId,
    sendId: attempt.sendId,
    providerMessageId,
    evidence: element.type,
    acceptedAt: at,
    at,
  });
  const { sendId } = attempt;
  if (element.type === 'echo') await showVisible(client, sendId, at);
  await applyDeliveryStatus(client, locked.conversation, { ...known, sendId, at });
  return proven || known.status === 'failed' ? locked.conversation : null;
}

function note(
  client: PoolClient,
  sighting: Sighting,
  element: EchoElement | StatusElement,
): Promise<ProviderMessage> {
  return element.type === 'status'
    ? reportStatus(client, sighting, element)
    : noteProviderMessage(client, sighting);
}

const applyWatermarkStatement = statement(
  'apply-watermark',
  `update outbox o set state = 'delivered'
   from conversations c join addresses a on a.lead_id = c.lead_id
   where o.conversation_id = c.id and c.account_id = $1 and a.business_id = $2
     and a.kind = $3 and a.value = $4 and o.state = 'accepted'
     and o.attempted_at <= $5::timestamptz`,
);

/** Messenger's receipts without ids: everything sent up to that instant reached the device. */
async function applyWatermark(
  client: PoolClient,
  account: AccountRow,
  element: StatusElement,
): Promise<null> {
  const [to] = element.watermark?.to ?? [];
  if (to === undefined || element.watermark === null) return null;
  await run(client, applyWatermarkStatement, [
    account.id,
    account.businessId,
    to.kind,
    to.value,
    element.watermark.upTo,
  ]);
  return null;
}

const ownEcho = statement<{ sendId: string; attemptId: string }>(
  'find-own-echo',
  `select o.id as "sendId", o.attempt_id as "attemptId" from outbox o
   where o.conversation_id = $1 and o.attempt_id is not null
     and (o.provider_message_id = $2
       or ($5 and o.body = $3 and (o.state in ('sending', 'delivery_unknown')
         or (o.state in ('accepted', 'delivered')
             and o.attempted_at > $4::timestamptz - interval '60 seconds'))))
   order by o.attempted_at desc limit 1`,
);

/** What an echo is: a confirmation of a send of ours, the proof of an unknown one, or a person's. */
export type EchoReading = 'confirmed' | 'proven' | 'foreign';

/**
 * Says whether an echo shows a send of ours (IN7): by the provider's id, or, where nothing says who
 * sent it, by the exact text of a send that is in flight or was accepted within a minute. Then it
 * is a confirmation and may prove an unknown; anything else was written by a person.
 */
export async function confirmEcho(
  client: PoolClient,
  conversation: LockedConversation,
  element: EchoElement,
  at: string,
): Promise<EchoReading> {
  const [own] = await run(client, ownEcho, [
    conversation.id,
    element.providerMessageId,
    element.text,
    at,
    element.author === 'unknown',
  ]);
  if (own === undefined) return 'foreign';
  await noteProviderMessage(client, {
    accountId: conversation.accountId,
    businessId: conversation.businessId,
    providerMessageId: element.providerMessageId,
    sendId: own.sendId,
    attemptId: own.attemptId,
    echoedAt: at,
    at,
  });
  const proven = await proveAcceptance(client, conversation, {
    attemptId: own.attemptId,
    sendId: own.sendId,
    providerMessageId: element.providerMessageId,
    evidence: 'echo',
    acceptedAt: at,
    at,
  });
  await showVisible(client, own.sendId, at);
  return proven ? 'proven' : 'confirmed';
}
