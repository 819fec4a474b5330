import { FIRST_STAGES, REVIEW_BUCKETS, STAGE_BUCKETS } from './figures-buckets';

/** Only what happened from parameter 1 up to parameter 2, by the instant of the fact. */
const between = (column: string): string =>
  `${column} >= $1::timestamptz and ${column} < $2::timestamptz`;

interface Counter {
  readonly name: string;
  /** SQL of the labels, by name; they are made into canonical JSON. */
  readonly labels: Readonly<Record<string, string>>;
  /** What follows `from`; one row is one event. */
  readonly from: string;
}

const COUNTERS: readonly Counter[] = [
  {
    name: 'unsilent_send_attempts_total',
    labels: { channel: 'o.channel', purpose: 'a.purpose' },
    from: `send_attempts a join outbox o on o.id = a.send_id where ${between('a.started_at')}`,
  },
  {
    name: 'unsilent_attempt_outcomes_total',
    labels: { channel: 'o.channel', outcome: 'r.outcome', evidence: 'r.evidence' },
    from: `send_outcomes r join outbox o on o.id = r.send_id where ${between('r.recorded_at')}`,
  },
  {
    name: 'unsilent_sends_before_not_before_total',
    labels: {},
    from: `send_attempts a where a.started_at < a.not_before and ${between('a.started_at')}`,
  },
  {
    name: 'unsilent_sends_after_expires_at_total',
    labels: {},
    from: `send_attempts a where a.started_at >= a.expires_at and ${between('a.started_at')}`,
  },
  {
    name: 'unsilent_duplicate_logical_sends_total',
    labels: {},
    from: `send_outcomes r join outbox o on o.id = r.send_id
      where r.outcome = 'accepted' and o.fallback_for is null and ${between('r.recorded_at')}
        and exists (select from outbox p join send_outcomes q on q.send_id = p.id
          where p.conversation_id = o.conversation_id and p.purpose = o.purpose
            and p.source_event = o.source_event and q.outcome = 'accepted'
            and q.ordinal < r.ordinal)`,
  },
  {
    name: 'unsilent_policy_cancellations_total',
    labels: {},
    from: `outbox o where o.state = 'cancelled' and ${between('o.ended_at')}`,
  },
  {
    name: 'unsilent_cancelled_sends_total',
    labels: { channel: 'o.channel', reason: `coalesce(o.end_reason, 'none')` },
    from: `outbox o where o.state = 'cancelled' and ${between('o.ended_at')}`,
  },
  {
    name: 'unsilent_send_breaker_trips_total',
    labels: {},
    from: `outbox o where o.state = 'cancelled' and o.end_reason = 'send_budget'
      and ${between('o.ended_at')}`,
  },
  {
    name: 'unsilent_sends_total',
    labels: { channel: 's.channel', outcome: 's.outcome' },
    from: `(
      select o.channel, 'accepted' as outcome from send_outcomes r join outbox o on o.id = r.send_id
        where r.outcome = 'accepted' and ${between('r.recorded_at')}
      union all select o.channel, o.state from outbox o
        where o.state in ('delivered', 'cancelled') and ${between('o.ended_at')}
      union all select o.channel, 'failed' from outbox o
        where o.state = 'failed' and ${between('o.ended_at')} and not exists (
          select from send_outcomes r where r.send_id = o.id and r.outcome = 'accepted')
      union all select o.channel, case w.kind when 'delivery-failed' then 'failed'
          else 'delivery_unknown' end
        from work_items w join outbox o on o.id = w.send_id
        where w.kind in ('delivery-failed', 'delivery-unknown') and ${between('w.opened_at')}) s`,
  },
  {
    name: 'unsilent_escalations_total',
    labels: { met: `(e.at <= e.due_at + interval '5 seconds')::text` },
    from: `escalations e where ${between('e.at')}`,
  },
  {
    name: 'unsilent_takeover_requests_total',
    labels: { actor: 'e.actor_ref', reason: 'e.reason' },
    from: `takeover_events e where e.type = 'takeover.requested' and ${between('e.recorded_at')}`,
  },
  {
    name: 'unsilent_work_items_opened_total',
    labels: { kind: 'w.kind' },
    from: `work_items w where ${between('w.opened_at')}`,
  },
  {
    name: 'unsilent_receipts_total',
    labels: { provider: 'r.provider', quarantined: '(r.quarantine_reason is not null)::text' },
    from: `webhook_receipts r where ${between('r.received_at')}`,
  },
  {
    name: 'unsilent_duplicate_elements_total',
    labels: { provider: 'w.provider', differs: 'd.differs::text' },
    from: `receipt_duplicates d join raw_deliveries w on w.id = d.raw_id
      where ${between('d.received_at')}`,
  },
  // Without labels, so that they say 0 before the first: an alert sees a rise, not a new series.
  {
    name: 'unsilent_sweeper_handovers_total',
    labels: {},
    from: `takeover_events e where e.type = 'takeover.requested' and e.actor_ref = 'sweeper'
      and ${between('e.recorded_at')}`,
  },
  {
    name: 'unsilent_quarantined_total',
    labels: {},
    from: `webhook_receipts r where r.quarantine_reason is not null and ${between('r.received_at')}`,
  },
  {
    name: 'unsilent_content_conflicts_total',
    labels: {},
    from: `receipt_duplicates d where d.differs and ${between('d.received_at')}`,
  },
  {
    name: 'unsilent_traces_total',
    labels: { channel: 't.channel', outcome: `coalesce(t.outcome, 'open')` },
    from: `transport_traces t where t.outcome is not null and ${between('t.ingress_accepted_at')}`,
  },
  {
    name: 'unsilent_skewed_source_times_total',
    labels: { channel: 't.channel' },
    from: `transport_traces t where t.source_event_at > t.ingress_accepted_at
      and ${between('t.ingress_accepted_at')}`,
  },
  {
    name: 'unsilent_jobs_ended_total',
    labels: { operation: 'j.operation', state: 'j.state' },
    from: `delivery_jobs j where j.operation <> 'initial-response' and ${between('j.ended_at')}`,
  },
];

