import { run, statement, type Executor } from '../../db/database';

/** A fact that must hold at every commit: `sql` gives the ids of the rows that break it. */
interface Check {
  /** The invariant or requirement that it belongs to. */
  readonly id: string;
  readonly says: string;
  readonly sql: string;
}

const AUTOMATIC = `('answer', 'follow-up', 'booking-confirmation')`;

const NOT_ACCEPTED = (attempt: string) =>
  `exists (select from send_outcomes r where r.attempt_id = ${attempt}.id
     and r.outcome = 'not-accepted')`;

const INTAKE: readonly Check[] = [
  {
    id: 'INV-1',
    says: 'a stored body is the one that its digest names',
    sql: `select id from raw_deliveries where body is not null
      and (encode(sha256(body), 'hex') <> body_sha256 or octet_length(body) <> body_bytes)`,
  },
  {
    id: 'INV-2',
    says: 'one message of a provider is one row',
    sql: `select min(id) from messages where provider_message_id is not null
      group by account_id, provider_message_id having count(*) > 1`,
  },
  {
    id: 'INV-2',
    says: 'the key of a message is the digest of its id',
    sql: `select id from messages where provider_message_id is not null
      and provider_message_sha256 is distinct from
        encode(sha256(convert_to(provider_message_id, 'UTF8')), 'hex')`,
  },
  {
    id: 'INV-2',
    says: 'one receipt makes at most one message',
    sql: `select receipt_id from messages where receipt_id is not null
      group by receipt_id having count(*) > 1`,
  },
  {
    id: 'INV-3',
    says: 'the elements of a request are its receipts and its duplicates',
    sql: `select w.id from raw_deliveries w where w.element_count <>
      (select count(*) from webhook_receipts r where r.raw_id = w.id)
      + (select count(*) from receipt_duplicates d where d.raw_id = w.id)`,
  },
  {
    id: 'INV-3',
    says: 'a duplicate repeats a receipt that exists',
    sql: `select d.receipt_id from receipt_duplicates d where not exists (
      select from webhook_receipts r where r.id = d.receipt_id)`,
  },
  {
    id: 'IN2',
    says: 'what owes has its jobs and its trace',
    sql: `select m.id from messages m where m.owes and m.receipt_id is not null
      and ((select count(*) from delivery_jobs j where j.receipt_id = m.receipt_id) <> 3
        or not exists (select from transport_traces t where t.message_id = m.id))`,
  },
  {
    id: 'INV-4',
    says: 'a lead has one conversation per account',
    sql: `select min(id) from conversations group by account_id, lead_id having count(*) > 1`,
  },
  {
    id: 'INV-4',
    says: 'one address belongs to one lead',
    sql: `select min(id) from addresses group by business_id, kind, value having count(*) > 1`,
  },
  {
    id: 'INV-4',
    says: 'a conversation is held with an address of its own lead',
    sql: `select c.id from conversations c join addresses a on a.id = c.address_id
      where a.lead_id <> c.lead_id`,
  },
  {
    id: 'INV-4',
    says: 'every lead can be reached',
    sql: `select l.id from leads l where not exists (
      select from addresses a where a.lead_id = l.id)`,
  },
];

