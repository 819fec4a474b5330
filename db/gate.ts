import type { Pool, PoolClient } from 'pg';
import type { Agenda } from '../domain/agenda';
import { allowedHours, isAllowedAt, type AllowedHours } from '../domain/allowed-hours';
import { judgeGate, type CancelReason, type GateFacts, type GateVerdict } from '../domain/gate';
import type { AttemptId, SendId } from '../domain/ids';
import type { Channel, LeadAddress } from '../domain/inbound';
import { ATTEMPT_LIMIT_MS } from '../domain/limits';
import { planAgainLater } from '../domain/policy';
import type { Template } from '../domain/policy-rules';
import type { RecipientZones } from '../domain/recipient-zone';
import type { Purpose } from '../domain/sending';
import { refreshAgenda } from './agenda';
import { lockConversation, readClock, type LockedConversation } from './conversations';
import { inTransaction, run, runOne, statement } from './database';
import { reopenStep } from './follow-ups';
import { handOver, type Handover } from './handover';
import { newId } from './new-id';
import { endOpenSend, giveBackSend, type Claim } from './outbox';
import { readPolicy, type Policy } from './policies';
import { REACHABLE_ADDRESSES } from './reachable';
import { supersedeDecision } from './superseding';
import { keepReplyWaiting } from './staff-replies';
import { countDraftWithdrawal } from './turns';
import { openWorkItem } from './work-items';

/** What the provider call needs, from the transaction that permitted it. */
export interface Permit {
  readonly sendId: SendId;
  readonly attemptId: AttemptId;
  readonly attemptNumber: number;
  readonly conversationId: string;
  readonly businessId: string;
  readonly accountId: string;
  readonly channel: Channel;
  readonly accountExternalId: string;
  readonly credentials: Readonly<Record<string, string>>;
  readonly to: readonly LeadAddress[];
  readonly text: string;
  /** Set where it leaves as a text that the provider approved beforehand. */
  readonly template: Template | null;
  readonly purpose: Purpose;
  readonly attemptedAt: string;
}

export type GateResult =
  | { readonly kind: 'permitted'; readonly permit: Permit }
  | { readonly kind: 'refused'; readonly agenda: Agenda };

const lockAccount = statement('lock-account', `select from accounts where id = $1 for share`);

const lockAddress = statement(
  'lock-address',
  `select from addresses where id = $1 for no key update`,
);

interface SendRow extends Omit<GateFacts, 'outsideHours'> {
  readonly state: GateFacts['state'];
  readonly text: string;
  readonly template: Template | null;
  readonly attempts: number;
  readonly decisionId: string;
  /** The rule of the decision under which it stands. */
  readonly rule: string | null;
  readonly notBefore: string;
  readonly expiresAt: string | null;
  readonly externalId: string;
  readonly credentials: Readonly<Record<string, string>>;
  readonly to: readonly LeadAddress[];
}

const readFacts = statement<SendRow>(
  'read-gate-facts',
  `select o.purpose, o.cancel_on_inbound as "cancelOnInbound",
     (o.state = 'leased' and o.lease_owner = $2 and n.now < o.lease_until) as "leaseHeld",
     o.not_before <= n.now as reached,
     (o.expires_at is null or n.now < o.expires_at) as unexpired,
     case when $4::float8 is null or o.template is not null then null else coalesce(
       n.now < c.last_inbound_at + make_interval(secs => $4::float8 / 1000), false) end
       as "windowOpen",
     o.stop_requested_at is not null as "stopRequested",
     c.state, c.owner = 'person' as "personOwns", b.automation_enabled as "automationEnabled",
     a.paused_at is not null as "accountPaused", d.opted_out_at is not null as "addressOptedOut",
     o.covers_seq as "coversSeq", c.last_inbound_seq as "lastInboundSeq",
     c.draft_withdrawals as "draftWithdrawals",
     (extract(epoch from n.now - c.oldest_owed_at) * 1000)::float8 as "oldestOwedAgeMs",
     (select (extract(epoch from n.now - min(m.received_at)) * 1000)::float8 from messages m
      where m.conversation_id = c.id and m.author = 'lead' and m.seq > o.covers_seq)
       as "oldestMissedAgeMs",
     (select jsonb_build_object(
        'sinceInbound', count(*) filter (where t.purpose not in ('follow-up', 'staff')
          and t.started_at >= heard.at and not exists (
            select from send_outcomes r
            where r.attempt_id = t.id and r.outcome = 'not-accepted')),
        'followUpsToday', count(*) filter (where t.purpose = 'follow-up'
          and t.started_at > n.now - interval '20 hours'),
        'last10Minutes', count(*) filter (where t.started_at > n.now - interval '10 minutes'),
        'lastHour', count(*) filter (where t.started_at > n.now - interval '1 hour'),
        'lastDay', count(*) filter (where t.started_at > n.now - interval '1 day'))
      from send_attempts t
      where t.address_id = o.address_id and t.started_at >= least(
        n.now - interval '1 day', heard.at)) as counts,
     case when o.purpose = 'opt-out-confirmation' then exists (
       select from send_attempts t join addresses x on x.id = t.address_id
       where x.lead_id = c.lead_id and t.purpose = o.purpose and t.started_at >= x.opted_out_at
         and not exists (select from send_outcomes r
           where r.attempt_id = t.id and r.outcome = 'not-accepted'))
       else false end as "optOutConfirmed",
     o.body as text, o.template, o.attempts, o.decision_id as "decisionId",
     (select x.rule from send_decisions x where x.id = o.decision_id) as rule, o.not_before::text as "notBefore",
     o.expires_at::text as "expiresAt", a.external_id as "externalId", a.credentials,
     ${REACHABLE_ADDRESSES} as to
   from (select $3::timestamptz as now) n, outbox o
   join conversations c on c.id = o.conversation_id
   -- The address's last inbound, on whichever channel it was (INV-17b).
   join lateral (select max(x.last_inbound_received_at) as at from conversations x
     where x.lead_id = c.lead_id and x.address_id = o.address_id) heard on true
   join accounts a on a.id = o.account_id
   join businesses b on b.id = o.business_id
   join addresses d on d.id = o.address_id
   where o.id = $1 for update of o`,
);

