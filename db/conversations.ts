import type { PoolClient } from 'pg';
import { transition, type ConversationState, type StateEvent } from '../domain/conversation-state';
import type { Channel } from '../domain/inbound';
import type { AccountId, AddressId, BusinessId, ConversationId, LeadId } from '../domain/ids';
import { run, runOne, statement } from './database';

/** A conversation's row while its lock is held. Instants as text keep their microseconds. */
export interface LockedConversation {
  readonly id: ConversationId;
  readonly businessId: BusinessId;
  readonly accountId: AccountId;
  readonly leadId: LeadId;
  readonly addressId: AddressId;
  readonly channel: Channel;
  readonly state: ConversationState;
  readonly version: number;
  readonly rememberedState: ConversationState | null;
  readonly episode: number;
  readonly owner: 'automation' | 'person';
  readonly lastSeq: number;
  readonly lastInboundSeq: number;
  readonly owedSince: string | null;
  readonly oldestOwedAt: string | null;
  readonly overdueFrom: string | null;
  readonly turnDueAt: string | null;
  readonly draftWithdrawals: number;
  readonly contactStartedAt: string | null;
  readonly optOutConfirmedAt: string | null;
  readonly policyVersion: string;
}

/**
 * The version of the policy that rules a conversation of alias `c`: the newest of its account, else
 * of its channel, else of the business (C2).
 */
export const POLICY_VERSION = `
  coalesce((
     select p.version from send_policies p
     where p.business_id = c.business_id and (p.channel is null or p.channel = c.channel)
       and (p.account_id is null or p.account_id = c.account_id)
     order by (p.account_id is not null) desc, (p.channel is not null) desc, p.ordinal desc
     limit 1),
   (select b.policy_version from businesses b where b.id = c.business_id))`;

/** The columns of `LockedConversation`, for statements that return it from alias `c`. */
export const CONVERSATION_COLUMNS = `
  c.id, c.business_id as "businessId", c.account_id as "accountId", c.lead_id as "leadId",
  c.address_id as "addressId", c.channel, c.state, c.version,
  c.remembered_state as "rememberedState", c.episode, c.owner, c.last_seq as "lastSeq",
  c.last_inbound_seq as "lastInboundSeq", c.owed_since::text as "owedSince",
  c.oldest_owed_at::text as "oldestOwedAt", c.overdue_from::text as "overdueFrom",
  c.turn_due_at::text as "turnDueAt", c.draft_withdrawals as "draftWithdrawals",
  c.contact_started_at::text as "contactStartedAt",
  c.opt_out_confirmed_at::text as "optOutConfirmedAt",
  ${POLICY_VERSION} as "policyVersion"`;

const lockStatement = statement<LockedConversation>(
  'lock-conversation',
  `select ${CONVERSATION_COLUMNS} from conversations c where c.id = $1 for update of c`,
);

const nowStatement = statement<{ now: string; nowMs: number }>(
  'read-clock',
  `select n::text as now, (extract(epoch from n) * 1000)::float8 as "nowMs"
   from coalesce($1::timestamptz, clock_timestamp()) as n`,
);

export interface Instant {
  readonly now: string;
  readonly nowMs: number;
}

/** Reads the clock. Called after the locks are held, so that a wait for a lock ages nothing. */
export function readClock(client: PoolClient, now: string | null): Promise<Instant> {
  return runOne(client, nowStatement, [now]);
}

export interface Locked extends Instant {
  readonly conversation: LockedConversation;
}

/** Locks a conversation and then reads the clock. Null where it does not exist. */
export async function lockConversation(
  client: PoolClient,
  conversationId: string,
  now: string | null,
): Promise<Locked | null> {
  const [rows, instant] = await Promise.all([
    run(client, lockStatement, [conversationId]),
    readClock(client, now),
  ]);
  const conversation = rows[0];
  return conversation === undefined ? null : { conversation, ...instant };
}

const setState = statement<{ version: number }>(
  'set-conversation-state',
  `update conversations set state = $3, remembered_state = $4, version = version + 1,
     episode = episode + case when $5 then 1 else 0 end,
     contact_started_at = case when $5 then null else contact_started_at end,
     opt_out_confirmed_at = case when $3 = 'opted_out' then null else opt_out_confirmed_at end
   where id = $1 and version = $2 returning version`,
);

const insertTransition = statement(
  'insert-transition',
  `insert into conversation_transitions
     (conversation_id, business_id, version, from_state, to_state, cause, cause_ref, changed, at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

export interface StateCause {
  /** A controlled word: reply, staff_booking, provider_opt_out, handover … */
  readonly cause: string;
  /** The id of the fact behind it: a message, a work item, a command. */
  readonly causeRef: string | null;
  readonly at: string;
}

/**
 * Applies a state event by compare-and-set on the version and records it (S1, S2). A stop that
 * meets an equal or stronger state is recorded and changes nothing. The row is locked already;
 * the version still decides, so that a stale snapshot can never be written.
 */
export async function applyStateEvent(
  client: PoolClient,
  conversation: LockedConversation,
  event: StateEvent,
  cause: StateCause,
): Promise<LockedConversation> {
  const before = { state: conversation.state, remembered: conversation.rememberedState };
  const next = transition(before, event);
  let version = conversation.version;
  if (next.changed) {
    const row = await runOne(client, setState, [
      conversation.id,
      conversation.version,
      next.state,
      next.remembered,
      event === 'new-episode',
    ]);
    version = row.version;
  }
  await run(client, insertTransition, [
    conversation.id,
    conversation.businessId,
    version,
    before.state,
    next.state,
    cause.cause,
    cause.causeRef,
    next.changed,
    cause.at,
  ]);
  const opensEpisode = next.changed && event === 'new-episode';
  return {
    ...conversation,
    state: next.state,
    rememberedState: next.remembered,
    version,
    episode: conversation.episode + (opensEpisode ? 1 : 0),
    contactStartedAt: opensEpisode ? null : conversation.contactStartedAt,
    optOutConfirmedAt:
      next.changed && next.state === 'opted_out' ? null : conversation.optOutConfirmedAt,
  };
}

const setOwner = statement(
  'set-conversation-owner',
  `update conversations set owner = $2::text,
     automation_paused_at = case when $2::text = 'person' then coalesce(automation_paused_at, $3) end
   where id = $1`,
);

/** Hands the conversation to a person or back to automation. The caller appends the event. */
export async function setConversationOwner(
  client: PoolClient,
  conversationId: string,
  owner: 'automation' | 'person',
  at: string,
): Promise<void> {
  await run(client, setOwner, [conversationId, owner, at]);
}
