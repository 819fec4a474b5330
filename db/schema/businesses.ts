import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
} from 'drizzle-orm/pg-core';
import { instant } from './columns';

export const businesses = pgTable('businesses', {
  id: text('id').primaryKey(),
  name: text('name').notNull(),
  /** IANA zone; business hours and days 1, 3 and 7 are reckoned in it. */
  timeZone: text('time_zone').notNull(),
  /** The catalogue of services, as `domain/understanding` describes it. */
  services: jsonb('services').notNull(),
  policyVersion: text('policy_version').notNull(),
  /** The kill switch: nothing automatic leaves while it is off. */
  automationEnabled: boolean('automation_enabled').notNull().default(true),
  createdAt: instant('created_at').notNull(),
});

/** A business's account at a provider: a page, a phone number id, a number. */
export const accounts = pgTable(
  'accounts',
  {
    id: text('id').primaryKey(),
    businessId: text('business_id')
      .notNull()
      .references(() => businesses.id),
    provider: text('provider').notNull(),
    channel: text('channel').notNull(),
    externalId: text('external_id').notNull(),
    credentials: jsonb('credentials').notNull(),
    /** Set while the provider refuses the credentials; sends of this account alone wait (IN4). */
    pausedAt: instant('paused_at'),
    pausedReason: text('paused_reason'),
    createdAt: instant('created_at').notNull(),
  },
  (t) => [unique('accounts_channel_external_id').on(t.channel, t.externalId)],
);

/**
 * Where a business's facts go besides its leads: the CRM, the audit export, notices. Null business:
 * the operators of the installation. Refused credentials pause this one alone (IN4).
 */
export const integrations = pgTable(
  'integrations',
  {
    id: text('id').primaryKey(),
    businessId: text('business_id').references(() => businesses.id),
    kind: text('kind').notNull(),
    /** Address, recipients or path; never a secret. */
    settings: jsonb('settings').notNull(),
    /** The signing secret; staff cannot read it. */
    secret: text('secret'),
    pausedAt: instant('paused_at'),
    pausedReason: text('paused_reason'),
    createdAt: instant('created_at').notNull(),
  },
  (t) => [
    index('integrations_business').on(t.businessId),
    check(
      'integrations_kind',
      sql`kind in ('crm-webhook', 'audit-webhook', 'audit-file', 'notice-email', 'notice-webhook')`,
    ),
  ],
);

/**
 * Append-only: the rules by which sends may leave, as `domain/policy-rules` describes them (C2).
 * The most specific newest one rules: of the account, else of the channel, else of the business.
 */
export const sendPolicies = pgTable(
  'send_policies',
  {
    businessId: text('business_id')
      .notNull()
      .references(() => businesses.id),
    version: text('version').notNull(),
    channel: text('channel'),
    accountId: text('account_id').references(() => accounts.id),
    rules: jsonb('rules').notNull(),
    createdAt: instant('created_at').notNull(),
    /** The order in which they were stored; a clock that steps back changes nothing. */
    ordinal: bigint('ordinal', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
  },
  (t) => [primaryKey({ columns: [t.businessId, t.version] })],
);

/** A person who writes. Aliases are rows of `addresses` that point to the same lead. */
export const leads = pgTable('leads', {
  id: text('id').primaryKey(),
  businessId: text('business_id')
    .notNull()
    .references(() => businesses.id),
  displayName: text('display_name'),
  createdAt: instant('created_at').notNull(),
});

/** One way to reach a lead. The gate locks this row and counts its sends under the lock. */
export const addresses = pgTable(
  'addresses',
  {
    id: text('id').primaryKey(),
    businessId: text('business_id')
      .notNull()
      .references(() => businesses.id),
    leadId: text('lead_id')
      .notNull()
      .references(() => leads.id),
    kind: text('kind').notNull(),
    value: text('value').notNull(),
    optedOutAt: instant('opted_out_at'),
    createdAt: instant('created_at').notNull(),
  },
  (t) => [
    unique('addresses_identity').on(t.businessId, t.kind, t.value),
    index('addresses_lead').on(t.leadId),
  ],
);

/** Bearer tokens of the staff API, kept as digests. */
export const staffTokens = pgTable('staff_tokens', {
  tokenSha256: text('token_sha256').primaryKey(),
  businessId: text('business_id')
    .notNull()
    .references(() => businesses.id),
  role: text('role').notNull(),
  createdAt: instant('created_at').notNull(),
});

/** One row per staff command: the Idempotency-Key's answer, written with the command's facts. */
export const staffCommands = pgTable(
  'staff_commands',
  {
    businessId: text('business_id').notNull(),
    idempotencyKey: text('idempotency_key').notNull(),
    requestDigest: text('request_digest').notNull(),
    response: jsonb('response').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (t) => [unique('staff_commands_key').on(t.businessId, t.idempotencyKey)],
);
