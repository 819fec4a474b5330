import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  unique,
} from 'drizzle-orm/pg-core';
import { bytea, instant } from './columns';

/** One row per authentic request, with its bytes. Short retention; only the service role reads it. */
export const rawDeliveries = pgTable(
  'raw_deliveries',
  {
    id: text('id').primaryKey(),
    provider: text('provider').notNull(),
    target: text('target').notNull(),
    contentType: text('content_type'),
    body: bytea('body'),
    bodySha256: text('body_sha256').notNull(),
    bodyBytes: integer('body_bytes').notNull(),
    elementCount: integer('element_count').notNull(),
    receivedAt: instant('received_at').notNull(),
  },
  (t) => [index('raw_deliveries_received_at').on(t.receivedAt)],
);

/** One row per event element; the unique key decides which delivery of an event wins (IN2). */
export const webhookReceipts = pgTable(
  'webhook_receipts',
  {
    id: text('id').primaryKey(),
    rawId: text('raw_id').notNull(),
    provider: text('provider').notNull(),
    accountExternalId: text('account_external_id').notNull(),
    /** Digest of the event key: provider ids may be longer than a B-tree row allows. */
    keySha256: text('key_sha256').notNull(),
    contentSha256: text('content_sha256').notNull(),
    elementPath: text('element_path').notNull(),
    kind: text('kind').notNull(),
    quarantineReason: text('quarantine_reason'),
    receivedAt: instant('received_at').notNull(),
  },
  (t) => [
    unique('webhook_receipts_key').on(t.provider, t.accountExternalId, t.keySha256),
    index('webhook_receipts_raw').on(t.rawId),
  ],
);

/** An element that arrived again. `differs` is the alert of IN3: one id, two contents. */
export const receiptDuplicates = pgTable(
  'receipt_duplicates',
  {
    id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    receiptId: text('receipt_id').notNull(),
    rawId: text('raw_id').notNull(),
    elementPath: text('element_path').notNull(),
    contentSha256: text('content_sha256').notNull(),
    differs: boolean('differs').notNull(),
    receivedAt: instant('received_at').notNull(),
  },
  (t) => [index('receipt_duplicates_receipt').on(t.receiptId)],
);

/** Work that follows a receipt; the job key is unique per receipt, operation and version (IN2). */
export const deliveryJobs = pgTable(
  'delivery_jobs',
  {
    id: text('id').primaryKey(),
    receiptId: text('receipt_id').notNull(),
    businessId: text('business_id').notNull(),
    conversationId: text('conversation_id').notNull(),
    jobKey: text('job_key').notNull().unique(),
    operation: text('operation').notNull(),
    state: text('state').notNull(),
    attempts: integer('attempts').notNull().default(0),
    nextAttemptAt: instant('next_attempt_at').notNull(),
    lastErrorCode: text('last_error_code'),
    createdAt: instant('created_at').notNull(),
    endedAt: instant('ended_at'),
  },
  (t) => [
    index('delivery_jobs_receipt').on(t.receiptId),
    index('delivery_jobs_open')
      .on(t.nextAttemptAt)
      .where(sql`state in ('queued', 'running') and operation <> 'initial-response'`),
    check('delivery_jobs_state', sql`state in ('queued', 'running', 'succeeded', 'review')`),
  ],
);

/**
 * The operation row of a job: written before the call, so that a call whose worker died is known,
 * and closed once with what is known of it (IN2). A paused call does not count as a failed try.
 */
export const jobAttempts = pgTable(
  'job_attempts',
  {
    jobId: text('job_id').notNull(),
    attempt: integer('attempt').notNull(),
    integrationId: text('integration_id').notNull(),
    businessId: text('business_id').notNull(),
    startedAt: instant('started_at').notNull(),
    /** Null while the call is under way, and for ever where its worker died. */
    outcome: text('outcome'),
    code: text('code'),
    endedAt: instant('ended_at'),
  },
  (t) => [
    primaryKey({ columns: [t.jobId, t.attempt, t.integrationId] }),
    check(
      'job_attempts_outcome',
      sql`outcome in ('accepted', 'refused', 'not-accepted', 'unknown', 'paused')`,
    ),
  ],
);

/** One latency trace per inbound event (L1, C1). Instants correlate, the `_ms` columns measure. */
export const transportTraces = pgTable(
  'transport_traces',
  {
    receiptId: text('receipt_id').primaryKey(),
    businessId: text('business_id').notNull(),
    conversationId: text('conversation_id').notNull(),
    messageId: text('message_id').notNull(),
    channel: text('channel').notNull(),
    sourceEventAt: instant('source_event_at'),
    sourcePrecision: text('source_precision').notNull(),
    ingressAcceptedAt: instant('ingress_accepted_at').notNull(),
    normalizedAt: instant('normalized_at').notNull(),
    normalizeMs: integer('normalize_ms').notNull(),
    jobClaimedAt: instant('job_claimed_at'),
    decisionReadyAt: instant('decision_ready_at'),
    decisionMs: integer('decision_ms'),
    sendStartedAt: instant('send_started_at'),
    sendMs: integer('send_ms'),
    providerAcknowledgedAt: instant('provider_acknowledged_at'),
    visibleAt: instant('visible_at'),
    sendAttempts: integer('send_attempts').notNull().default(0),
    outcome: text('outcome'),
    sendId: text('send_id'),
  },
  (t) => [index('transport_traces_conversation').on(t.conversationId)],
);
