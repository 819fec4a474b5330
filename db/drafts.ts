import type { PoolClient } from 'pg';
import type { SendId } from '../domain/ids';
import { ANSWER_EXPIRES_AFTER_MS } from '../domain/limits';
import { approveDraft, awaitApproval, type StaffRole } from '../domain/staff-decisions';
import type { Locked, LockedConversation } from './conversations';
import { run, statement } from './database';
import { settleDebt } from './debt';
import { reopenForApproval, withdrawDraft } from './draft-withdrawal';
import { handOver, type Handover } from './handover';
import { queueSend, type NewSend } from './outbox';
import { supersedeDecision, type StandingSend } from './superseding';
import { openWorkItem } from './work-items';

const holdForApproval = statement(
  'hold-for-approval',
  `update outbox set awaiting_approval = true where id = $1`,
);

/**
 * Queues an answer that a person has to approve (T3): its row cannot be claimed until then, and
 * the approval item settles the debt. Null where this very answer was made before. The
 * conversation's lock is held, and its debt is the one that `draft.token` names.
 */
export async function queueDraft(
  client: PoolClient,
  { conversation, now: at, nowMs }: Locked,
  draft: Omit<NewSend, 'purpose' | 'decision' | 'at' | 'token'> & { readonly token: string },
): Promise<SendId | null> {
  const { overdueFrom } = conversation;
  const overdueFromMs = overdueFrom === null ? nowMs : Date.parse(overdueFrom);
  const expiresAtMs = overdueFromMs + ANSWER_EXPIRES_AFTER_MS;
  const decision = awaitApproval(nowMs, { overdueFromMs, expiresAtMs });
  const sendId = await queueSend(client, conversation, {
    ...draft,
    purpose: 'answer',
    decision,
    at,
  });
  if (sendId === null) return null;
  await run(client, holdForApproval, [sendId]);
  const item = await openWorkItem(client, {
    businessId: conversation.businessId,
    conversationId: conversation.id,
    kind: 'approval',
    reason: 'awaits_approval',
    explanation: 'A drafted answer waits until a person approves it.',
    sendId,
    newestSeq: draft.coversSeq,
    at,
  });
  await settleDebt(client, {
    conversationId: conversation.id,
    throughSeq: draft.coversSeq,
    token: draft.token,
    settlement: { kind: 'work-item', ref: item.id, reason: 'awaits_approval', at },
  });
  return sendId;
}

/** A draft that waits for a person. */
export interface OpenDraft extends StandingSend {
  readonly body: string;
  readonly expired: boolean;
}

const findOpen = statement<OpenDraft>(
  'find-open-draft',
  `select id, purpose, body, decision_id as "decisionId", cancel_on_inbound as "cancelOnInbound",
     (extract(epoch from not_before) * 1000)::float8 as "notBeforeMs",
     (extract(epoch from expires_at) * 1000)::float8 as "expiresAtMs",
     coalesce(expires_at <= $2::timestamptz, false) as expired
   from outbox where conversation_id = $1 and state = 'queued' and awaiting_approval
   order by created_at desc limit 1`,
);

/** The conversation's draft that waits for approval; null where there is none. */
export async function findOpenDraft(
  client: PoolClient,
  { conversation, now }: Locked,
): Promise<OpenDraft | null> {
  const [draft] = await run(client, findOpen, [conversation.id, now]);
  return draft ?? null;
}

const letLeave = statement(
  'let-approved-draft-leave',
  `update outbox set awaiting_approval = false, token = $2, body = coalesce($3, body)
   where id = $1 and state = 'queued' and awaiting_approval`,
);

/**
 * Approves a draft (T3): a new token with the same oldest time, which the acceptance will settle,
 * and a superseding decision with the role. `text` replaces the wording; null keeps it.
 */
export async function approveOpenDraft(
  client: PoolClient,
  locked: Locked,
  draft: OpenDraft,
  approval: { readonly role: StaffRole; readonly by: string; readonly text: string | null },
): Promise<void> {
  const { role, by, text } = approval;
  const { conversation, now: at, nowMs } = locked;
  const token = await reopenForApproval(client, conversation, { sendId: draft.id, at, by });
  const edited = text !== null && text !== draft.body;
  await run(client, letLeave, [draft.id, token, text]);
  await supersedeDecision(client, locked, draft, approveDraft(nowMs, draft, { role, edited }));
}

const findDraftOfItem = statement<{ id: string }>(
  'find-draft-of-item',
  `select id from work_items
   where id = $1 and kind = 'approval' and conversation_id = $2 and resolved_at is null`,
);

/**
 * Nobody approved a draft in time (T3): it is cancelled, its item closes, and the conversation
 * goes to a person, whose item takes what the draft's had settled. Safe to repeat.
 */
export async function expireDraft(
  client: PoolClient,
  { conversation, now: at }: Locked,
  workItemId: string,
): Promise<void> {
  const [item] = await run(client, findDraftOfItem, [workItemId, conversation.id]);
  if (item !== undefined) await giveDraftToPerson(client, conversation, { at });
}

/**
 * The same for the conversation's draft itself, whose hour may end before its item's deadline, or
 * whose item somebody claimed and left (C3, T3).
 */
export async function giveDraftToPerson(
  client: PoolClient,
  conversation: LockedConversation,
  {
    at,
    ...handedOverBy
  }: Pick<Handover, 'at'> & Partial<Pick<Handover, 'actor' | 'noticeDelayMs'>>,
): Promise<void> {
  const reason = 'draft_expired';
  const owing = await withdrawDraft(client, conversation, { reason, at, resolution: reason });
  await handOver(client, owing, {
    explanation: 'Nobody approved the draft in time; the lead still waits for an answer.',
    actor: { kind: 'service', ref: 'conversation-router' },
    ...handedOverBy,
    reason,
    at,
  });
}
