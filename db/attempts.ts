import type { Pool, PoolClient } from 'pg';
import type { Agenda } from '../domain/agenda';
import type { SendId } from '../domain/ids';
import type { Channel, LeadAddress } from '../domain/inbound';
import { ATTEMPT_LIMIT_MS } from '../domain/limits';
import { backOff } from '../domain/policy';
import { retryDelayMs } from '../domain/retry';
import type { Purpose, SendOutcome } from '../domain/sending';
import { lockAccount, pauseAccount } from './accounts';
import { refreshAgenda } from './agenda';
import { lockConversation, type Locked, type LockedConversation } from './conversations';
import { inTransaction, run, runOne, statement } from './database';
import { settleDebt } from './debt';
import type { Permit } from './gate';
import { handOver } from './handover';
import { optOut } from './ingest/effects';
import { newId } from './new-id';
import { endOpenSend, storeDecision } from './outbox';
import { REACHABLE_ADDRESSES } from './reachable';
import { storeOutcome } from './record';
import { keepReplyWaiting } from './staff-replies';
import { openWorkItem } from './work-items';

type Attempt = Pick<
  Permit,
  'sendId' | 'attemptId' | 'attemptNumber' | 'conversationId' | 'purpose' | 'accountId'
>;
type NotAccepted = Extract<SendOutcome, { kind: 'not-accepted' }>;

const findInFlight = statement<{ id: string }>(
  'find-attempt-in-flight',
  `select id from outbox where id = $1 and attempt_id = $2 and state = 'sending'`,
);

/**
 * Records that a provider definitely did not accept: the row goes back to `queued` under a
 * superseding back-off decision (C2), or fails and, where an answer is owed, goes to a person.
 * Where the row is no longer in flight under this attempt, the outcome is kept as evidence and
 * nothing else changes (S3). `random` in [0, 1) gives the jitter. Returns the fresh agenda.
 */
export async function recordNotAccepted(
  pool: Pool,
  attempt: Attempt,
  outcome: NotAccepted,
  draw: { readonly random: number; readonly now: string | null },
): Promise<Agenda> {
  return inTransaction(pool, async (client) => {
    if (outcome.pausesAccount) await lockAccount(client, attempt.accountId);
    const locked = await lockOf(client, attempt.conversationId, draw.now);
    await storeOutcome(client, locked.conversation.businessId, {
      attemptId: attempt.attemptId,
      sendId: attempt.sendId,
      outcome: 'not-accepted',
      code: outcome.code,
      evidence: 'response',
      providerMessageId: null,
      acceptedAt: null,
      at: locked.now,
    });
    const [inFlight] = await run(client, findInFlight, [attempt.sendId, attempt.attemptId]);
    if (inFlight !== undefined) {
      await forgetContact(client, locked.conversation);
      if (outcome.pausesAccount) {
        await pauseAccount(client, attempt.accountId, outcome.code, locked.now);
      }
      await continueOrEnd(client, locked, attempt, { outcome, random: draw.random });
    }
    return refreshAgenda(client, attempt.conversationId, draw.now);
  });
}

async function lockOf(client: PoolClient, id: string, now: string | null): Promise<Locked> {
  const locked = await lockConversation(client, id, now);
  if (locked === null) throw new Error('an attempt has no conversation');
  return locked;
}

async function continueOrEnd(
  client: PoolClient,
  locked: Locked,
  attempt: Attempt,
  { outcome, random }: { readonly outcome: NotAccepted; readonly random: number },
): Promise<void> {
  const { conversation, now } = locked;
  if (outcome.optedOut) {
    await optOut(client, conversation, {
      cause: 'provider_opt_out',
      causeRef: attempt.sendId,
      at: now,
    });
  }
  const delayMs =
    outcome.retry === 'back-off'
      ? retryDelayMs(attempt.attemptNumber, random, outcome.retryAfterMs)
      : null;
  if (delayMs !== null) {
    await requeue(client, locked, attempt, { code: outcome.code, delayMs });
    return;
  }
  await endOpenSend(client, attempt.sendId, { state: 'failed', reason: outcome.code, at: now });
  if (attempt.purpose === 'answer' && conversation.owedSince !== null && !outcome.optedOut) {
    await handOver(client, conversation, {
      reason: outcome.retry === 'never' ? 'policy_requires_human' : 'replays_exhausted',
      explanation: `The provider refused the answer (code ${outcome.code}); it was not sent.`,
      actor: { kind: 'service', ref: 'conversation-router' },
      at: now,
    });
    return;
  }
  if (attempt.purpose === 'staff') {
    await keepReplyWaiting(client, conversation, {
      sendId: attempt.sendId,
      reason: outcome.code,
      explanation: `The provider refused the reply (code ${outcome.code}); it was not sent.`,
      at: now,
    });
    return;
  }
  await openWorkItem(client, {
    businessId: conversation.businessId,
    conversationId: conversation.id,
    kind: 'delivery-failed',
    reason: outcome.code,
    explanation: `The provider refused a message (code ${outcome.code}); it was not sent.`,
    sendId: attempt.sendId,
    at: now,
  });
}

