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
  uniqueIndex,
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
    openedAt: instant('opened_at').notNull(),
    escalateAt: instant('escalate_at'),
    assignedQueue: text('assigned_queue').notNull(),
    newestSeq: bigint('newest_seq', { mode: 'number' }),
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
    index('work_items_open')
      .on(t.businessId, t.openedAt)
      .where(sql`resolved_at is null`),
    index('work_items_conversation').on(t.conversationId),
    check(
      'work_items_kind',
      sql`kind in ('handoff', 'delivery-unknown', 'delivery-failed', 'follow-up-by-hand', 'quarantine', 'credentials', 'content-conflict')`,
    ),
  ],
);

/** Append-only log of who holds a conversation (H2): one session per text episode. */
export const takeoverEvents = pgTable(
  'takeover_events',
  {
    sessionId: text('session_id').notNull(),
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
    attributes: jsonb('attributes').notNull(),
    occurredAt: instant('occurred_at').notNull(),
    recordedAt: instant('recorded_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.sessionId, t.seq] }),
    uniqueIndex('takeover_events_event').on(t.sessionId, t.eventId),
    index('takeover_events_conversation').on(t.conversationId),
  ],
);

export const takeoverHeads = pgTable('takeover_heads', {
  sessionId: text('session_id').primaryKey(),
  conversationId: text('conversation_id').notNull(),
  lastSeq: integer('last_seq').notNull(),
});
