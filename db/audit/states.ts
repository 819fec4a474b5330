import type { Check } from './check';

/** INV-14, INV-16 and the states of sends: a row is the projection of its attempts. */
export const STATES: readonly Check[] = [
  {
    invariant: 'C2',
    says: 'a send stands under a stored decision of its own',
    sql: ({ among }) => `select o.id, o.business_id from outbox o
      left join send_decisions d on d.id = o.decision_id
        and d.send_id = o.id and d.not_before = o.not_before
      where d.id is null and ${among('o.conversation_id')}`,
  },
  {
    invariant: 'S3',
    says: 'the attempts of a send are counted',
    sql: ({ among }) => `select o.id, o.business_id from outbox o
      where ${among('o.conversation_id')} and o.attempts <> (
        select count(*) from send_attempts a where a.send_id = o.id)`,
  },
  {
    invariant: 'S3',
    says: 'an accepted send has its acceptance, and only it',
    sql: ({ among }) => `select o.id, o.business_id from outbox o
      where ${among('o.conversation_id')}
        and (o.state in ('accepted', 'delivered') and not exists (
          select from send_outcomes r where r.send_id = o.id and r.outcome = 'accepted'
            and r.attempt_id = o.attempt_id)
        or o.state in ('queued', 'leased', 'sending', 'cancelled', 'delivery_unknown') and exists (
          select from send_outcomes r where r.send_id = o.id and r.outcome = 'accepted'
            and r.code is distinct from 'no_longer_current'))`,
  },
  {
    invariant: 'C6',
    says: 'an unknown delivery has its review',
    sql: ({ among }) => `select o.id, o.business_id from outbox o
      where o.state = 'delivery_unknown' and ${among('o.conversation_id')} and not exists (
        select from work_items w where w.send_id = o.id and w.kind = 'delivery-unknown')`,
  },
  {
    invariant: 'T3',
    says: 'a draft that waits for approval was not attempted',
    sql: ({ among }) => `select o.id, o.business_id from outbox o
      where o.awaiting_approval and ${among('o.conversation_id')}
        and (o.state not in ('queued', 'cancelled') or o.attempts > 0)`,
  },
  {
    invariant: 'INV-14',
    says: 'no follow-up left where its decision knew it to be quiet in a zone of the recipient',
    sql: ({ among }) => `select distinct a.id, a.business_id from send_attempts a
      join lateral (
        select d.inputs from send_decisions d
        where d.send_id = a.send_id and d.inputs ? 'recipientZones'
          and d.evaluated_at <= a.started_at
        order by d.evaluated_at desc, d.id desc limit 1) d on true
      cross join lateral unnest(string_to_array(d.inputs ->> 'recipientZones', ',')) as zone
      cross join lateral (select (a.started_at at time zone zone)::time as local,
        (d.inputs ->> 'quietFrom')::time as quiet, (d.inputs ->> 'quietTo')::time as awake) t
      where a.purpose = 'follow-up' and ${among('a.conversation_id')}
        and d.inputs ->> 'leastBad' = 'false'
        and case when t.quiet < t.awake then t.local >= t.quiet and t.local < t.awake
          else t.local >= t.quiet or t.local < t.awake end`,
  },
  {
    invariant: 'INV-16',
    says: 'what the provider reports of an accepted send stands in its state',
    sql: ({ among }) => `select o.id, o.business_id from provider_messages p
      join outbox o on o.id = p.send_id
      where ((p.status = 'failed' and o.state in ('accepted', 'delivered'))
        or (p.status in ('delivered', 'read') and o.state = 'accepted'))
        and ${among('o.conversation_id')}`,
  },
  {
    invariant: 'INV-16',
    says: 'an accepted send that failed has its work item',
    sql: ({ among }) => `select o.id, o.business_id from outbox o
      where o.state = 'failed' and ${among('o.conversation_id')}
        and exists (select from send_outcomes r where r.send_id = o.id and r.outcome = 'accepted')
        and not exists (select from work_items w
          where w.send_id = o.id and w.kind = 'delivery-failed')`,
  },
];
