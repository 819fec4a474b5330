import type { Pool, PoolClient } from 'pg';
import type { Agenda } from '../domain/agenda';
import type { RecipientZones } from '../domain/recipient-zone';
import type { Purpose } from '../domain/sending';
import { refreshAgenda } from './agenda';
import { lockConversation, type LockedConversation } from './conversations';
import { inTransaction, run, runOne, statement } from './database';
import { moveSettlement, settleDebt } from './debt';
import { applyDeliveryStatus, showVisible } from './delivery-evidence';
import { sha256 } from './digest';
import { openFollowUpPlan } from './follow-ups';
import { newId } from './new-id';
import { writePostSendJobs } from './post-send';
import { noteProviderMessage } from './provider-messages';
import { closeAnsweredHandoff } from './staff-replies';
import { resolveWorkItemOfSend } from './work-items';

/** A provider's acceptance, as ids only: it may cross Temporal when Postgres refuses it (T8). */
export interface Acceptance {
  readonly sendId: string;
  readonly attemptId: string;
  readonly providerMessageId: string | null;
  readonly evidence: 'response' | 'marker' | 'read-back' | 'status' | 'echo' | 'review';
  readonly acceptedAt: string;
  readonly at: string;
}

/** The stamps of the call (L1); absent where the acceptance was learnt later. */
export interface CallStamps {
  readonly sendStartedAt: string;
  readonly sendMs: number;
}

const insertMarker = statement<{ acceptedAt: string }>(
  'insert-sent-marker',
  `insert into sent_markers (attempt_id, provider_message_id, accepted_at)
   values ($1, $2, coalesce($3::timestamptz, clock_timestamp()))
   returning accepted_at::text as "acceptedAt"`,
);

/**
 * The sent marker (T8): an autocommit statement of its own, the very next after the provider's
 * acceptance, over connections that nothing else queues for. Returns when the database says that
 * it happened, so that before and after a stop are told by one clock.
 */
export async function writeSentMarker(
  markerPool: Pool,
  attempt: { readonly attemptId: string; readonly providerMessageId: string | null },
  now: string | null,
): Promise<string> {
  const { attemptId, providerMessageId } = attempt;
  const row = await runOne(markerPool, insertMarker, [attemptId, providerMessageId, now]);
  return row.acceptedAt;
}

interface AcceptedRow {
  readonly purpose: Purpose;
  readonly token: string | null;
  readonly coversSeq: number;
  readonly body: string;
  readonly attempts: number;
  readonly wasUnknown: boolean;
  /** True where a person was told that it did not leave (T4). */
  readonly toldNotSent: boolean;
  readonly turnStartedAt: string | null;
  readonly createdAt: string;
  readonly decisionMs: number | null;
}

/** Also where the send waits to be tried again: the lead has it, so there is nothing to try (T8). */
const acceptSend = statement<AcceptedRow>(
  'accept-send',
  `update outbox set state = 'accepted', attempt_id = $2, provider_message_id = $3, ended_at = $4,
     lease_owner = null, lease_until = null,
     stop_verdict = case when stop_requested_at is null then null
       when $4::timestamptz < stop_requested_at then 'before' else 'after' end
   where id = $1 and (attempt_id = $2 and state in ('sending', 'delivery_unknown')
     or state in ('queued', 'leased') and exists (
       select from send_attempts t where t.id = $2 and t.send_id = $1))
   returning purpose, token::text, covers_seq as "coversSeq", body, attempts,
     turn_started_at::text as "turnStartedAt", created_at::text as "createdAt",
     decision_ms as "decisionMs", (old.state = 'delivery_unknown') as "wasUnknown",
     exists (select from work_items w where w.send_id = outbox.id and w.kind = 'not-sent'
       and w.resolved_at is null) as "toldNotSent"`,
);