const requeueSend = statement<{
  decisionId: string;
  cancelOnInbound: boolean;
  expiresAtMs: number | null;
}>(
  'requeue-send',
  `update outbox set state = 'queued', decision_id = $2,
     not_before = to_timestamp($3::float8 / 1000)
   where id = $1 and state = 'sending'
   returning old.decision_id as "decisionId", cancel_on_inbound as "cancelOnInbound",
     (extract(epoch from expires_at) * 1000)::float8 as "expiresAtMs"`,
);

async function requeue(
  client: PoolClient,
  { conversation, now, nowMs }: Locked,
  attempt: Attempt,
  failure: { readonly code: string; readonly delayMs: number },
): Promise<void> {
  const decisionId = newId('dec');
  const row = await runOne(client, requeueSend, [
    attempt.sendId,
    decisionId,
    nowMs + failure.delayMs,
  ]);
  const decision = backOff(nowMs, failure.delayMs, row, {
    code: failure.code,
    attempt: attempt.attemptNumber,
  });
  await storeDecision(
    client,
    {
      id: decisionId,
      businessId: conversation.businessId,
      sendId: attempt.sendId,
      supersedesId: row.decisionId,
      policyVersion: conversation.policyVersion,
      at: now,
    },
    decision,
  );
}

const forgetContactStatement = statement(
  'forget-contact',
  `update conversations c set contact_started_at = null
   where c.id = $1 and not exists (
     select from send_attempts t where t.conversation_id = c.id and t.started_at >= c.contact_started_at
       and not exists (select from send_outcomes r
                       where r.attempt_id = t.id and r.outcome = 'not-accepted'))`,
);

/** What was never accepted is no contact: the lead's next message is not yet a reply (S1). */
export async function forgetContact(
  client: PoolClient,
  conversation: LockedConversation,
): Promise<void> {
  await run(client, forgetContactStatement, [conversation.id]);
}

/**
 * Records that an attempt's outcome is unknown. The row stays `sending`: nobody judges it before
 * the attempt limit (C6). Returns the fresh agenda.
 */
export async function recordUnknown(
  pool: Pool,
  attempt: Attempt,
  code: string,
  now: string | null,
): Promise<Agenda> {
  return inTransaction(pool, async (client) => {
    const locked = await lockOf(client, attempt.conversationId, now);
    await storeOutcome(
      client,
      locked.conversation.businessId,
      unknown(attempt, code, 'response', locked.now),
    );
    return refreshAgenda(client, attempt.conversationId, now);
  });
}

function unknown(
  attempt: { readonly attemptId: string; readonly sendId: string },
  code: string,
  evidence: string,
  at: string,
) {
  return {
    attemptId: attempt.attemptId,
    sendId: attempt.sendId,
    outcome: 'unknown' as const,
    code,
    evidence,
    providerMessageId: null,
    acceptedAt: null,
    at,
  };
}

/** An attempt past its limit whose outcome nobody recorded. */
export interface OverdueAttempt {
  readonly sendId: SendId;
  readonly attemptId: string;
  readonly conversationId: string;
  readonly purpose: Purpose;
  readonly attemptedAt: string;
  readonly channel: Channel;
  readonly accountExternalId: string;
  readonly credentials: Readonly<Record<string, string>>;
  readonly to: readonly LeadAddress[];
  readonly text: string;
  /** A sent marker or the provider's own word proves the acceptance without asking. */
  readonly provenProviderMessageId: string | null;
  readonly provenAcceptedAt: string | null;
  readonly provenBy: 'marker' | 'status';
}