const THREAD: readonly Check[] = [
  {
    id: 'T2',
    says: 'the counters of a thread stand at its newest messages',
    sql: `select c.id from conversations c where
      c.last_seq < (select coalesce(max(m.seq), 0) from messages m where m.conversation_id = c.id)
      or c.last_inbound_seq <> (select coalesce(max(m.seq), 0) from messages m
        where m.conversation_id = c.id and m.author = 'lead')`,
  },
  {
    id: 'S1',
    says: 'the version counts the changes of state',
    sql: `select c.id from conversations c where c.version <> 1 + (
      select count(*) from conversation_transitions t
      where t.conversation_id = c.id and t.changed)`,
  },
  {
    id: 'S1',
    says: 'the state is where the last change led',
    sql: `select c.id from conversations c where c.state <> coalesce((
      select t.to_state from conversation_transitions t
      where t.conversation_id = c.id and t.changed order by t.ordinal desc limit 1), 'active')`,
  },
  {
    id: 'S1',
    says: 'each change begins where the one before it ended',
    sql: `select conversation_id from (
      select conversation_id, from_state, version,
        lag(to_state, 1, 'active') over chain as before, lag(version, 1, 1) over chain as earlier
      from conversation_transitions where changed
      window chain as (partition by conversation_id order by ordinal)) t
      where from_state <> before or version <> earlier + 1`,
  },
  {
    id: 'S2',
    says: 'a plan of follow-ups runs only in an active conversation of automation',
    sql: `select p.id from follow_up_plans p join conversations c on c.id = p.conversation_id
      where p.stopped_at is null and (c.state <> 'active' or c.owner <> 'automation'
        or p.episode <> c.episode)`,
  },
  {
    id: 'O1',
    says: 'next_due_at is set exactly while something is due',
    sql: `select c.id from conversations c where (c.next_due_at is not null) <> (
      c.owed_since is not null
      or exists (select from outbox o where o.conversation_id = c.id
        and o.state in ('queued', 'leased', 'sending'))
      or (c.state = 'active' and c.owner = 'automation' and exists (
        select from follow_up_steps s join follow_up_plans p on p.id = s.plan_id
        where s.conversation_id = c.id and s.written_at is null and p.stopped_at is null)))`,
  },
];

const DEBT: readonly Check[] = [
  {
    id: 'INV-6',
    says: 'an unsettled message is owed by its conversation',
    sql: `select m.id from messages m join conversations c on c.id = m.conversation_id
      where m.owes and m.settlement is null and c.owed_since is null`,
  },
  {
    id: 'INV-6',
    says: 'a conversation owes only while a message is unsettled',
    sql: `select c.id from conversations c where c.owed_since is not null and not exists (
      select from messages m
      where m.conversation_id = c.id and m.owes and m.settlement is null)`,
  },
  {
    id: 'INV-6',
    says: 'what owes nothing was never settled',
    sql: `select id from messages where not owes and settlement is not null`,
  },
  {
    id: 'INV-6',
    says: 'a reply that settles was accepted, did not fail, and covers the message',
    sql: `select m.id from messages m left join outbox o on o.id = m.settlement_ref
        and o.conversation_id = m.conversation_id and o.covers_seq >= m.seq
        and o.state in ('accepted', 'delivered')
      where m.settlement = 'reply' and o.id is null`,
  },
  {
    id: 'INV-6',
    says: 'a person who settles wrote after the message',
    sql: `select m.id from messages m left join messages p on p.id = m.settlement_ref
        and p.conversation_id = m.conversation_id and p.direction = 'out' and p.seq > m.seq
      where m.settlement = 'person' and p.id is null`,
  },
  {
    id: 'INV-6',
    says: 'a work item that settles exists',
    sql: `select m.id from messages m left join work_items w on w.id = m.settlement_ref
        and w.conversation_id = m.conversation_id
      where m.settlement = 'work-item' and w.id is null`,
  },
  {
    id: 'INV-6',
    says: 'a deliberate no-answer has its reason',
    sql: `select id from messages where settlement = 'no-answer' and settlement_reason is null`,
  },
  {
    id: 'INV-7',
    says: 'the oldest time is never later than the oldest unsettled message',
    sql: `select c.id from conversations c where c.oldest_owed_at > (
      select min(m.received_at) from messages m
      where m.conversation_id = c.id and m.owes and m.settlement is null)`,
  },
  {
    id: 'T5',
    says: 'ages count from a time exactly while something is owed',
    sql: `select id from conversations where (owed_since is null) <> (overdue_from is null)
      or overdue_from < oldest_owed_at`,
  },
  {
    id: 'T4',
    says: 'a turn is marked only while something is owed',
    sql: `select k.conversation_id from turn_markers k
      join conversations c on c.id = k.conversation_id where c.owed_since is null`,
  },
];