const insertOutcome = statement(
  'insert-outcome',
  `insert into send_outcomes (attempt_id, business_id, send_id, outcome, code, evidence,
     provider_message_id, accepted_at, recorded_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

export interface Outcome {
  readonly attemptId: string;
  readonly sendId: string;
  readonly outcome: 'accepted' | 'not-accepted' | 'unknown';
  readonly code: string | null;
  readonly evidence: string;
  readonly providerMessageId: string | null;
  readonly acceptedAt: string | null;
  readonly at: string;
}

/** Appends what became known of an attempt. Outcomes are never changed. */
export async function storeOutcome(
  client: PoolClient,
  businessId: string,
  outcome: Outcome,
): Promise<void> {
  await run(client, insertOutcome, [
    outcome.attemptId,
    businessId,
    outcome.sendId,
    outcome.outcome,
    outcome.code,
    outcome.evidence,
    outcome.providerMessageId,
    outcome.acceptedAt,
    outcome.at,
  ]);
}

const insertSentMessage = statement(
  'insert-sent-message',
  `with moved as (
     update conversations set last_seq = last_seq + 1 where id = $2 returning last_seq)
   insert into messages (id, business_id, conversation_id, account_id, seq, direction, author,
     provider_message_id, provider_message_sha256, text, send_id, source_at, received_at)
   select $1, $3, $2, $4, moved.last_seq, 'out', $5, $6, $7, $8, $9, $10, $11 from moved
   on conflict do nothing`,
);

/** One latency record of L1, in its own names: ids, stamps and durations, nothing personal. */
export interface LatencyRecord {
  readonly trace_id: string;
  readonly source: string;
  /** The digest that names the event at its source; whoever logs it keys it first (C8). */
  readonly source_event_digest: string;
  readonly received_at: string;
  readonly normalize_ms: number;
  readonly decision_ms: number | null;
  readonly send_ms: number | null;
  readonly internal_total_ms: number;
  readonly send_attempts: number;
  readonly outcome: string;
}

const closeTraces = statement<LatencyRecord>(
  'close-traces',
  `update transport_traces t set job_claimed_at = $3, decision_ready_at = $4, decision_ms = $5,
     send_started_at = $6, send_ms = $7, provider_acknowledged_at = $8, send_attempts = $9,
     outcome = 'sent', send_id = $10
   from messages m
   where t.conversation_id = $1 and m.id = t.message_id and m.seq <= $2 and t.outcome is null
   returning t.receipt_id as trace_id, t.channel as source,
     (select r.key_sha256 from webhook_receipts r where r.id = t.receipt_id)
       as source_event_digest,
     t.ingress_accepted_at::text as received_at, t.normalize_ms, t.decision_ms, t.send_ms,
     round(extract(epoch from t.provider_acknowledged_at - t.ingress_accepted_at) * 1000)::float8
       as internal_total_ms,
     t.send_attempts, t.outcome`,
);

/** A status or an echo proves a send without knowing the channel: the gate judges its follow-ups. */
const UNKNOWN_PLANNING = { replyWindowMs: null, recipient: null };

/**
 * Files an acceptance under its attempt, in the caller's transaction and under the conversation's
 * lock: outcome, state, thread, debt by compare-and-clear, follow-up plan, traces (T3, S3).
 * Filing it twice changes nothing. Returns the latency records that it closed.
 */
export async function fileAcceptance(
  client: PoolClient,
  conversation: LockedConversation,
  acceptance: Acceptance,
  call: {
    readonly stamps?: CallStamps;
    readonly replyWindowMs?: number | null;
    /** Where the lead may be; see `PlanAnchor`. */
    readonly recipient?: RecipientZones | null;
  } = {},
): Promise<readonly LatencyRecord[]> {
  const [row] = await run(client, acceptSend, [
    acceptance.sendId,
    acceptance.attemptId,
    acceptance.providerMessageId,
    acceptance.acceptedAt,
  ]);
  if (row === undefined) {
    await keepEvidence(client, conversation, acceptance);
    return [];
  }
  const [, , latency] = await Promise.all([
    storeOutcome(client, conversation.businessId, {
      ...acceptance,
      outcome: 'accepted',
      code: null,
    }),
    showInThread(client, conversation, acceptance, row),
    // Nobody measured what a person confirms later (L1).
    acceptance.evidence === 'review'
      ? []
      : run(client, closeTraces, [
          conversation.id,
          row.coversSeq,
          row.turnStartedAt,
          row.createdAt,
          row.decisionMs,
          call.stamps?.sendStartedAt ?? null,
          call.stamps?.sendMs ?? null,
          acceptance.acceptedAt,
          row.attempts,
          acceptance.sendId,
        ]),
  ]);
  await settleAccepted(client, conversation, acceptance, row);
  if (row.purpose === 'staff') {
    const { sendId, at } = acceptance;
    await closeAnsweredHandoff(client, conversation, { sendId, coversSeq: row.coversSeq, at });
  }
  if (row.purpose === 'answer' && conversation.state === 'active') {
    await openFollowUpPlan(client, conversation, {
      at: acceptance.acceptedAt,
      ...UNKNOWN_PLANNING,
      ...call,
    });
  }
  await Promise.all([
    writePostSendJobs(client, conversation, acceptance),
    joinProvider(client, conversation, acceptance),
  ]);
  return latency;
}

/** The sent text takes its place in the thread. */
async function showInThread(
  client: PoolClient,
  conversation: LockedConversation,
  acceptance: Acceptance,
  row: AcceptedRow,
): Promise<void> {
  const { providerMessageId } = acceptance;
  await run(client, insertSentMessage, [
    newId('msg'),
    conversation.id,
    conversation.businessId,
    conversation.accountId,
    row.purpose === 'staff' ? 'staff' : 'automation',
    providerMessageId,
    providerMessageId === null ? null : sha256(providerMessageId),
    row.body,
    acceptance.sendId,
    acceptance.acceptedAt,
    acceptance.at,
  ]);
}

const insertEvidence = statement(
  'insert-late-acceptance',
  `insert into send_outcomes (attempt_id, business_id, send_id, outcome, code, evidence,
     provider_message_id, accepted_at, recorded_at)
   select $1, $2, $3, 'accepted', 'no_longer_current', $4, $5, $6, $7
   where not exists (select from send_outcomes where attempt_id = $1 and outcome = 'accepted')`,
);

/**
 * An acceptance for an attempt that is no longer the send's current one, or whose send has ended,
 * moves nothing; it is kept as evidence, once, so that nobody has to guess (T4, T8).
 */
async function keepEvidence(
  client: PoolClient,
  conversation: LockedConversation,
  acceptance: Acceptance,
): Promise<void> {
  await run(client, insertEvidence, [
    acceptance.attemptId,
    conversation.businessId,
    acceptance.sendId,
    acceptance.evidence,
    acceptance.providerMessageId,
    acceptance.acceptedAt,
    acceptance.at,
  ]);
}

async function settleAccepted(
  client: PoolClient,
  conversation: LockedConversation,
  acceptance: Acceptance,
  row: AcceptedRow,
): Promise<void> {
  const settlement = {
    kind: 'reply',
    ref: acceptance.sendId,
    reason: row.purpose,
    at: acceptance.at,
  } as const;
  if (row.toldNotSent) {
    await resolveWorkItemOfSend(client, acceptance.sendId, {
      kind: 'not-sent',
      at: acceptance.at,
      by: 'conversation-router',
      resolution: 'sent',
    });
  }
  if (row.wasUnknown) {
    const item = await findReview(client, acceptance.sendId);
    if (item !== null) await moveSettlement(client, conversation.id, item, settlement);
    await resolveWorkItemOfSend(client, acceptance.sendId, {
      kind: 'delivery-unknown',
      at: acceptance.at,
      by: 'conversation-router',
      resolution: `proven_by_${acceptance.evidence}`,
    });
    return;
  }
  if (row.token === null) return;
  await settleDebt(client, {
    conversationId: conversation.id,
    throughSeq: row.coversSeq,
    token: row.token,
    settlement,
  });
}

const findReviewItem = statement<{ id: string }>(
  'find-review-item',
  `select id from work_items where send_id = $1 and kind = 'delivery-unknown'
   order by opened_at desc limit 1`,
);

async function findReview(client: PoolClient, sendId: string): Promise<string | null> {
  const [row] = await run(client, findReviewItem, [sendId]);
  return row?.id ?? null;
}

/** A status or echo may have come before this record; what it said is applied now (traps.md). */
async function joinProvider(
  client: PoolClient,
  conversation: LockedConversation,
  acceptance: Acceptance,
): Promise<void> {
  if (acceptance.providerMessageId === null) return;
  const known = await noteProviderMessage(client, {
    accountId: conversation.accountId,
    businessId: conversation.businessId,
    providerMessageId: acceptance.providerMessageId,
    sendId: acceptance.sendId,
    attemptId: acceptance.attemptId,
    echoedAt: null,
    at: acceptance.at,
  });
  if (known.echoedAt !== null) await showVisible(client, acceptance.sendId, known.echoedAt);
  if (known.status !== null) {
    const at = known.statusAt ?? acceptance.at;
    const { sendId } = acceptance;
    await applyDeliveryStatus(client, conversation, { ...known, sendId, at });
  }
}

/**
 * Records an acceptance in a transaction of its own and returns the fresh agenda
 * with the latency records that it closed. The next
 * statement after the sent marker; safe to repeat.
 */
export async function recordAcceptance(
  pool: Pool,
  conversationId: string,
  acceptance: Omit<Acceptance, 'at'>,
  call: {
    readonly stamps?: CallStamps;
    readonly replyWindowMs: number | null;
    readonly recipient?: RecipientZones | null;
    readonly now: string | null;
  },
): Promise<{ agenda: Agenda; latency: readonly LatencyRecord[] }> {
  return inTransaction(pool, async (client) => {
    const locked = await lockConversation(client, conversationId, call.now);
    if (locked === null) throw new Error('an accepted send has no conversation');
    const filed = { ...acceptance, at: locked.now };
    const latency = await fileAcceptance(client, locked.conversation, filed, call);
    return { agenda: await refreshAgenda(client, conversationId, call.now), latency };
  });
}