const findOverdue = statement<OverdueAttempt>(
  'find-overdue-attempt',
  `select o.id as "sendId", o.attempt_id as "attemptId", o.conversation_id as "conversationId",
     o.purpose, o.attempted_at::text as "attemptedAt", o.channel,
     a.external_id as "accountExternalId", a.credentials, o.body as text,
     ${REACHABLE_ADDRESSES} as to,
     coalesce(k.provider_message_id, p.provider_message_id) as "provenProviderMessageId",
     coalesce(k.accepted_at, p.first_seen_at)::text as "provenAcceptedAt",
     case when k.attempt_id is null then 'status' else 'marker' end as "provenBy"
   from outbox o join accounts a on a.id = o.account_id
   join conversations c on c.id = o.conversation_id
   left join sent_markers k on k.attempt_id = o.attempt_id
   left join lateral (select provider_message_id, first_seen_at from provider_messages m
     where m.account_id = o.account_id and m.attempt_id = o.attempt_id limit 1) p on true
   where o.id = $1 and o.state = 'sending'
     and o.attempted_at + make_interval(secs => $3::float8 / 1000)
         <= coalesce($2::timestamptz, clock_timestamp())`,
);

/** Reads an attempt that may be judged: `sending`, and past the attempt limit. Else null. */
export async function findOverdueAttempt(
  pool: Pool,
  sendId: string,
  now: string | null,
): Promise<OverdueAttempt | null> {
  const [row] = await run(pool, findOverdue, [sendId, now, ATTEMPT_LIMIT_MS]);
  return row ?? null;
}

const markUnknown = statement<{ token: string | null; coversSeq: number }>(
  'mark-delivery-unknown',
  `update outbox set state = 'delivery_unknown', end_reason = $3
   where id = $1 and attempt_id = $2
     and (state = 'sending' or ($4 and state = 'delivery_unknown'))
   returning token::text, covers_seq as "coversSeq"`,
);

/** An attempt that goes to review, and why it could not be proven. */
export interface Unproven {
  readonly sendId: string;
  readonly attemptId: string;
  readonly code: string;
  readonly evidence: 'read-back' | 'sweep';
}

/**
 * Gives an attempt that could not be proven to review (C6), in the caller's transaction and under
 * the conversation's lock: the item takes the debt without pausing, and that text is never sent
 * again automatically. Returns false where the attempt is no longer in flight.
 */
export async function reviewAttempt(
  client: PoolClient,
  { conversation, now }: Locked,
  attempt: Unproven,
): Promise<boolean> {
  const { sendId, attemptId, code, evidence } = attempt;
  // What is unknown already has its review, unless the sweeper found its messages still owed.
  const again = evidence === 'sweep';
  const [row] = await run(client, markUnknown, [sendId, attemptId, code, again]);
  if (row === undefined) return false;
  await storeOutcome(client, conversation.businessId, unknown(attempt, code, evidence, now));
  const item = await openWorkItem(client, {
    businessId: conversation.businessId,
    conversationId: conversation.id,
    kind: 'delivery-unknown',
    reason: code,
    explanation:
      'It is not known whether this message arrived. It will not be sent again by itself: look at the thread and settle it.',
    sendId,
    at: now,
  });
  if (row.token !== null) {
    await settleDebt(client, {
      conversationId: conversation.id,
      throughSeq: row.coversSeq,
      token: row.token,
      settlement: { kind: 'work-item', ref: item.id, reason: 'delivery_unknown', at: now },
    });
  }
  return true;
}

/** `reviewAttempt` in a transaction of its own. Returns the fresh agenda. */
export async function giveToReview(
  pool: Pool,
  attempt: Pick<OverdueAttempt, 'sendId' | 'attemptId' | 'conversationId'>,
  code: string,
  now: string | null,
): Promise<Agenda> {
  return inTransaction(pool, async (client) => {
    const locked = await lockOf(client, attempt.conversationId, now);
    const { sendId, attemptId } = attempt;
    await reviewAttempt(client, locked, { sendId, attemptId, code, evidence: 'read-back' });
    return refreshAgenda(client, attempt.conversationId, now);
  });
}
