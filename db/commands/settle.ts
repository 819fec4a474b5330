import type { PoolClient } from 'pg';
import type { Purpose } from '../../domain/sending';
import { forgetContact } from '../attempts';
import type { Locked, LockedConversation } from '../conversations';
import { run, statement } from '../database';
import { reopenDebt, settleDebt } from '../debt';
import { withdrawDraft } from '../draft-withdrawal';
import { fileAcceptance, storeOutcome } from '../record';
import {
  explainOpenHandoff,
  joinOpenHandoff,
  openWorkItem,
  resolveWorkItemOfSend,
} from '../work-items';
import { refuse, type Action } from './action';
import type { Refusal, SettleRequest } from './contract';

const findSend = statement<{ conversationId: string }>(
  'find-send-to-settle',
  `select conversation_id as "conversationId" from outbox where id = $1`,
);

/** Which conversation a send belongs to, to be locked before it. Null where there is none. */
export async function conversationOfSend(
  client: PoolClient,
  sendId: string,
): Promise<string | null> {
  const [send] = await run(client, findSend, [sendId]);
  return send?.conversationId ?? null;
}

interface UnknownSend {
  readonly purpose: Purpose;
  readonly state: string;
  readonly attemptId: string | null;
  readonly attemptedAt: string | null;
  readonly itemId: string | null;
}

const lockSend = statement<UnknownSend>(
  'lock-send-to-settle',
  `select o.purpose, o.state, o.attempt_id as "attemptId", o.attempted_at::text as "attemptedAt",
     (select w.id from work_items w where w.send_id = o.id and w.kind = 'delivery-unknown'
        and w.resolved_at is null) as "itemId"
   from outbox o where o.id = $1 for update of o`,
);

/**
 * `settle`: a person looked and says whether an unknown message arrived (C6). It did: the attempt
 * is recorded as accepted. It did not: it failed, and what it had answered owes again. A status,
 * echo or person that came first has settled it, and this is refused.
 */
export async function settle(action: Action, request: SettleRequest): Promise<Refusal | null> {
  const { client, locked, actor } = action;
  const { sendId, arrived } = request;
  const [send] = await run(client, lockSend, [sendId]);
  const open = send?.state === 'delivery_unknown' ? send : null;
  if (open === null || open.attemptId === null || open.attemptedAt === null) {
    return refuse('not_applicable', 'It is known already what became of this message.');
  }
  const attempt = { sendId, attemptId: open.attemptId };
  const resolution = arrived ? 'proven_by_review' : 'did_not_arrive';
  await resolveWorkItemOfSend(client, sendId, {
    kind: 'delivery-unknown',
    at: locked.now,
    by: actor.ref,
    resolution,
  });
  if (arrived) {
    const { conversation, now: at } = locked;
    const replyWindowMs = action.channels.replyWindowMs(conversation.channel);
    // When it arrived nobody knows; it left with the attempt.
    const known = {
      providerMessageId: null,
      evidence: 'review',
      acceptedAt: open.attemptedAt,
    } as const;
    await fileAcceptance(client, conversation, { ...attempt, ...known, at }, { replyWindowMs });
    return null;
  }
  await failSend(client, locked, attempt);
  if (open.itemId !== null) await oweAgain(client, locked, open.itemId);
  if (open.purpose === 'staff') await keepWaiting(client, locked);
  return null;
}

/** The handoff that a person's reply was to end stays open, says why and notifies anew (T3, C7). */
async function keepWaiting(client: PoolClient, { conversation, now: at }: Locked): Promise<void> {
  await explainOpenHandoff(client, conversation.id, {
    reason: 'did_not_arrive',
    explanation: 'The reply did not arrive; the lead still waits for an answer.',
    at,
  });
}

const markFailed = statement(
  'fail-unknown-send',
  `update outbox set state = 'failed', end_reason = 'did_not_arrive', ended_at = $2
   where id = $1 and state = 'delivery_unknown'`,
);

async function failSend(
  client: PoolClient,
  { conversation, now }: Locked,
  attempt: { readonly sendId: string; readonly attemptId: string },
): Promise<void> {
  await storeOutcome(client, conversation.businessId, {
    ...attempt,
    outcome: 'not-accepted',
    code: 'did_not_arrive',
    evidence: 'review',
    providerMessageId: null,
    acceptedAt: null,
    at: now,
  });
  await run(client, markFailed, [attempt.sendId, now]);
  await forgetContact(client, conversation);
}

const readDebt = statement<Pick<LockedConversation, 'owedSince'> & { handoff: string | null }>(
  'read-debt-after-settle',
  `select c.owed_since::text as "owedSince", (select w.id from work_items w
     where w.conversation_id = c.id and w.kind = 'handoff' and w.resolved_at is null) as handoff
   from conversations c where c.id = $1`,
);

/**
 * What the message should have answered owes again under a new token (C6): to a turn, or, while a
 * person has the conversation, to the open handoff.
 */
async function oweAgain(
  client: PoolClient,
  { conversation, now: at }: Locked,
  itemId: string,
): Promise<void> {
  await reopenDebt(client, conversation.id, [itemId], at);
  const [debt] = await run(client, readDebt, [conversation.id]);
  const owedSince = debt?.owedSince ?? null;
  const held = conversation.owner === 'person' || (debt?.handoff ?? null) !== null;
  if (owedSince === null) return;
  if (!held) {
    // A draft that waits for approval answers the newer ones only: all owes together (T3).
    await withdrawDraft(client, conversation, { reason: 'delivery_failed', at });
    return;
  }
  const item = await openWorkItem(client, {
    businessId: conversation.businessId,
    conversationId: conversation.id,
    kind: 'handoff',
    reason: 'delivery_unknown',
    explanation: 'A message did not arrive, and the lead waits for an answer.',
    newestSeq: conversation.lastSeq,
    at,
  });
  if (!item.opened) {
    await joinOpenHandoff(client, item.id, { newestSeq: conversation.lastSeq, at });
  }
  await settleDebt(client, {
    conversationId: conversation.id,
    throughSeq: conversation.lastSeq,
    token: owedSince,
    settlement: { kind: 'work-item', ref: item.id, reason: 'delivery_unknown', at },
  });
}
