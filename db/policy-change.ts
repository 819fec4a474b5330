import type { Pool, PoolClient } from 'pg';
import { allowedHours } from '../domain/allowed-hours';
import {
  decideAnswer,
  decideFollowUp,
  keepUnderNewRules,
  type PolicyDecision,
  type PolicyReason,
} from '../domain/policy';
import type { Template } from '../domain/policy-rules';
import type { RecipientZones } from '../domain/recipient-zone';
import type { Purpose } from '../domain/sending';
import type { FirstResponseVerdict } from '../domain/understanding';
import { refreshAgenda } from './agenda';
import { lockConversation, POLICY_VERSION, type Locked } from './conversations';
import { inTransaction, run, statement } from './database';
import { readFollowUpContext } from './follow-ups';
import { letSendStand, queueSend, type NewSend } from './outbox';
import { readPolicy, type Policy } from './policies';

/**
 * Automatic sends that wait and that no worker holds. A draft that waits for a person and a
 * fallback are left out: what a person approves, or replaces a failed send, follows no delay.
 */
const REPLACEABLE = `
  o.purpose in ('answer', 'follow-up', 'booking-confirmation') and not o.awaiting_approval
  and o.fallback_for is null
  and (o.state = 'queued' or (o.state = 'leased' and o.lease_until <= n.now))`;

const findConversations = statement<{ id: string }>(
  'find-sends-under-old-rules',
  `select distinct c.id
   from (select coalesce($1::timestamptz, clock_timestamp()) as now) n, outbox o
   join conversations c on c.id = o.conversation_id
   where ${REPLACEABLE} and o.policy_version <> ${POLICY_VERSION}
   order by c.id`,
);

interface OldSend {
  readonly id: string;
  readonly purpose: Purpose;
  readonly body: string;
  readonly verdict: FirstResponseVerdict | null;
  readonly sourceEvent: string;
  readonly coversSeq: number;
  readonly token: string | null;
  readonly stands: boolean;
  readonly template: Template | null;
  readonly turnStartedAt: string | null;
  readonly decisionMs: number | null;
  readonly decisionId: string;
  readonly reason: PolicyReason;
  readonly rule: string | null;
  readonly notBeforeMs: number;
  readonly expiresAtMs: number | null;
  readonly cancelOnInbound: boolean;
  /** Of a follow-up: the step behind it. */
  readonly day: number | null;
  readonly dueAtMs: number | null;
}

/** Cancels by compare: a worker that claimed the row meanwhile keeps it, and its gate decides. */
const cancelOld = statement<OldSend>(
  'cancel-sends-under-old-rules',
  `with n as (select $3::timestamptz as now),
   ended as (
     update outbox o set state = 'cancelled', end_reason = 'rule_changed', ended_at = n.now,
       lease_owner = null, lease_until = null
     from n where o.conversation_id = $1 and ${REPLACEABLE} and o.policy_version <> $2
     returning o.*)
   select o.id, o.purpose, o.body, o.verdict, o.source_event as "sourceEvent",
     o.covers_seq as "coversSeq", o.token::text, o.stands, o.template,
     o.turn_started_at::text as "turnStartedAt", o.decision_ms as "decisionMs",
     o.decision_id as "decisionId", d.reason, d.rule,
     (extract(epoch from o.not_before) * 1000)::float8 as "notBeforeMs",
     (extract(epoch from o.expires_at) * 1000)::float8 as "expiresAtMs",
     o.cancel_on_inbound as "cancelOnInbound", s.day,
     (extract(epoch from s.due_at) * 1000)::float8 as "dueAtMs"
   from ended o join send_decisions d on d.id = o.decision_id
   left join follow_up_steps s on s.conversation_id = o.conversation_id
     and 'plan:' || s.plan_id || ':' || s.step = o.source_event
   order by o.created_at, o.id`,
);

export interface PolicyChanges {
  readonly replaced: number;
  /** Their next due times may have moved; the relay wakes them. */
  readonly conversationIds: readonly string[];
}

/**
 * Brings what waits under the rules of now (C2, C5): each automatic send that stands under another
 * version is cancelled and queued anew in one transaction, under a decision that supersedes; both
 * stay. Level-triggered: it does not matter who changed the rules, or when. Safe to repeat, and
 * against a worker that claims meanwhile. `zonesOf` says where the lead of a conversation may be;
 * it is asked before any lock is taken.
 */
