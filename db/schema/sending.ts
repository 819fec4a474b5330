import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { instant } from './columns';

/** One logical send (C5). Its state is the projection of `send_attempts` and `send_outcomes`. */
export const outbox = pgTable(
  'outbox',
  {
    id: text('id').primaryKey(),
    businessId: text('business_id').notNull(),
    conversationId: text('conversation_id').notNull(),
    accountId: text('account_id').notNull(),
    addressId: text('address_id').notNull(),
    channel: text('channel').notNull(),
    purpose: text('purpose').notNull(),
    sourceEvent: text('source_event').notNull(),
    idempotencyKey: text('idempotency_key').notNull().unique(),
    episode: integer('episode').notNull(),
    state: text('state').notNull(),
    body: text('body').notNull(),
    verdict: text('verdict'),
    /** The newest inbound that the draft saw, and the token that it answers (P4b, T3). */
    coversSeq: bigint('covers_seq', { mode: 'number' }).notNull(),
    token: instant('token'),
    decisionId: text('decision_id').notNull(),
    notBefore: instant('not_before').notNull(),
    expiresAt: instant('expires_at'),
    cancelOnInbound: boolean('cancel_on_inbound').notNull(),
    /** A draft that a person has to approve; it cannot be claimed until then (T3). */
    awaitingApproval: boolean('awaiting_approval').notNull().default(false),
    /** The rules under which it was queued; a changed rule replaces the row (C5). */
    policyVersion: text('policy_version').notNull(),
    /** The failed send that this one replaces, once, as the policy names it (T3). */
    fallbackFor: text('fallback_for'),
    /** A text that the provider approved beforehand: it may leave outside the reply window (S6). */
    template: jsonb('template'),
    /** A turn decided that it leaves although newer messages came (P4b case 4). */
    stands: boolean('stands').notNull().default(false),
    leaseOwner: text('lease_owner'),
    leaseUntil: instant('lease_until'),
    attemptId: text('attempt_id'),
    attemptedAt: instant('attempted_at'),
    attempts: integer('attempts').notNull().default(0),
    stopRequestedAt: instant('stop_requested_at'),
    stopCause: text('stop_cause'),
    /** Whether the provider accepted before or after the stop was asked for (S3). */
    stopVerdict: text('stop_verdict'),
    endReason: text('end_reason'),
    providerMessageId: text('provider_message_id'),
    /** When the turn began and how long it decided (L1); null for what no turn wrote. */
    turnStartedAt: instant('turn_started_at'),
    decisionMs: integer('decision_ms'),
    createdAt: instant('created_at').notNull(),
    endedAt: instant('ended_at'),
  },
  (t) => [
    uniqueIndex('outbox_one_live_send')
      .on(t.conversationId, t.purpose, t.sourceEvent)
      .where(sql`state not in ('cancelled', 'failed')`),
    uniqueIndex('outbox_one_fallback')
      .on(t.fallbackFor)
      .where(sql`fallback_for is not null`),
    index('outbox_open')
      .on(t.conversationId)
      .where(sql`state in ('queued', 'leased', 'sending')`),
    index('outbox_conversation').on(t.conversationId, t.createdAt),
    index('outbox_waiting')
      .on(t.notBefore)
      .where(sql`state in ('queued', 'leased', 'sending')`),
    check(
      'outbox_state',
      sql`state in ('queued', 'leased', 'sending', 'accepted', 'delivered', 'cancelled', 'failed', 'delivery_unknown')`,
    ),
    check(
      'outbox_sending_has_attempt',
      sql`state not in ('sending', 'accepted', 'delivered', 'delivery_unknown') or attempt_id is not null`,
    ),
  ],
);

/** Append-only policy decisions (C2). A later one names the one it supersedes; both stay. */
export const sendDecisions = pgTable(
  'send_decisions',
  {
    id: text('id').primaryKey(),
    businessId: text('business_id').notNull(),
    sendId: text('send_id').notNull(),
    supersedesId: text('supersedes_id'),
    notBefore: instant('not_before').notNull(),
    expiresAt: instant('expires_at'),
    reason: text('reason').notNull(),
    rule: text('rule'),
    policyVersion: text('policy_version').notNull(),
    evaluatedAt: instant('evaluated_at').notNull(),
    inputs: jsonb('inputs').notNull(),
    cancelOnInbound: boolean('cancel_on_inbound').notNull(),
  },
  (t) => [index('send_decisions_send').on(t.sendId)],
);

/** Append-only: the gate's commits. `started_at` is a send's instant in every rule about time. */
export const sendAttempts = pgTable(
  'send_attempts',
  {
    id: text('id').primaryKey(),
    businessId: text('business_id').notNull(),
    sendId: text('send_id').notNull(),
    conversationId: text('conversation_id').notNull(),
    addressId: text('address_id').notNull(),
    purpose: text('purpose').notNull(),
    number: integer('number').notNull(),
    decisionId: text('decision_id').notNull(),
    notBefore: instant('not_before').notNull(),
    expiresAt: instant('expires_at'),
    conversationVersion: integer('conversation_version').notNull(),
    sawSeq: bigint('saw_seq', { mode: 'number' }).notNull(),
    startedAt: instant('started_at').notNull(),
  },
  (t) => [
    uniqueIndex('send_attempts_number').on(t.sendId, t.number),
    index('send_attempts_address').on(t.addressId, t.startedAt),
    index('send_attempts_conversation').on(t.conversationId),
  ],
);

/** Append-only: what became known of an attempt, each time something did. */
export const sendOutcomes = pgTable(
  'send_outcomes',
  {
    attemptId: text('attempt_id').notNull(),
    ordinal: bigint('ordinal', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    businessId: text('business_id').notNull(),
    sendId: text('send_id').notNull(),
    outcome: text('outcome').notNull(),
    code: text('code'),
    /** response, read-back, status, echo, review. */
    evidence: text('evidence').notNull(),
    providerMessageId: text('provider_message_id'),
    acceptedAt: instant('accepted_at'),
    recordedAt: instant('recorded_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.attemptId, t.ordinal] }),
    index('send_outcomes_send').on(t.sendId),
  ],
);

/** Append-only: the statement right after the provider's acceptance, outside every transaction (T8). */
export const sentMarkers = pgTable(
  'sent_markers',
  {
    attemptId: text('attempt_id').primaryKey(),
    providerMessageId: text('provider_message_id'),
    acceptedAt: instant('accepted_at').notNull(),
  },
  (t) => [index('sent_markers_accepted_at').on(t.acceptedAt)],
);

/** What a provider says of one message, whoever comes first: status, echo, read-back or response. */
export const providerMessages = pgTable(
  'provider_messages',
  {
    accountId: text('account_id').notNull(),
    providerMessageSha256: text('provider_message_sha256').notNull(),
    providerMessageId: text('provider_message_id').notNull(),
    businessId: text('business_id').notNull(),
    sendId: text('send_id'),
    attemptId: text('attempt_id'),
    /** Null until a status arrives; it only moves up (INV-16). */
    status: text('status'),
    errorCode: text('error_code'),
    echoedAt: instant('echoed_at'),
    statusAt: instant('status_at'),
    firstSeenAt: instant('first_seen_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.accountId, t.providerMessageSha256] }),
    index('provider_messages_send').on(t.sendId),
  ],
);
