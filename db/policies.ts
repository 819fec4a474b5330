import type { Pool, PoolClient } from 'pg';
import { DEFAULT_RULES, readPolicyRules, type PolicyRules } from '../domain/policy-rules';
import type { LockedConversation } from './conversations';
import { run, runOne, statement, type Executor } from './database';

/** The rules that hold for a conversation, and the zone in which its business reckons. */
export interface Policy {
  readonly rules: PolicyRules;
  /** The business's. */
  readonly timeZone: string;
}

const readRules = statement<{ rules: unknown; timeZone: string }>(
  'read-send-policy',
  `select b.time_zone as "timeZone", (
     select p.rules from send_policies p
     where p.business_id = b.id and p.version = $2) as rules
   from businesses b where b.id = $1`,
);

/**
 * Reads the policy that a locked conversation names: the most specific newest version, of the
 * account, else of the channel, else of the business, else what holds everywhere (C2).
 */
export async function readPolicy(
  client: PoolClient,
  conversation: Pick<LockedConversation, 'businessId' | 'policyVersion'>,
): Promise<Policy> {
  const { businessId, policyVersion } = conversation;
  const { rules, timeZone } = await runOne(client, readRules, [businessId, policyVersion]);
  if (rules === null) return { rules: DEFAULT_RULES, timeZone };
  const read = readPolicyRules(rules);
  // Only valid rules are stored, and nobody changes them.
  if (read.kind === 'invalid') throw new Error(`policy ${policyVersion} is not valid`);
  return { rules: read.rules, timeZone };
}

export interface NewPolicy {
  readonly businessId: string;
  readonly version: string;
  /** Null: for all channels. */
  readonly channel: string | null;
  /** Null: for all accounts. */
  readonly accountId: string | null;
  /** As it came from outside. */
  readonly rules: unknown;
}

export type PolicyStored =
  | { readonly kind: 'stored' }
  /** The version exists already; a version never changes. */
  | { readonly kind: 'known' }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] };

const insertPolicy = statement<{ version: string }>(
  'insert-send-policy',
  `insert into send_policies (business_id, version, channel, account_id, rules, created_at)
   values ($1, $2, $3, $4, $5, coalesce($6::timestamptz, clock_timestamp()))
   on conflict (business_id, version) do nothing returning version`,
);

/**
 * Stores a version of the rules, if they are valid. It rules from now on for what is decided from
 * now on; `applyPolicyChanges` brings what already waits under it.
 */
export async function storePolicy(
  executor: Executor | Pool,
  policy: NewPolicy,
  now: string | null,
): Promise<PolicyStored> {
  const read = readPolicyRules(policy.rules);
  if (read.kind === 'invalid') return read;
  const rows = await run(executor, insertPolicy, [
    policy.businessId,
    policy.version,
    policy.channel,
    policy.accountId,
    JSON.stringify(read.rules),
    now,
  ]);
  return { kind: rows.length === 0 ? 'known' : 'stored' };
}
