import {
  MISSABLE_AGE_MS,
  SENDS_PER_10_MINUTES_MAX,
  SENDS_PER_DAY_MAX,
  SENDS_PER_HOUR_MAX,
  TURNS_PER_DAY_MAX,
  TURNS_PER_HOUR_MAX,
  SENDS_PER_INBOUND_MAX,
} from '../../domain/limits';
import { notAccepted, type Check } from './check';

const AUTOMATIC = `('answer', 'follow-up', 'booking-confirmation')`;

/** INV-9 to INV-13 and INV-15: what left was allowed to, at the instant of its gate. */
export const SENDING: readonly Check[] = [
  {
    invariant: 'INV-9',
    says: 'no attempt began before its notBefore or at its expiresAt',
    sql: ({ among }) => `select a.id, a.business_id from send_attempts a
      where (a.started_at < a.not_before or a.started_at >= a.expires_at)
        and ${among('a.conversation_id')}`,
  },
  {
    invariant: 'INV-9',
    says: 'an attempt began under the clocks of a stored decision',
    sql: ({ among }) => `select a.id, a.business_id from send_attempts a
      left join send_decisions d on d.id = a.decision_id and d.send_id = a.send_id
        and d.not_before = a.not_before and d.expires_at is not distinct from a.expires_at
      where d.id is null and ${among('a.conversation_id')}`,
  },
  {
    invariant: 'INV-10',
    says: 'a send is accepted at most once',
    sql: ({ among }) => `select r.send_id, min(r.business_id) from send_outcomes r
      join outbox o on o.id = r.send_id
      where r.outcome = 'accepted' and ${among('o.conversation_id')}
      group by r.send_id having count(*) > 1`,
  },
  {
    invariant: 'INV-10',
    says: 'a second attempt follows only a definite refusal',
    sql: ({ among }) => `select a.id, a.business_id from send_attempts a join send_attempts b
        on b.send_id = a.send_id and b.number < a.number
      where ${among('a.conversation_id')} and not ${notAccepted('b')}`,
  },
  {
    invariant: 'INV-10',
    says: 'a send stands in the thread at most once',
    sql: ({ among }) => `select m.send_id, min(m.business_id) from messages m
      where m.send_id is not null and ${among('m.conversation_id')}
      group by m.send_id having count(*) > 1`,
  },
  {
    invariant: 'INV-10',
    says: 'one source event gets one accepted send of a purpose',
    sql: ({ among }) => `select min(o.id), min(o.business_id) from outbox o
      where ${among('o.conversation_id')} and exists (
        select from send_outcomes r where r.send_id = o.id and r.outcome = 'accepted')
        and o.fallback_for is null and o.state <> 'failed'
      group by o.conversation_id, o.purpose, o.source_event having count(*) > 1`,
  },
  {
    invariant: 'INV-10',
    says: 'one token gets one accepted answer',
    sql: ({ among }) => `select min(o.id), min(o.business_id) from outbox o
      where o.purpose = 'answer' and o.token is not null and ${among('o.conversation_id')}
        and o.state in ('accepted', 'delivered')
      group by o.conversation_id, o.token having count(*) > 1`,
  },
  {
    invariant: 'INV-11',
    says: 'no follow-up left after the lead wrote on any channel',
    sql: ({ among }) => `select a.id, a.business_id from send_attempts a
      join outbox o on o.id = a.send_id
      join follow_up_plans p on p.conversation_id = o.conversation_id and p.episode = o.episode
      join conversations c on c.id = o.conversation_id
      join conversations e on e.lead_id = c.lead_id
      join messages m on m.conversation_id = e.id and m.author = 'lead'
      where a.purpose = 'follow-up' and m.received_at > p.anchor_at
        and m.received_at < a.started_at and ${among('c.id')}`,
  },
  {
    invariant: 'INV-12',
    says: 'an answer missed only messages younger than two seconds',
    sql: ({ among }) => `select a.id, a.business_id from send_attempts a
      join outbox o on o.id = a.send_id
      join messages m on m.conversation_id = o.conversation_id and m.author = 'lead'
      where a.purpose = 'answer' and m.seq > o.covers_seq and m.seq <= a.saw_seq
        and m.received_at <= a.started_at - interval '${MISSABLE_AGE_MS} milliseconds'
        and ${among('a.conversation_id')}`,
  },
  {
    invariant: 'INV-12',
    says: 'an automatic intent saw every inbound that was committed before it',
    sql: ({ among }) => `select a.id, a.business_id from send_attempts a
      join messages m on m.conversation_id = a.conversation_id and m.author = 'lead'
      where a.purpose in ${AUTOMATIC} and m.seq > a.saw_seq and m.received_at < a.started_at
        and ${among('a.conversation_id')}
        -- Behind a message of a later time the clock was set back, and times tell no order.
        and not exists (select from messages e where e.conversation_id = m.conversation_id
          and e.seq < m.seq and e.received_at > m.received_at)`,
  },
  {
    invariant: 'INV-13',
    says: 'an opted-out address got nothing but one confirmation',
    sql: ({ addresses }) => `select min(t.id), min(t.business_id) from send_attempts t
      join addresses d on d.id = t.address_id
      where t.started_at > d.opted_out_at and not ${notAccepted('t')} and ${addresses('d.id')}
      group by d.id having count(*) filter (where t.purpose <> 'opt-out-confirmation') > 0
        or count(distinct t.send_id) > 1`,
  },
  {
    invariant: 'INV-13',
    says: 'an opt-out reaches every address of the person',
    sql: ({ leads }) => `select lead_id, min(business_id) from addresses
      where ${leads('lead_id')} group by lead_id
      having count(opted_out_at) not in (0, count(*))`,
  },
  {
    invariant: 'INV-15',
    says: 'nothing automatic began while a person owned the conversation',
    sql: ({ among }) => `select a.id, a.business_id from send_attempts a join (
        select conversation_id, type, occurred_at, lead(occurred_at) over (
          partition by conversation_id order by occurred_at, session_id, seq) as until
        from takeover_events where type in ('takeover.claimed', 'takeover.released')
          and ${among('conversation_id')}) e
        using (conversation_id)
      where e.type = 'takeover.claimed' and a.purpose in ${AUTOMATIC}
        and a.started_at > e.occurred_at and (e.until is null or a.started_at < e.until)`,
  },
  {
    invariant: 'INV-15',
    says: 'nothing automatic began while the conversation was paused',
    sql: ({ among }) => `select a.id, a.business_id from send_attempts a join (
        select conversation_id, to_state, at, lead(at) over (
          partition by conversation_id order by ordinal) as until
        from conversation_transitions where changed and ${among('conversation_id')}) t
        using (conversation_id)
      where t.to_state = 'paused' and a.purpose in ${AUTOMATIC}
        and a.started_at > t.at and (t.until is null or a.started_at < t.until)`,
  },
];

