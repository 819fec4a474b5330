import type { PoolClient } from 'pg';
import type { DecisionId, SendId } from '../domain/ids';
import type { Channel } from '../domain/inbound';
import { sendIdentityText } from '../domain/keys';
import type { PolicyDecision } from '../domain/policy';
import type { Template } from '../domain/policy-rules';
import type { Purpose } from '../domain/sending';
import type { FirstResponseVerdict } from '../domain/understanding';
import type { LockedConversation } from './conversations';
import { run, statement } from './database';
import { sha256 } from './digest';
import { newId } from './new-id';

export interface NewSend {
  readonly purpose: Purpose;
  readonly body: string;
  readonly verdict: FirstResponseVerdict | null;
  readonly sourceEvent: string;
  /** The newest inbound that the text takes into account. */
  readonly coversSeq: number;
  /** The debt that it answers; null where it answers none. */
  readonly token: string | null;
  readonly decision: PolicyDecision;
  /** Transport stamps of the turn (L1); null for what no turn wrote. */
  readonly turn: { readonly startedAt: string; readonly decisionMs: number } | null;
  /** The decision of the row that this one replaces under changed rules (C5). */
  readonly supersedesId?: string;
  /** The failed send that this one replaces (T3). */
  readonly fallbackFor?: string;
  /** Set where it leaves as a text that the provider approved beforehand. */
  readonly template?: Template;
  readonly at: string;
}

const insertSend = statement<{ id: SendId }>(
  'insert-send',
  `insert into outbox (id, business_id, conversation_id, account_id, address_id, channel, purpose,
     source_event, idempotency_key, episode, state, body, verdict, covers_seq, token, decision_id,
     not_before, expires_at, cancel_on_inbound, created_at, turn_started_at, decision_ms,
     policy_version, fallback_for, template)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'queued', $11, $12, $13, $14, $15,
     to_timestamp($16::float8 / 1000), to_timestamp($17::float8 / 1000), $18, $19, $20, $21, $22,
     $23, $24)
   on conflict do nothing returning id`,
);

const insertDecision = statement(
  'insert-decision',
  `insert into send_decisions (id, business_id, send_id, supersedes_id, not_before, expires_at,
     reason, rule, policy_version, evaluated_at, inputs, cancel_on_inbound)
   values ($1, $2, $3, $4, to_timestamp($5::float8 / 1000), to_timestamp($6::float8 / 1000),
     $7, $8, $9, $10, $11, $12)`,
);

export interface DecisionTarget {
  readonly id: DecisionId;
  readonly businessId: string;
  readonly sendId: string;
  readonly supersedesId: string | null;
  readonly policyVersion: string;
  readonly at: string;
}

/** Appends a policy decision (C2). It is never changed; a later one supersedes it. */
export async function storeDecision(
  client: PoolClient,
  target: DecisionTarget,
  decision: PolicyDecision,
): Promise<void> {
  await run(client, insertDecision, [
    target.id,
    target.businessId,
    target.sendId,
    target.supersedesId,
    decision.notBeforeMs,
    decision.expiresAtMs,
    decision.reason,
    decision.rule,
    target.policyVersion,
    target.at,
    JSON.stringify(decision.inputs),
    decision.cancelOnInbound,
  ]);
}

/**
 * Queues one logical send with its decision (C5). The idempotency key and the index over live
 * sends decide: where an equal one exists, nothing is added and null comes back.
 */