const jsonOf = (labels: Readonly<Record<string, string>>): string => {
  const pairs = Object.entries(labels).map(([name, sql]) => `'${name}', ${sql}`);
  return pairs.length === 0 ? `'{}'` : `jsonb_build_object(${pairs.join(', ')})::text`;
};

const counterSql = ({ name, labels, from }: Counter): string =>
  `select '${name}' as name, ${jsonOf(labels)} as labels, count(*)::float8 as value
   from ${from} group by 2`;

/** The bound of the bucket that a value is counted in: the first that is not below it. */
const boundOf = (value: string, buckets: readonly number[]): string =>
  `coalesce((select min(b)::text from unnest(array[${buckets.join(', ')}]::float8[]) as b
    where b >= ${value}), '+Inf')`;

/** Counts samples by bucket, not cumulated, and sums them: rows `<name>/bucket`, `<name>/sum`. */
function histogramSql(samples: string, buckets: readonly number[], label: string): string {
  return `select s.name || case when g.sums then '/sum' else '/bucket' end as name,
      case when g.sums then jsonb_build_object('${label}', s.label)
        else jsonb_build_object('${label}', s.label, 'le', ${boundOf('s.seconds', buckets)})
        end::text as labels,
      case when g.sums then sum(s.seconds) else count(*) end::float8 as value
    from (${samples}) s cross join (values (true), (false)) as g(sums)
    where s.seconds >= 0 group by 1, 2, g.sums`;
}

const seconds = (until: string, since: string): string =>
  `extract(epoch from ${until} - ${since})::float8`;

/**
 * The stages of a trace (L1). A burst gets one sample of what its one answer took: that of its
 * oldest message. Negative samples are skew; they are counted apart and not here (L2).
 */
const STAGES = `select v.name, t.channel as label, v.seconds from (
    select t.*, row_number() over (
      partition by coalesce(t.send_id, t.receipt_id) order by t.ingress_accepted_at, t.receipt_id)
      as nth
    from transport_traces t where ${between('t.ingress_accepted_at')}) t
  cross join lateral (values
    ('unsilent_source_to_ingress_seconds', ${seconds('t.ingress_accepted_at', 't.source_event_at')}),
    ('unsilent_normalize_seconds', t.normalize_ms / 1000.0),
    ('unsilent_queue_wait_seconds', ${seconds('t.job_claimed_at', 't.ingress_accepted_at')}),
    ('unsilent_decision_seconds', t.decision_ms / 1000.0),
    ('unsilent_outbound_seconds', t.send_ms / 1000.0),
    ('unsilent_acknowledgement_seconds',
      ${seconds('t.provider_acknowledged_at', 't.decision_ready_at')}),
    ('unsilent_internal_total_seconds',
      ${seconds('t.provider_acknowledged_at', 't.ingress_accepted_at')}),
    ('unsilent_visible_seconds', ${seconds('t.visible_at', 't.provider_acknowledged_at')})
  ) as v(name, seconds)
  where t.nth = 1 or v.name in (${FIRST_STAGES.map((name) => `'${name}'`).join(', ')})`;

const REVIEWS = `select 'unsilent_review_seconds' as name, w.kind as label,
    ${seconds('w.resolved_at', 'w.opened_at')} as seconds
  from work_items w where ${between('w.resolved_at')}`;

/**
 * Every counter over the instants from parameter 1 up to parameter 2: rows of `name`, `labels` as
 * canonical JSON, and `value`. Each counts facts that are only ever added.
 */
export const COUNTED = [
  ...COUNTERS.map(counterSql),
  histogramSql(STAGES, STAGE_BUCKETS, 'channel'),
  histogramSql(REVIEWS, REVIEW_BUCKETS, 'kind'),
].join(' union all ');
