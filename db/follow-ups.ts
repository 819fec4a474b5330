import type { PoolClient } from 'pg';
import { planFollowUps } from '../domain/follow-ups';
import type { PlanId } from '../domain/ids';
import type { LockedConversation } from './conversations';
import { run, statement } from './database';
import { newId } from './new-id';

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

const readZone = statement<{ timeZone: string; lastInboundMs: number | null }>(
  'read-follow-up-zone',
  `select b.time_zone as "timeZone",
     (extract(epoch from c.last_inbound_at) * 1000)::float8 as "lastInboundMs"
   from conversations c join businesses b on b.id = c.business_id where c.id = $1`,
);

/**
 * Plans the follow-ups of an episode behind its first accepted answer (S6): once, because the plan
 * is unique per episode, and only while the conversation is active.
 */
export async function openFollowUpPlan(
  client: PoolClient,
  conversation: LockedConversation,
  anchor: { readonly at: string; readonly replyWindowMs: number | null },
): Promise<void> {
  const [plan] = await run(client, insertPlan, [
    newId('pln'),
    conversation.businessId,
    conversation.id,
    conversation.episode,
    anchor.at,
  ]);
  if (plan === undefined) return;
  const [zone] = await run(client, readZone, [conversation.id]);
  if (zone === undefined) throw new Error('a planned conversation has no business');
  const closesAtMs =
    anchor.replyWindowMs === null || zone.lastInboundMs === null
      ? null
      : zone.lastInboundMs + anchor.replyWindowMs;
  const steps = planFollowUps(Date.parse(anchor.at), zone.timeZone, closesAtMs);
  const rows = steps.map(({ step, day, dueAtMs }) => ({ step, day, due: dueAtMs }));
  await run(client, insertSteps, [plan.id, conversation.id, JSON.stringify(rows)]);
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