export async function queueSend(
  client: PoolClient,
  conversation: LockedConversation,
  send: NewSend,
): Promise<SendId | null> {
  const decisionId = newId('dec');
  const key = sendIdentityText({
    accountId: conversation.accountId,
    conversationId: conversation.id,
    sourceEvent: send.sourceEvent,
    purpose: send.purpose,
    policyVersion: conversation.policyVersion,
  });
  const [inserted] = await run(client, insertSend, [
    newId('snd'),
    conversation.businessId,
    conversation.id,
    conversation.accountId,
    conversation.addressId,
    conversation.channel,
    send.purpose,
    send.sourceEvent,
    sha256(key),
    conversation.episode,
    send.body,
    send.verdict,
    send.coversSeq,
    send.token,
    decisionId,
    send.decision.notBeforeMs,
    send.decision.expiresAtMs,
    send.decision.cancelOnInbound,
    send.at,
    send.turn?.startedAt ?? null,
    send.turn?.decisionMs ?? null,
    conversation.policyVersion,
    send.fallbackFor ?? null,
    send.template === undefined ? null : JSON.stringify(send.template),
  ]);
  if (inserted === undefined) return null;
  await storeDecision(
    client,
    {
      id: decisionId,
      businessId: conversation.businessId,
      sendId: inserted.id,
      supersedesId: send.supersedesId ?? null,
      policyVersion: conversation.policyVersion,
      at: send.at,
    },
    send.decision,
  );
  return inserted.id;
}

/**
 * The claim (C4): one atomic statement, only where `notBefore <= now < expiresAt`, and only one
 * worker wins. An expired lease may be taken over. Its loss costs nothing but a new claim, so the
 * commit does not wait for the disk.
 */
const claim = statement<Omit<Claim, 'sendId' | 'leaseOwner'>>(
  'claim-send',
  `with n as (select coalesce($3::timestamptz, clock_timestamp()) as now,
       set_config('synchronous_commit', 'off', true))
   update outbox o set state = 'leased', lease_owner = $2,
     lease_until = n.now + make_interval(secs => $4::float8 / 1000)
   from n
   where o.id = $1 and (o.state = 'queued' or (o.state = 'leased' and o.lease_until <= n.now))
     and not o.awaiting_approval
     and o.not_before <= n.now and (o.expires_at is null or n.now < o.expires_at)
   returning o.conversation_id as "conversationId", o.account_id as "accountId",
     o.address_id as "addressId", o.channel, o.purpose`,
);

export interface Claim {
  readonly sendId: SendId;
  readonly leaseOwner: string;
  readonly conversationId: string;
  readonly accountId: string;
  readonly addressId: string;
  readonly channel: Channel;
  readonly purpose: Purpose;
}

/** Claims a send for `leaseOwner` for `leaseMs`. Null where another has it or it is not the time. */
export async function claimSend(
  executor: Parameters<typeof run>[0],
  request: {
    readonly sendId: SendId;
    readonly leaseOwner: string;
    readonly leaseMs: number;
    readonly now: string | null;
  },
): Promise<Claim | null> {
  const { sendId, leaseOwner, leaseMs, now } = request;
  const [row] = await run(executor, claim, [sendId, leaseOwner, now, leaseMs]);
  return row === undefined ? null : { sendId, leaseOwner, ...row };
}

const giveBack = statement(
  'give-back-send',
  `update outbox set state = 'queued', lease_owner = null, lease_until = null
   where id = $1 and state = 'leased' and lease_owner = $2`,
);

/** Puts a claimed row back; nothing was sent. */
export async function giveBackSend(
  executor: Parameters<typeof run>[0],
  held: Pick<Claim, 'sendId' | 'leaseOwner'>,
): Promise<void> {
  await run(executor, giveBack, [held.sendId, held.leaseOwner]);
}

const endSend = statement(
  'end-send',
  `update outbox set state = $2, end_reason = $3, ended_at = $4, lease_owner = null,
     lease_until = null
   where id = $1 and state in ('queued', 'leased', 'sending')`,
);

/** Ends a send that will not be accepted, with the reason that the timeline shows. */
export async function endOpenSend(
  client: PoolClient,
  sendId: string,
  end: { readonly state: 'cancelled' | 'failed'; readonly reason: string; readonly at: string },
): Promise<void> {
  await run(client, endSend, [sendId, end.state, end.reason, end.at]);
}

const letStand = statement(
  'let-send-stand',
  `update outbox set stands = true where id = $1 and state in ('queued', 'leased')`,
);

/** Lets an older draft leave although newer messages came; they keep their debt (P4b case 4). */
export async function letSendStand(client: PoolClient, sendId: string): Promise<void> {
  await run(client, letStand, [sendId]);
}