export async function applyPolicyChanges(
  pool: Pool,
  zonesOf: (conversationId: string) => Promise<RecipientZones>,
  now: string | null,
): Promise<PolicyChanges> {
  const found = await run(pool, findConversations, [now]);
  let replaced = 0;
  const conversationIds: string[] = [];
  for (const { id } of found) {
    const recipient = await zonesOf(id);
    const count = await inTransaction(pool, (client) => replaceAll(client, id, recipient, now));
    if (count === 0) continue;
    replaced += count;
    conversationIds.push(id);
  }
  return { replaced, conversationIds };
}

async function replaceAll(
  client: PoolClient,
  conversationId: string,
  recipient: RecipientZones,
  now: string | null,
): Promise<number> {
  const locked = await lockConversation(client, conversationId, now);
  if (locked === null) return 0;
  const { conversation, now: at } = locked;
  const policy = await readPolicy(client, conversation);
  const { policyVersion } = conversation;
  const old = await run(client, cancelOld, [conversation.id, policyVersion, at]);
  for (const send of old) await queueAnew(client, locked, { send, policy, recipient });
  if (old.length > 0) await refreshAgenda(client, conversationId, now);
  return old.length;
}

interface Replacing {
  readonly send: OldSend;
  readonly policy: Policy;
  readonly recipient: RecipientZones;
}

async function queueAnew(client: PoolClient, locked: Locked, replacing: Replacing): Promise<void> {
  const { send, policy } = replacing;
  const { conversation, now: at } = locked;
  // From now on a person approves answers: the debt stands, and its turn drafts for approval.
  const followsRules = FOLLOWS_RULES.includes(send.reason);
  if (followsRules && send.token !== null && policy.rules.manualReview) return;
  const decision = followsRules ? await decideAnew(client, locked, replacing) : null;
  const sendId = await queueSend(client, conversation, {
    ...sameSend(send),
    decision: decision ?? keepUnderNewRules(send),
    supersedesId: send.decisionId,
    at,
  });
  // The key holds the version, and a version is stored once: nothing can stand in its place.
  if (sendId === null) throw new Error('a send under changed rules exists already');
  if (send.stands) await letSendStand(client, sendId);
}

/** What a changed rule leaves as it was. */
function sameSend(send: OldSend): Omit<NewSend, 'decision' | 'at'> {
  const { purpose, body, verdict, sourceEvent, coversSeq, token, template } = send;
  const { turnStartedAt, decisionMs } = send;
  const measured = turnStartedAt !== null && decisionMs !== null;
  return {
    ...{ purpose, body, verdict, sourceEvent, coversSeq, token },
    turn: measured ? { startedAt: turnStartedAt, decisionMs } : null,
    ...(template === null ? {} : { template }),
  };
}

/** Back-offs and a person's own decisions follow no rule of the business. */
const FOLLOWS_RULES: readonly PolicyReason[] = [
  'immediate-first-response',
  'business-rule-delay',
  'escalation-window',
];

async function decideAnew(
  client: PoolClient,
  { conversation, nowMs }: Locked,
  { send, policy, recipient }: Replacing,
): Promise<PolicyDecision | null> {
  const { rules, timeZone } = policy;
  if (send.purpose === 'answer' && send.token !== null) {
    const { overdueFrom, oldestOwedAt } = conversation;
    return decideAnswer(rules, {
      nowMs,
      // Where a wait put it ahead of now, the wait ends with the old rule.
      overdueFromMs: Math.min(nowMs, overdueFrom === null ? nowMs : Date.parse(overdueFrom)),
      oldestOwedMs: oldestOwedAt === null ? nowMs : Date.parse(oldestOwedAt),
      timeZone,
    });
  }
  const { day, dueAtMs } = send;
  if (send.purpose !== 'follow-up' || day === null || dueAtMs === null) return null;
  const { previousMs } = await readFollowUpContext(client, conversation.id);
  const hours = allowedHours(rules, timeZone, recipient);
  return decideFollowUp(rules, hours, { day, dueAtMs, previousMs, timeZone });
}