const SENDING: readonly Check[] = [
  {
    id: 'INV-9',
    says: 'no attempt began before its notBefore or at its expiresAt',
    sql: `select id from send_attempts
      where started_at < not_before or started_at >= expires_at`,
  },
  {
    id: 'INV-10',
    says: 'a send is accepted at most once',
    sql: `select send_id from send_outcomes where outcome = 'accepted'
      group by send_id having count(*) > 1`,
  },
  {
    id: 'INV-10',
    says: 'a second attempt follows only a definite refusal',
    sql: `select a.id from send_attempts a join send_attempts b
        on b.send_id = a.send_id and b.number < a.number
      where not ${NOT_ACCEPTED('b')}`,
  },
  {
    id: 'INV-10',
    says: 'a send stands in the thread at most once',
    sql: `select send_id from messages where send_id is not null
      group by send_id having count(*) > 1`,
  },
  {
    id: 'INV-11',
    says: 'no follow-up left after the lead wrote on any channel',
    sql: `select a.id from send_attempts a join outbox o on o.id = a.send_id
      join follow_up_plans p on p.conversation_id = o.conversation_id and p.episode = o.episode
      join conversations c on c.id = o.conversation_id
      join conversations e on e.lead_id = c.lead_id
      join messages m on m.conversation_id = e.id and m.author = 'lead'
      where a.purpose = 'follow-up' and m.received_at > p.anchor_at
        and m.received_at < a.started_at`,
  },
  {
    id: 'INV-12',
    says: 'an answer missed only messages younger than two seconds',
    sql: `select a.id from send_attempts a join outbox o on o.id = a.send_id
      join messages m on m.conversation_id = o.conversation_id and m.author = 'lead'
      where a.purpose = 'answer' and m.seq > o.covers_seq and m.seq <= a.saw_seq
        and m.received_at <= a.started_at - interval '2 seconds'`,
  },
  {
    id: 'INV-13',
    says: 'an opted-out address got nothing but one confirmation',
    sql: `select min(t.id) from send_attempts t join addresses d on d.id = t.address_id
      where t.started_at > d.opted_out_at and not ${NOT_ACCEPTED('t')}
      group by d.id having count(*) filter (where t.purpose <> 'opt-out-confirmation') > 0
        or count(distinct t.send_id) > 1`,
  },
  {
    id: 'INV-13',
    says: 'an opt-out reaches every address of the person',
    sql: `select lead_id from addresses group by lead_id
      having count(opted_out_at) not in (0, count(*))`,
  },
  {
    id: 'INV-16',
    says: 'what the provider reports of an accepted send stands in its state',
    sql: `select o.id from provider_messages p join outbox o on o.id = p.send_id
      where (p.status = 'failed' and o.state in ('accepted', 'delivered'))
        or (p.status in ('delivered', 'read') and o.state = 'accepted')`,
  },
  {
    id: 'INV-16',
    says: 'an accepted send that failed has its work item',
    sql: `select o.id from outbox o where o.state = 'failed'
      and exists (select from send_outcomes r where r.send_id = o.id and r.outcome = 'accepted')
      and not exists (select from work_items w
        where w.send_id = o.id and w.kind = 'delivery-failed')`,
  },
  {
    id: 'INV-17b',
    says: 'one address gets at most 20 sends in ten minutes, 60 in an hour, 120 in a day',
    sql: `select id from (
      select id, count(*) over (w range interval '599.999 seconds' preceding) as tens,
        count(*) over (w range interval '3599.999 seconds' preceding) as hours,
        count(*) over (w range interval '86399.999 seconds' preceding) as days
      from send_attempts window w as (partition by address_id order by started_at)) t
      where tens > 20 or hours > 60 or days > 120`,
  },
  {
    id: 'INV-17b',
    says: 'follow-ups are at most one a day',
    sql: `select id from (
      select id, count(*) over (partition by address_id order by started_at
        range interval '71999.999 seconds' preceding) as recent
      from send_attempts where purpose = 'follow-up') t where recent > 1`,
  },
  {
    id: 'INV-17b',
    says: 'at most two automatic sends answer one message of the lead',
    sql: `select a.id from send_attempts a where a.purpose not in ('follow-up', 'staff')
      and 2 < (select count(*) from send_attempts b
        where b.address_id = a.address_id and b.purpose not in ('follow-up', 'staff')
          and b.started_at <= a.started_at and not ${NOT_ACCEPTED('b')}
          and b.started_at >= (select max(m.received_at) from messages m
            join conversations c on c.id = m.conversation_id
            where c.address_id = a.address_id and m.author = 'lead'
              and m.received_at <= a.started_at))`,
  },
];

