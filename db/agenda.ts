import type { PoolClient } from 'pg';
import { planAgenda, type Agenda, type AgendaFacts, type OpenSend } from '../domain/agenda';
import { run, runOne, statement, type Executor } from './database';

const readFacts = statement<AgendaFacts & { sends: OpenSend[] }>(
  'read-agenda-facts',
  `select (extract(epoch from n.now) * 1000)::float8 as "nowMs", c.state,
     c.owner = 'person' as "personOwns",
     coalesce(w.escalated, false) as escalated, c.owed_since::text as "owedSince",
     (extract(epoch from c.turn_due_at) * 1000)::float8 as "turnDueAtMs",
     (a.paused_at is not null or not b.automation_enabled) as "sendsHeld",
     coalesce((select jsonb_agg(jsonb_build_object(
         'sendId', o.id, 'purpose', o.purpose, 'state', o.state, 'token', o.token::text,
         'stands', o.stands, 'awaitingApproval', o.awaiting_approval,
         'notBeforeMs', (extract(epoch from o.not_before) * 1000)::float8,
         'expiresAtMs', (extract(epoch from o.expires_at) * 1000)::float8,
         'leaseUntilMs', (extract(epoch from o.lease_until) * 1000)::float8,
         'attemptedAtMs', (extract(epoch from o.attempted_at) * 1000)::float8)
         order by o.not_before)
       from outbox o
       where o.conversation_id = c.id and o.state in ('queued', 'leased', 'sending')), '[]')
       as sends,
     (select jsonb_build_object('planId', s.plan_id, 'step', s.step,
         'dueAtMs', (extract(epoch from s.due_at) * 1000)::float8)
       from follow_up_steps s join follow_up_plans p on p.id = s.plan_id
       where s.conversation_id = c.id and s.written_at is null and p.stopped_at is null
         and c.state = 'active' and c.owner = 'automation'
       order by s.due_at limit 1) as "followUp", w.escalation
   from conversations c
   join accounts a on a.id = c.account_id
   join businesses b on b.id = c.business_id
   left join lateral (
     select bool_or(i.kind = 'handoff') as escalated,
       (array_agg(jsonb_build_object('workItemId', i.id,
           'dueAtMs', (extract(epoch from i.next_escalation_at) * 1000)::float8)
         order by i.next_escalation_at) filter (where i.next_escalation_at is not null))[1]
         as escalation
     from work_items i where i.conversation_id = c.id and i.resolved_at is null) w on true,
   (select coalesce($2::timestamptz, clock_timestamp()) as now) n
   where c.id = $1`,
);

/** Reads what is due for a conversation. Null where it does not exist. */
export async function readAgenda(
  executor: Executor,
  conversationId: string,
  now: string | null,
): Promise<Agenda | null> {
  const [facts] = await run(executor, readFacts, [conversationId, now]);
  return facts === undefined ? null : planAgenda(facts);
}

/**
 * Ages of a debt count from the end of a delay that a rule put on its answer, and of nothing else
 * that waits (T5): from notBefore while such a draft stands, from now once it was taken back early.
 */
const setNextDue = statement(
  'set-next-due',
  `update conversations c
   set next_due_at = n.now + make_interval(secs => $2::float8 / 1000),
     relay_count = 0, relay_at = null, touched_at = n.now,
     overdue_from = case when c.owed_since is not null then greatest(
       c.oldest_owed_at, least(c.overdue_from, n.now),
       (select max(o.not_before) from outbox o join send_decisions d on d.id = o.decision_id
        where o.conversation_id = c.id and o.purpose = 'answer' and o.state in ('queued', 'leased')
          and d.reason in ('business-rule-delay', 'escalation-window'))) end
   from (select coalesce($3::timestamptz, clock_timestamp()) as now) n
   where c.id = $1`,
);

/**
 * Ends every transaction that changed a conversation's facts: reads the agenda, sets
 * `next_due_at` for the relay, and returns the agenda for the workflow (design.md).
 */
export async function refreshAgenda(
  client: PoolClient,
  conversationId: string,
  now: string | null,
): Promise<Agenda> {
  const agenda = planAgenda(await runOne(client, readFacts, [conversationId, now]));
  const dueInMs = agenda.items[0]?.dueInMs ?? null;
  await run(client, setNextDue, [conversationId, dueInMs, now]);
  return agenda;
}
