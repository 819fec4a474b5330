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
  unique,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { accounts, addresses, businesses, leads } from './businesses';
import { instant } from './columns';

/** The authoritative row of a conversation: state, debt, order, and when something is due next. */
export const conversations = pgTable(
  'conversations',
  {
    id: text('id').primaryKey(),
    businessId: text('business_id')
      .notNull()
      .references(() => businesses.id),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    leadId: text('lead_id')
      .notNull()
      .references(() => leads.id),
    addressId: text('address_id')
      .notNull()
      .references(() => addresses.id),
    channel: text('channel').notNull(),
    state: text('state').notNull(),
    version: integer('version').notNull(),
    /** The state that `resume` goes back to while the conversation is paused (S1). */
    rememberedState: text('remembered_state'),
    episode: integer('episode').notNull(),
    owner: text('owner').notNull(),
    automationPausedAt: instant('automation_paused_at'),
    lastSeq: bigint('last_seq', { mode: 'number' }).notNull(),
    lastInboundSeq: bigint('last_inbound_seq', { mode: 'number' }).notNull(),
    /** When the lead last wrote, source time but never later than arrival: opens the reply window. */
    lastInboundAt: instant('last_inbound_at'),
    /** When it arrived here; the send budget counts from it (INV-17b). */
    lastInboundReceivedAt: instant('last_inbound_received_at'),
    /** The turn's token (T2): set with the message, cleared by compare, strictly increasing. */
    owedSince: instant('owed_since'),
    lastToken: instant('last_token'),
    oldestOwedAt: instant('oldest_owed_at'),
    overdueFrom: instant('overdue_from'),
    /** P4b: when the turn may start; later than now only for bare openers. */
    turnDueAt: instant('turn_due_at'),
    draftWithdrawals: integer('draft_withdrawals').notNull().default(0),
    /** When the first message of ours in this episode was in flight: from then on, inbound is a reply. */
    contactStartedAt: instant('contact_started_at'),
    optOutConfirmedAt: instant('opt_out_confirmed_at'),
    /** The sweeper's replays for the oldest unanswered message, and the turn's attempt then (T4). */
    replays: integer('replays').notNull().default(0),
    replaysFor: instant('replays_for'),
    replayAttempt: integer('replay_attempt'),
    /** When the sweeper last woke it, so that two sweepers at once do nothing twice (T4). */
    sweptAt: instant('swept_at'),
    understanding: jsonb('understanding'),
    nextDueAt: instant('next_due_at'),
    relayCount: integer('relay_count').notNull().default(0),
    relayAt: instant('relay_at'),
    createdAt: instant('created_at').notNull(),
    touchedAt: instant('touched_at').notNull(),
  },
  (t) => [
    unique('conversations_home').on(t.accountId, t.leadId),
    index('conversations_lead').on(t.leadId),
    index('conversations_next_due_at')
      .on(t.nextDueAt)
      .where(sql`next_due_at is not null`),
    index('conversations_overdue_from')
      .on(t.overdueFrom, t.id)
      .where(sql`owed_since is not null`),
    index('conversations_touched_at').on(t.touchedAt),
    index('conversations_business').on(t.businessId, t.touchedAt),
    check(
      'conversations_state',
      sql`state in ('active', 'replied', 'booked', 'opted_out', 'paused', 'closed')`,
    ),
    check('conversations_owner', sql`owner in ('automation', 'person')`),
    check('conversations_debt_whole', sql`(owed_since is null) = (oldest_owed_at is null)`),
    check('conversations_token', sql`owed_since is null or owed_since <= last_token`),
  ],
);

/** Every message of a thread, both directions. The only home of what people wrote. */
export const messages = pgTable(
  'messages',
  {
    id: text('id').primaryKey(),
    businessId: text('business_id').notNull(),
    conversationId: text('conversation_id')
      .notNull()
      .references(() => conversations.id),
    accountId: text('account_id').notNull(),
    seq: bigint('seq', { mode: 'number' }).notNull(),
    receiptId: text('receipt_id'),
    direction: text('direction').notNull(),
    /** lead, automation, staff, native (a person in the provider's app), import. */
    author: text('author').notNull(),
    providerMessageId: text('provider_message_id'),
    providerMessageSha256: text('provider_message_sha256'),
    text: text('text'),
    media: jsonb('media').notNull().default([]),
    unsupported: boolean('unsupported').notNull().default(false),
    optOut: text('opt_out'),
    sendId: text('send_id'),
    sourceAt: instant('source_at'),
    receivedAt: instant('received_at').notNull(),
    owes: boolean('owes').notNull().default(false),
    /** How the owed answer ended (T3, INV-6): reply, person, no-answer, work-item. */
    settlement: text('settlement'),
    settlementRef: text('settlement_ref'),
    settlementReason: text('settlement_reason'),
    settledAt: instant('settled_at'),
    editedAt: instant('edited_at'),
    deletedAt: instant('deleted_at'),
  },
  (t) => [
    unique('messages_order').on(t.conversationId, t.seq),
    uniqueIndex('messages_provider_id').on(t.accountId, t.providerMessageSha256),
    index('messages_unsettled')
      .on(t.conversationId)
      .where(sql`owes and settled_at is null`),
    check(
      'messages_settlement',
      sql`settlement is null or settlement in ('reply', 'person', 'no-answer', 'work-item')`,
    ),
    check('messages_settled_whole', sql`(settlement is null) = (settled_at is null)`),
  ],
);

/** One row per conversation while a turn is under way (T4). */
export const turnMarkers = pgTable('turn_markers', {
  conversationId: text('conversation_id').primaryKey(),
  token: instant('token').notNull(),
  attempt: integer('attempt').notNull(),
  startedAt: instant('started_at').notNull(),
  /** Set where the turn threw: no turn is in flight, and the attempts stay counted. */
  thrownAt: instant('thrown_at'),
});

/** Append-only: every change of state, and every stop that met an equal or stronger state (S1). */
export const conversationTransitions = pgTable(
  'conversation_transitions',
  {
    conversationId: text('conversation_id').notNull(),
    ordinal: bigint('ordinal', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    businessId: text('business_id').notNull(),
    version: integer('version').notNull(),
    fromState: text('from_state').notNull(),
    toState: text('to_state').notNull(),
    cause: text('cause').notNull(),
    causeRef: text('cause_ref'),
    /** False where the event was recorded and changed nothing. */
    changed: boolean('changed').notNull(),
    at: instant('at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.conversationId, t.ordinal] })],
);

/** Follow-ups of an episode; a step's outbox row is written when it falls due (S6). */
export const followUpPlans = pgTable(
  'follow_up_plans',
  {
    id: text('id').primaryKey(),
    businessId: text('business_id').notNull(),
    conversationId: text('conversation_id').notNull(),
    episode: integer('episode').notNull(),
    anchorAt: instant('anchor_at').notNull(),
    stoppedAt: instant('stopped_at'),
    stopReason: text('stop_reason'),
  },
  (t) => [unique('follow_up_plans_episode').on(t.conversationId, t.episode)],
);

export const followUpSteps = pgTable(
  'follow_up_steps',
  {
    planId: text('plan_id').notNull(),
    conversationId: text('conversation_id').notNull(),
    step: integer('step').notNull(),
    day: integer('day').notNull(),
    dueAt: instant('due_at').notNull(),
    writtenAt: instant('written_at'),
  },
  (t) => [
    primaryKey({ columns: [t.planId, t.step] }),
    index('follow_up_steps_open')
      .on(t.conversationId, t.dueAt)
      .where(sql`written_at is null`),
  ],
);
