import { sql } from 'drizzle-orm';
import {
  bigint,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { instant } from './columns';

/** Everything that waits for a person, one table with a kind (C7). Only a handoff pauses. */
export const workItems = pgTable(
  'work_items',
  {
    id: text('id').primaryKey(),
    /** Null for operators' items that belong to no known business (an unknown account). */
    businessId: text('business_id'),
    conversationId: text('conversation_id'),
    kind: text('kind').notNull(),
    reason: text('reason').notNull(),
    /** One plain sentence for the person who opens it; no personal data. */
    explanation: text('explanation').notNull(),
    sendId: text('send_id'),
    rawId: text('raw_id'),
    /**
     * The account, integration, job or receipt that it is about; the id's prefix says which. `smtp`
     * is the installation's own login at its mail server.
     */
    subjectId: text('subject_id'),
    openedAt: instant('opened_at').notNull(),
    /** The deadline set with the decision (C7); it never moves. */
    escalateAt: instant('escalate_at').notNull(),
    /** When the next level is due; null once somebody acted. */
    nextEscalationAt: instant('next_escalation_at'),
    /** How many levels were reached; each is a row of `escalations`. */
    level: integer('level').notNull().default(0),
    /**
     * Nothing up to this level is left to tell. It spares the loop that writes notices all others;
     * what was told, `notice_items` decides.
     */
    toldLevel: integer('told_level').notNull().default(0),
    /** The level at which the clock last started again, because the lead wrote once more (T6). */
    clockFromLevel: integer('clock_from_level').notNull().default(0),
    assignedQueue: text('assigned_queue').notNull(),
    /** Set where the item paused automation, which it does before anybody is notified. */
    automationPausedAt: instant('automation_paused_at'),
    newestSeq: bigint('newest_seq', { mode: 'number' }),
    claimedAt: instant('claimed_at'),
    /** A company role, never a person. */
    claimedBy: text('claimed_by'),
    resolvedAt: instant('resolved_at'),
    resolvedBy: text('resolved_by'),
    resolution: text('resolution'),
  },
  (t) => [
    uniqueIndex('work_items_one_open_handoff')
      .on(t.conversationId)
      .where(sql`kind = 'handoff' and resolved_at is null`),
    uniqueIndex('work_items_one_per_send')
      .on(t.sendId, t.kind)
      .where(sql`send_id is not null and resolved_at is null`),
    uniqueIndex('work_items_one_per_subject')
      .on(t.subjectId, t.kind)
      .where(sql`subject_id is not null and resolved_at is null`),
    index('work_items_open')
      .on(t.businessId, t.openedAt)
      .where(sql`resolved_at is null`),
    index('work_items_conversation').on(t.conversationId),
    index('work_items_next_escalation')
      .on(t.nextEscalationAt)
      .where(sql`next_escalation_at is not null`),
    index('work_items_untold')
      .on(t.id)
      .where(sql`next_escalation_at is not null and level - told_level > 0`),
    check(
      'work_items_kind',
      sql`kind in ('handoff', 'approval', 'delivery-unknown', 'delivery-failed', 'not-sent', 'follow-up-by-hand', 'job-review', 'quarantine', 'credentials', 'content-conflict')`,
    ),
  ],
);

/** Append-only: each level that a work item reached, once (C7). */
export const escalations = pgTable(
  'escalations',
  {
    workItemId: text('work_item_id').notNull(),
    level: integer('level').notNull(),
    businessId: text('business_id'),
    queue: text('queue').notNull(),
    dueAt: instant('due_at').notNull(),
    at: instant('at').notNull(),
    /** When it may be told: later than `at` where many are told in one notice (T4). */
    notifyAt: instant('notify_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.workItemId, t.level] })],
);

/** One message to a queue about one or more escalations; written after their commit (T6). */
export const notices = pgTable(
  'notices',
  {
    id: text('id').primaryKey(),
    businessId: text('business_id'),
    queue: text('queue').notNull(),
    /** Counts the notices of one queue; two loops that write the same one meet its unique index. */
    number: integer('number').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (t) => [
    index('notices_created_at').on(t.createdAt),
    unique('notices_one_after_another').on(t.businessId, t.queue, t.number).nullsNotDistinct(),
  ],
);

/** What a notice tells; an escalation is told once, the key says. */
export const noticeItems = pgTable(
  'notice_items',
  {
    workItemId: text('work_item_id').notNull(),
    level: integer('level').notNull(),
    noticeId: text('notice_id').notNull(),
    businessId: text('business_id'),
  },
  (t) => [
    primaryKey({ columns: [t.workItemId, t.level] }),
    index('notice_items_notice').on(t.noticeId),
  ],
);

/** A notice on its way over one integration: retried, and its end kept. */
export const noticeDeliveries = pgTable(
  'notice_deliveries',
  {
    noticeId: text('notice_id').notNull(),
    integrationId: text('integration_id').notNull(),
    state: text('state').notNull(),
    attempts: integer('attempts').notNull().default(0),
    nextAttemptAt: instant('next_attempt_at').notNull(),
    leaseUntil: instant('lease_until'),
    lastErrorCode: text('last_error_code'),
    endedAt: instant('ended_at'),
  },
  (t) => [
    primaryKey({ columns: [t.noticeId, t.integrationId] }),
    index('notice_deliveries_open')
      .on(t.nextAttemptAt)
      .where(sql`state in ('queued', 'sending')`),
    check('notice_deliveries_state', sql`state in ('queued', 'sending', 'sent', 'failed')`),
  ],
);

/** What a person wrote for colleagues; content, so it can be erased. */
export const notes = pgTable(
  'notes',
  {
    id: text('id').primaryKey(),
    businessId: text('business_id').notNull(),
    conversationId: text('conversation_id').notNull(),
    role: text('role').notNull(),
    text: text('text').notNull(),
    at: instant('at').notNull(),
  },
  (t) => [index('notes_conversation').on(t.conversationId, t.at)],
);

/**
 * Append-only log of who holds a conversation (H2): one session per text episode. Partitioned by
 * month of the session's UUIDv7, which is why its unique keys hold the session.
 */
export const takeoverEvents = pgTable(
  'takeover_events',
  {
    sessionId: uuid('session_id').notNull(),
    seq: integer('seq').notNull(),
    eventId: text('event_id').notNull(),
    businessId: text('business_id').notNull(),
    conversationId: text('conversation_id').notNull(),
    type: text('type').notNull(),
    actorKind: text('actor_kind').notNull(),
    actorRef: text('actor_ref').notNull(),
    reason: text('reason').notNull(),
    policyVersion: text('policy_version').notNull(),
    correlationId: text('correlation_id').notNull(),
    /** Where content stands that the event speaks of, and its keyed digest (H5); never content. */
    contentRef: text('content_ref'),
    contentDigest: text('content_digest'),
    attributes: jsonb('attributes').notNull(),
    occurredAt: instant('occurred_at').notNull(),
    recordedAt: instant('recorded_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.sessionId, t.seq] }),
    uniqueIndex('takeover_events_event').on(t.sessionId, t.eventId),
    index('takeover_events_conversation').on(t.conversationId),
    check('takeover_events_seq', sql`seq > 0`),
  ],
);

/** The compare-and-set boundary of a session (H3); a conversation has at most one that is open. */
export const takeoverHeads = pgTable(
  'takeover_heads',
  {
    sessionId: uuid('session_id').primaryKey(),
    conversationId: text('conversation_id').notNull(),
    lastSeq: integer('last_seq').notNull(),
    endedAt: instant('ended_at'),
  },
  (t) => [
    uniqueIndex('takeover_heads_one_open')
      .on(t.conversationId)
      .where(sql`ended_at is null`),
  ],
);
