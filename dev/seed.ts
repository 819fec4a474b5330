import type { Pool } from 'pg';
import { run, statement } from '../db/database';
import { sha256 } from '../db/digest';
import { storePolicy } from '../db/policies';
import { DEMO_ACCOUNTS, DEMO_BUSINESS, DEMO_POLICY } from './demo';

const insertBusiness = statement(
  'seed-business',
  `insert into businesses (id, name, time_zone, services, policy_version, created_at)
   values ($1, $2, $3, $4, $5, clock_timestamp()) on conflict (id) do nothing`,
);

const insertAccount = statement(
  'seed-account',
  `insert into accounts (id, business_id, provider, channel, external_id, credentials, created_at)
   values ($1, $2, $3, $4, $5, $6, clock_timestamp()) on conflict do nothing`,
);

const insertToken = statement(
  'seed-token',
  `insert into staff_tokens (token_sha256, business_id, role, created_at)
   values ($1, $2, 'owner', clock_timestamp()) on conflict do nothing`,
);

/** Seeds the demo business, its accounts and a staff token. Safe to repeat. */
export async function seedDemo(pool: Pool, staffToken: string): Promise<void> {
  await run(pool, insertBusiness, [
    DEMO_BUSINESS.id,
    DEMO_BUSINESS.name,
    DEMO_BUSINESS.timeZone,
    JSON.stringify(DEMO_BUSINESS.services),
    DEMO_BUSINESS.policyVersion,
  ]);
  const stored = await storePolicy(
    pool,
    {
      businessId: DEMO_BUSINESS.id,
      version: DEMO_BUSINESS.policyVersion,
      channel: null,
      accountId: null,
      rules: DEMO_POLICY,
    },
    null,
  );
  if (stored.kind === 'invalid') throw new Error(stored.problems.join('; '));
  for (const account of DEMO_ACCOUNTS) {
    await run(pool, insertAccount, [
      account.id,
      DEMO_BUSINESS.id,
      account.provider,
      account.channel,
      account.externalId,
      JSON.stringify(account.credentials),
    ]);
  }
  await run(pool, insertToken, [sha256(staffToken), DEMO_BUSINESS.id]);
}
