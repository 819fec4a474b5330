import { run, runOne, statement, type Executor } from './database';

/** What `/metrics` says of this moment. Ages are in seconds and 0 where there is nothing. */
export interface Figures {
  readonly oldestOwedAgeSeconds: number;
  readonly owedReplies: number;
  /** Of them, those whose answer is decided and waits for a rule's clock (T5). */
  readonly owedWaiting: number;
  readonly oldestWaitingSeconds: number;
  readonly openItems: number;
  readonly deliveryUnknown: number;
  /** Accounts and integrations whose credentials were refused. */
  readonly pausedAccounts: number;
  readonly pausedIntegrations: number;
  /** Null before the first audit. */
  readonly auditAgeSeconds: number | null;
}

/** When a reply is awaited from: behind the clock of a rule that holds its answer back (T5). */
const AWAITED = `select greatest(c.overdue_from, (
    select max(o.not_before) from outbox o join send_decisions d on d.id = o.decision_id
    where o.conversation_id = c.id and o.purpose = 'answer'
      and o.state in ('queued', 'leased', 'sending')
      and d.reason in ('business-rule-delay', 'escalation-window'))) as since
  from conversations c where c.owed_since is not null`;

const readFigures = statement<Figures>(
  'read-figures',
  `with n as (select coalesce($1::timestamptz, clock_timestamp()) as now),
   owed as materialized (${AWAITED})
   select
     coalesce((select greatest(extract(epoch from n.now - min(since)), 0)
       from owed), 0)::float8 as "oldestOwedAgeSeconds",
     (select count(*) from owed) as "owedReplies",
     (select count(*) from owed where since > n.now) as "owedWaiting",
     coalesce((select extract(epoch from n.now - min(opened_at))
       from work_items where resolved_at is null), 0)::float8 as "oldestWaitingSeconds",
     (select count(*) from work_items where resolved_at is null) as "openItems",
     (select count(*) from outbox where state = 'delivery_unknown') as "deliveryUnknown",
     (select count(*) from accounts where paused_at is not null) as "pausedAccounts",
     (select count(*) from integrations where paused_at is not null) as "pausedIntegrations",
     (select extract(epoch from n.now - min(checked_at)) from audit_results
       where scope = 'recent')::float8 as "auditAgeSeconds"
   from n`,
);

/** The figures that must speak when Temporal and every worker are down: from Postgres alone (T9). */
export function readOperatingFigures(executor: Executor, now: string | null): Promise<Figures> {
  return runOne(executor, readFigures, [now]);
}

/** One value of a gauge that has labels, as canonical JSON. */
export interface LabelledFigure {
  readonly name: string;
  readonly labels: string;
  readonly value: number;
}

const readLabelled = statement<LabelledFigure>(
  'read-labelled-figures',
  `select 'unsilent_invariant_violations' as name,
     jsonb_build_object('invariant', invariant)::text as labels, sum(worst)::float8 as value
   from (select invariant, says, max(violations) as worst from audit_results
     group by invariant, says) r group by invariant
   union all
   select 'unsilent_jobs', jsonb_build_object('operation', operation, 'state', state)::text,
     count(*)::float8
   from delivery_jobs where operation <> 'initial-response' and state <> 'succeeded'
   group by operation, state
   union all
   select 'unsilent_open_sends', jsonb_build_object('state', state)::text, count(*)::float8
   from outbox where state in ('queued', 'leased', 'sending') group by state
   union all
   select 'unsilent_open_items', jsonb_build_object('kind', kind, 'queue', assigned_queue)::text,
     count(*)::float8
   from work_items where resolved_at is null group by kind, assigned_queue
   union all
   select 'unsilent_notice_deliveries', jsonb_build_object('state', state)::text, count(*)::float8
   from notice_deliveries where state <> 'sent' group by state`,
);

/** Gauges with labels: what is open now, and what the audits said. */
export function readLabelledFigures(executor: Executor): Promise<LabelledFigure[]> {
  return run(executor, readLabelled);
}