const insertAttempt = statement(
  'insert-attempt',
  `insert into send_attempts (id, business_id, send_id, conversation_id, address_id, purpose,
     number, decision_id, not_before, expires_at, conversation_version, saw_seq, started_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
);

const markSending = statement(
  'mark-sending',
  `update outbox set state = 'sending', attempt_id = $2, attempted_at = $3,
     attempts = attempts + 1, lease_owner = null, lease_until = null
   where id = $1 and state = 'leased'`,
);

const markContact = statement(
  'mark-contact',
  `update conversations set contact_started_at = coalesce(contact_started_at, $2),
     next_due_at = $2::timestamptz + make_interval(secs => $3::float8 / 1000), touched_at = $2
   where id = $1`,
);

/**
 * The gate: the one transaction through which every outgoing message passes (design.md). It takes
 * the locks in the fixed order, reads the clock behind them, judges, and either records the
 * attempt under which the result will be filed, or refuses and says why. `replyWindowMs` is the
 * channel's; null where it has none. `recipient` says where the lead may be; absent where
 * nobody looked, because the send answers the lead.
 */
export async function passGate(
  pool: Pool,
  held: Claim,
  options: {
    readonly replyWindowMs: number | null;
    readonly recipient?: RecipientZones | null;
    readonly now: string | null;
  },
): Promise<GateResult> {
  return inTransaction(pool, async (client) => {
    const [, locked] = await Promise.all([
      run(client, lockAccount, [held.accountId]),
      lockConversation(client, held.conversationId, options.now),
      run(client, lockAddress, [held.addressId]),
    ]);
    if (locked === null) throw new Error('a claimed send has no conversation');
    // The address may have been waited for after the conversation: read the clock behind it.
    const instant = await readClock(client, options.now);
    const facts = await runOne(client, readFacts, [
      held.sendId,
      held.leaseOwner,
      instant.now,
      options.replyWindowMs,
    ]);
    const hours = await hoursOf(client, locked.conversation, options.recipient ?? null);
    const judged = { held, conversation: locked.conversation, facts, hours, at: instant.now };
    const outsideHours = hours !== null && !isAllowedAt(hours.allowed, instant.nowMs);
    const verdict = judgeGate({ ...facts, outsideHours });
    if (verdict.kind === 'allow') {
      return { kind: 'permitted', permit: await permit(client, judged) };
    }
    await refuse(client, judged, verdict);
    const agenda = await refreshAgenda(client, held.conversationId, options.now);
    return { kind: 'refused', agenda };
  });
}

interface RecipientHours {
  readonly policy: Policy;
  readonly allowed: AllowedHours;
}

async function hoursOf(
  client: PoolClient,
  conversation: LockedConversation,
  recipient: RecipientZones | null,
): Promise<RecipientHours | null> {
  if (recipient === null) return null;
  const policy = await readPolicy(client, conversation);
  return { policy, allowed: allowedHours(policy.rules, policy.timeZone, recipient) };
}

/** A send that the gate judged, with the facts that it saw. */
interface Judged {
  readonly held: Claim;
  readonly conversation: LockedConversation;
  readonly facts: SendRow;
  readonly hours: RecipientHours | null;
  readonly at: string;
}

async function permit(
  client: PoolClient,
  { held, conversation, facts, at: now }: Judged,
): Promise<Permit> {
  const attemptId = newId('att');
  const attemptNumber = facts.attempts + 1;
  await Promise.all([
    run(client, insertAttempt, [
      attemptId,
      conversation.businessId,
      held.sendId,
      conversation.id,
      held.addressId,
      facts.purpose,
      attemptNumber,
      facts.decisionId,
      facts.notBefore,
      facts.expiresAt,
      conversation.version,
      facts.lastInboundSeq,
      now,
    ]),
    run(client, markSending, [held.sendId, attemptId, now]),
    run(client, markContact, [conversation.id, now, ATTEMPT_LIMIT_MS]),
  ]);
  return {
    sendId: held.sendId,
    attemptId,
    attemptNumber,
    conversationId: conversation.id,
    businessId: conversation.businessId,
    accountId: conversation.accountId,
    channel: conversation.channel,
    accountExternalId: facts.externalId,
    credentials: facts.credentials,
    to: facts.to,
    text: facts.text,
    template: facts.template,
    purpose: facts.purpose,
    attemptedAt: now,
  };
}

/** Quiet hours began while it waited: a superseding decision, and the row stays (INV-14, C2). */
async function planAgain(client: PoolClient, judged: Judged): Promise<void> {
  const { held, conversation, facts, hours, at } = judged;
  if (hours === null) throw new Error('hours that nobody read cannot be closed');
  const nowMs = Date.parse(at);
  const { policy, allowed } = hours;
  const decision = planAgainLater(policy.rules, allowed, {
    nowMs,
    rule: facts.rule,
    timeZone: policy.timeZone,
  });
  await supersedeDecision(
    client,
    { conversation, now: at, nowMs },
    {
      id: held.sendId,
      purpose: facts.purpose,
      decisionId: facts.decisionId,
      notBeforeMs: Date.parse(facts.notBefore),
      expiresAtMs: facts.expiresAt === null ? null : Date.parse(facts.expiresAt),
      cancelOnInbound: facts.cancelOnInbound,
    },
    decision,
  );
}

async function refuse(
  client: PoolClient,
  judged: Judged,
  verdict: Exclude<GateVerdict, { kind: 'allow' }>,
): Promise<void> {
  const { held, conversation, facts, at } = judged;
  if (verdict.kind === 'plan-again') return planAgain(client, judged);
  if (verdict.kind === 'give-back') {
    // Where the lease was lost, another worker has the row; the statement then touches nothing.
    await giveBackSend(client, held);
    return;
  }
  await endOpenSend(client, held.sendId, { state: 'cancelled', reason: verdict.reason, at });
  if (verdict.reason === 'newer_inbound' && facts.purpose === 'answer') {
    await countDraftWithdrawal(client, conversation.id);
    return;
  }
  await afterRefusal(client, conversation, {
    sendId: held.sendId,
    purpose: facts.purpose,
    reason: verdict.reason,
    at,
  });
}

export interface Refused {
  readonly sendId: string;
  readonly purpose: Purpose;
  readonly reason: CancelReason;
  /** Who hands over where an answer is owed; absent, the conversation's own router. */
  readonly handedOverBy?: Pick<Handover, 'actor' | 'noticeDelayMs'>;
  readonly at: string;
}

/** Reasons after which an answer that is still owed goes to a person, in words for that person. */
const HANDOVER_WORDS: Partial<Record<CancelReason, string>> = {
  expired: 'The answer could not leave within an hour, so nobody but a person should give it now.',
  window_closed: "The channel's reply window has closed; the lead needs another way to be reached.",
  send_budget: 'The limit of automatic messages to this person is reached.',
};

/** Reasons after which a follow-up is not dropped in silence: somebody follows up by hand (S6). */
const FOLLOW_UP_WORDS: Partial<Record<CancelReason, string>> = {
  window_closed: 'A follow-up is due, but the channel no longer allows one. Follow up by hand.',
  send_budget: 'A follow-up is due, but the limit of messages to this person is reached.',
};

/** What follows a refusal in the same transaction: a person where an answer is owed (C3, T6). */
export async function afterRefusal(
  client: PoolClient,
  conversation: LockedConversation,
  refused: Refused,
): Promise<void> {
  const { at, reason } = refused;
  const words = HANDOVER_WORDS[reason];
  if (words === undefined) return;
  if (refused.purpose === 'answer' && conversation.owedSince !== null) {
    await handOver(client, conversation, {
      reason: reason === 'expired' ? 'reply_overdue' : 'policy_requires_human',
      explanation: words,
      actor: { kind: 'service', ref: 'conversation-router' },
      ...refused.handedOverBy,
      at,
    });
    return;
  }
  if (refused.purpose === 'staff') {
    const { sendId } = refused;
    const explanation = `A person's message was not sent. ${words}`;
    await keepReplyWaiting(client, conversation, { sendId, reason, explanation, at });
    return;
  }
  if (refused.purpose !== 'follow-up') return;
  // Outside the window there may be another way: the step is due again and looks for one (S6).
  if (reason === 'window_closed' && (await reopenStep(client, refused.sendId))) return;
  const byHand = FOLLOW_UP_WORDS[reason];
  if (byHand === undefined) return;
  await openWorkItem(client, {
    businessId: conversation.businessId,
    conversationId: conversation.id,
    kind: 'follow-up-by-hand',
    reason,
    explanation: byHand,
    sendId: refused.sendId,
    at,
  });
}
