import type { PoolClient } from 'pg';
import { allowedHours } from '../domain/allowed-hours';
import { planFollowUps } from '../domain/follow-ups';
import type { PlanId } from '../domain/ids';
import type { RecipientZones } from '../domain/recipient-zone';
import type { LockedConversation } from './conversations';
import { run, runOne, statement } from './database';
import { newId } from './new-id';
import { readPolicy } from './policies';

const insertPlan = statement<{ id: PlanId }>(
  'insert-follow-up-plan',
  `insert into follow_up_plans (id, business_id, conversation_id, episode, anchor_at)
   values ($1, $2, $3, $4, $5)
   on conflict (conversation_id, episode) do nothing returning id`,
);

const insertSteps = statement(
  'insert-follow-up-steps',
  `insert into follow_up_steps (plan_id, conversation_id, step, day, due_at)
   select $1, $2, s.step, s.day, to_timestamp(s.due / 1000)
   from jsonb_to_recordset($3::jsonb) as s(step int, day int, due float8)`,
);

const readLastInbound = statement<{ lastInboundMs: number | null }>(
  'read-last-inbound',
  `select (extract(epoch from last_inbound_at) * 1000)::float8 as "lastInboundMs"
   from conversations where id = $1`,
);

/** Behind what a plan is made, and what the channel and the recipient allow. */
export interface PlanAnchor {
  readonly at: string;
  /** Null where the channel has no reply window, or nobody knows it here. */
  readonly replyWindowMs: number | null;
  /** Where the lead may be; looked up only where there is a window. */
  readonly recipient: RecipientZones | null;
}

/**
 * Plans the follow-ups of an episode behind its first accepted answer (S6): once, because the plan
 * is unique per episode, and only while the conversation is active.
 */
export async function openFollowUpPlan(
  client: PoolClient,
  conversation: LockedConversation,
  anchor: PlanAnchor,
): Promise<void> {
  const [plan] = await run(client, insertPlan, [
    newId('pln'),
    conversation.businessId,
    conversation.id,
    conversation.episode,
    anchor.at,
  ]);
  if (plan === undefined) return;
  const { rules, timeZone } = await readPolicy(client, conversation);
  const closesAtMs = await windowClosesAtMs(client, conversation.id, anchor.replyWindowMs);
  const { recipient } = anchor;
  const steps = planFollowUps({
    anchorMs: Date.parse(anchor.at),
    timeZone,
    days: rules.followUpDays,
    windowClosesAtMs: closesAtMs,
    hours: recipient === null ? null : allowedHours(rules, timeZone, recipient),
  });
  const rows = steps.map(({ step, day, dueAtMs }) => ({ step, day, due: dueAtMs }));
  await run(client, insertSteps, [plan.id, conversation.id, JSON.stringify(rows)]);
}

/** When a conversation's reply window closes; null where the channel has none. */
export async function windowClosesAtMs(
  client: PoolClient,
  conversationId: string,
  replyWindowMs: number | null,
): Promise<number | null> {
  if (replyWindowMs === null) return null;
  const { lastInboundMs } = await runOne(client, readLastInbound, [conversationId]);
  return lastInboundMs === null ? null : lastInboundMs + replyWindowMs;
}

export interface DueStep {
  readonly planId: PlanId;
  readonly step: number;
  readonly day: number;
  readonly dueAtMs: number;
}

const takeStep = statement<DueStep>(
  'take-follow-up-step',
  `update follow_up_steps s set written_at = $3
   from follow_up_plans p
   where s.plan_id = $1 and s.step = $2 and p.id = s.plan_id and s.written_at is null
     and p.stopped_at is null and s.due_at <= $3
   returning s.plan_id as "planId", s.step, s.day,
     (extract(epoch from s.due_at) * 1000)::float8 as "dueAtMs"`,
);

/** Takes a due step of a plan that nothing stopped; null where there is none to take. */
export async function takeDueStep(
  client: PoolClient,
  wanted: { readonly planId: string; readonly step: number; readonly at: string },
): Promise<DueStep | null> {
  const [row] = await run(client, takeStep, [wanted.planId, wanted.step, wanted.at]);
  return row ?? null;
}

const reopen = statement<{ step: number }>(
  'reopen-follow-up-step',
  `update follow_up_steps s set written_at = null
   from outbox o, follow_up_plans p
   where o.id = $1 and o.source_event = 'plan:' || s.plan_id || ':' || s.step
     and s.conversation_id = o.conversation_id and p.id = s.plan_id and p.stopped_at is null
   returning s.step`,
);

/**
 * Makes a step due again whose send could not leave as it was; what is written next looks at the
 * facts of then. False where the send is of no plan that still runs, or was itself the other way.
 */
export async function reopenStep(client: PoolClient, sendId: string): Promise<boolean> {
  const rows = await run(client, reopen, [sendId]);
  return rows.length > 0;
}

const readPrevious = statement<{ previousMs: number | null; language: 'en' | 'es' }>(
  'read-previous-follow-up',
  `select coalesce(c.understanding ->> 'language', 'en') as language,
     (select (extract(epoch from max(greatest(o.not_before, o.attempted_at))) * 1000)::float8
      from outbox o where o.conversation_id = c.id and o.purpose = 'follow-up'
        and o.episode = c.episode and o.state not in ('cancelled', 'failed')) as "previousMs"
   from conversations c where c.id = $1`,
);

/** The lead's language, and when the episode's last follow-up left or leaves. */
export function readFollowUpContext(
  client: PoolClient,
  conversationId: string,
): Promise<{ readonly previousMs: number | null; readonly language: 'en' | 'es' }> {
  return runOne(client, readPrevious, [conversationId]);
}

const findOther = statement<{ id: string }>(
  'find-other-consented-channel',
  `select x.id from conversations c
   join conversations x on x.lead_id = c.lead_id and x.id <> c.id
   join accounts a on a.id = x.account_id
   join addresses d on d.id = x.address_id
   where c.id = $1 and x.channel = any($2) and x.state = 'active' and x.owner = 'automation'
     and a.paused_at is null and d.opted_out_at is null
     and exists (select from messages m where m.conversation_id = x.id and m.author = 'lead')
     and not exists (select from messages m join conversations y on y.id = m.conversation_id
       where y.lead_id = c.lead_id and m.opt_out like 'stop%')
   order by x.touched_at desc, x.id limit 1`,
);

/**
 * Another conversation of the same person that may carry a message of the business (S6): on one of
 * `channels`, where the person wrote by themselves, and who never opted out anywhere. Null where
 * there is none. Found without its lock; the gate looks again.
 */
export async function findOtherChannel(
  executor: Parameters<typeof run>[0],
  conversationId: string,
  channels: readonly string[],
): Promise<string | null> {
  const [row] = await run(executor, findOther, [conversationId, channels]);
  return row?.id ?? null;
}

const lockBoth = statement(
  'lock-two-conversations',
  `select from conversations where id = any($1) order by id for update`,
);

/** Locks two conversations in the order that everybody keeps. */
export async function lockInOrder(client: PoolClient, ids: readonly string[]): Promise<void> {
  await run(client, lockBoth, [ids]);
}