const STATES: readonly Check[] = [
  {
    id: 'C2',
    says: 'a send stands under a stored decision of its own',
    sql: `select o.id from outbox o left join send_decisions d on d.id = o.decision_id
        and d.send_id = o.id and d.not_before = o.not_before
      where d.id is null`,
  },
  {
    id: 'S3',
    says: 'the attempts of a send are counted',
    sql: `select o.id from outbox o where o.attempts <> (
      select count(*) from send_attempts a where a.send_id = o.id)`,
  },
  {
    id: 'S3',
    says: 'an accepted send has its acceptance, and only it',
    sql: `select o.id from outbox o where o.state in ('accepted', 'delivered') and not exists (
        select from send_outcomes r where r.send_id = o.id and r.outcome = 'accepted'
          and r.attempt_id = o.attempt_id)
      or o.state in ('queued', 'leased', 'sending', 'cancelled', 'delivery_unknown') and exists (
        select from send_outcomes r where r.send_id = o.id and r.outcome = 'accepted')`,
  },
  {
    id: 'C6',
    says: 'an unknown delivery has its review',
    sql: `select o.id from outbox o where o.state = 'delivery_unknown' and not exists (
      select from work_items w where w.send_id = o.id and w.kind = 'delivery-unknown')`,
  },
  {
    id: 'INV-15',
    says: 'nothing automatic began while a person owned the conversation',
    sql: `select a.id from send_attempts a join (
        select conversation_id, type, occurred_at, lead(occurred_at) over (
          partition by conversation_id order by occurred_at, session_id, seq) as until
        from takeover_events where type in ('takeover.claimed', 'takeover.released')) e
        using (conversation_id)
      where e.type = 'takeover.claimed' and a.purpose in ${AUTOMATIC}
        and a.started_at > e.occurred_at and (e.until is null or a.started_at < e.until)`,
  },
  {
    id: 'INV-15',
    says: 'nothing automatic began while the conversation was paused',
    sql: `select a.id from send_attempts a join (
        select conversation_id, to_state, at, lead(at) over (
          partition by conversation_id order by ordinal) as until
        from conversation_transitions where changed) t using (conversation_id)
      where t.to_state = 'paused' and a.purpose in ${AUTOMATIC}
        and a.started_at > t.at and (t.until is null or a.started_at < t.until)`,
  },
  {
    id: 'INV-15',
    says: 'the owner is who claimed last',
    sql: `select c.id from conversations c where (c.owner = 'person') <> coalesce((
      select e.type = 'takeover.claimed' from takeover_events e
      where e.conversation_id = c.id and e.type in ('takeover.claimed', 'takeover.released')
      order by e.occurred_at desc, e.session_id desc, e.seq desc limit 1), false)`,
  },
  {
    id: 'H3',
    says: 'the takeover log has no gap behind its head',
    sql: `select h.session_id from takeover_heads h where h.last_seq <> (
        select count(*) from takeover_events e where e.session_id = h.session_id)
      or h.last_seq <> (select max(seq) from takeover_events e
        where e.session_id = h.session_id)`,
  },
];

const CHECKS = [...INTAKE, ...THREAD, ...DEBT, ...SENDING, ...STATES].map(
  ({ id, says, sql }) =>
    `select '${id}' as id, '${says}' as says, row from (${sql}) as broken(row)`,
);

const allChecks = statement<{ id: string; says: string; row: string }>(
  'check-invariants',
  CHECKS.join(' union all '),
);

/**
 * The invariants of docs/invariants.md that are visible in Postgres, each broken one as a line with
 * its id and the row. Empty where all hold. Needs the owner, who sees every table.
 */
export async function violations(executor: Executor): Promise<string[]> {
  const found = await run(executor, allChecks);
  return found.map(({ id, says, row }) => `${id} is broken (${says}): ${row}`);
}
