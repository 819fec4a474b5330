import type { Pool, PoolClient } from 'pg';
import { isId } from '../domain/ids';
import { readClock } from './conversations';
import { closeRefusedCredentials, reportRefusedCredentials } from './credentials';
import { inTransaction, run, statement } from './database';
import type { WakeTarget } from './due';
import { resumeIntegration } from './integrations';

const lockForChange = statement(
  'lock-account-for-change',
  `select from accounts where id = $1 for no key update`,
);

/**
 * Locks an account before its conversations, in the order of every gate, for a transaction that
 * may pause it.
 */
export async function lockAccount(client: PoolClient, accountId: string): Promise<void> {
  await run(client, lockForChange, [accountId]);
}

const pauseStatement = statement<{ businessId: string }>(
  'pause-account',
  `update accounts set paused_at = $2, paused_reason = $3
   where id = $1 and paused_at is null returning business_id as "businessId"`,
);

/**
 * Refused credentials pause this account alone and show an operator why (IN4): one item per pause.
 * Its sends wait, and what waits too long goes to a person by its own deadline.
 */
export async function pauseAccount(
  client: PoolClient,
  accountId: string,
  code: string,
  at: string,
): Promise<void> {
  const [paused] = await run(client, pauseStatement, [accountId, at, code]);
  if (paused === undefined) return;
  await reportRefusedCredentials(client, {
    businessId: paused.businessId,
    subjectId: accountId,
    code,
    explanation: `The provider refuses this account's credentials (code ${code}). Sends of the account wait until they are mended.`,
    at,
  });
}

const resumeStatement = statement<{ id: string }>(
  'resume-account',
  `update accounts set paused_at = null, paused_reason = null
   where id = $1 and paused_at is not null returning id`,
);

/** Conversations for which anything is owed or may leave, locked in the order of every writer. */
const lockWaiting = statement<WakeTarget>(
  'lock-conversations-of-account',
  `select c.id, c.business_id as "businessId", c.channel, c.state, c.owner from conversations c
   where c.account_id = $1 and (c.owed_since is not null or exists (
     select from outbox o where o.conversation_id = c.id
       and o.state in ('queued', 'leased', 'sending')))
   order by c.id for update of c`,
);

/**
 * A pause holds back deliveries and nothing else: what is due is what was due, or the earliest send
 * that may leave again (planAgenda). It reads behind the locks, as a statement of its own.
 */
const dueAgain = statement(
  'make-conversations-due-again',
  `update conversations c
   set next_due_at = least(c.next_due_at, (
       select min(greatest(o.not_before, o.lease_until)) from outbox o
       join businesses b on b.id = c.business_id
       where o.conversation_id = c.id and o.state in ('queued', 'leased')
         and b.automation_enabled and not o.awaiting_approval
         and (o.expires_at is null or greatest(o.not_before, o.lease_until) < o.expires_at))),
     relay_count = 0, relay_at = null, touched_at = $2
   where c.id = any($1)`,
);

/**
 * Lets a paused account go on (IN4): its item closes, and every conversation that waits is due
 * again by its own clock, the longest waiting first, in one statement however many they are. Debts
 * under one hour are answered; older ones went to a person when their answer expired, and are not
 * touched. Returns whom to wake; the relay does it otherwise. Nothing happens where the account is
 * not paused.
 */
export async function resumeAccount(
  client: PoolClient,
  accountId: string,
  by: string,
  now: string | null,
): Promise<readonly WakeTarget[]> {
  const resumed = await run(client, resumeStatement, [accountId]);
  if (resumed.length === 0) return [];
  const waiting = await run(client, lockWaiting, [accountId]);
  const at = await readClock(client, now);
  await run(client, dueAgain, [waiting.map(({ id }) => id), at.now]);
  await closeRefusedCredentials(client, accountId, { by, at: at.now });
  return waiting;
}

const updateStatement = statement(
  'update-account-credentials',
  `update accounts set credentials = $2 where id = $1`,
);

/** Stores new credentials of an account and lets it go on, in one transaction (IN4). */
export async function updateCredentials(
  pool: Pool,
  accountId: string,
  credentials: Readonly<Record<string, string>>,
  now: string | null,
): Promise<readonly WakeTarget[]> {
  return inTransaction(pool, async (client) => {
    await run(client, updateStatement, [accountId, JSON.stringify(credentials)]);
    return resumeAccount(client, accountId, 'operator', now);
  });
}

/**
 * What a resolved `credentials` item lets go on: the account or the integration that it is about
 * (IN4). Where the credentials are still refused, the next call pauses it again.
 */
export async function mendCredentials(
  client: PoolClient,
  subjectId: string | null,
  by: string,
  now: string | null,
): Promise<readonly WakeTarget[]> {
  if (isId('acc', subjectId)) return resumeAccount(client, subjectId, by, now);
  if (isId('int', subjectId)) await resumeIntegration(client, subjectId, by, now);
  return [];
}