/** INV-17 and INV-17b: how often one person and one conversation may be written to. */
export const BOUNDS: readonly Check[] = [
  {
    invariant: 'INV-17',
    says: 'a conversation gets at most 12 automatic answers in an hour and 40 in a day',
    sql: ({ among }) => `select id, business_id from (
      select a.id, a.business_id,
        count(*) over (w range interval '3599.999 seconds' preceding) as hours,
        count(*) over (w range interval '86399.999 seconds' preceding) as days
      from send_attempts a where a.purpose = 'answer' and a.number = 1
        and ${among('a.conversation_id')}
      window w as (partition by a.conversation_id order by a.started_at)) t
      where hours > ${TURNS_PER_HOUR_MAX} or days > ${TURNS_PER_DAY_MAX}`,
  },
  {
    invariant: 'INV-17b',
    says: 'one address gets at most 20 sends in ten minutes, 60 in an hour, 120 in a day',
    sql: ({ addresses }) => `select id, business_id from (
      select id, business_id, count(*) over (w range interval '599.999 seconds' preceding) as tens,
        count(*) over (w range interval '3599.999 seconds' preceding) as hours,
        count(*) over (w range interval '86399.999 seconds' preceding) as days
      from send_attempts where ${addresses('address_id')}
      window w as (partition by address_id order by started_at)) t
      where tens > ${SENDS_PER_10_MINUTES_MAX} or hours > ${SENDS_PER_HOUR_MAX}
        or days > ${SENDS_PER_DAY_MAX}`,
  },
  {
    invariant: 'INV-17b',
    says: 'follow-ups are at most one a day',
    sql: ({ addresses }) => `select id, business_id from (
      select id, business_id, count(*) over (partition by address_id order by started_at
        range interval '71999.999 seconds' preceding) as recent
      from send_attempts where purpose = 'follow-up' and ${addresses('address_id')}) t where recent > 1`,
  },
  {
    invariant: 'INV-17b',
    says: 'at most two automatic sends answer one message of the lead',
    sql: ({ among }) => `select a.id, a.business_id from send_attempts a
      where a.purpose not in ('follow-up', 'staff') and ${among('a.conversation_id')}
        and ${SENDS_PER_INBOUND_MAX} < (select count(*) from send_attempts b
        where b.address_id = a.address_id and b.purpose not in ('follow-up', 'staff')
          and b.started_at <= a.started_at and not ${notAccepted('b')}
          and b.started_at >= (select max(m.received_at) from messages m
            join conversations c on c.id = m.conversation_id
            where c.address_id = a.address_id and m.author = 'lead'
              and m.received_at <= a.started_at))`,
  },
];
