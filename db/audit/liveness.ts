import { BOUND, NOW, type Check } from './check';

/** Between two rounds of the sweeper (T4). */
const SWEEP = `interval '60 seconds'`;

/** INV-8 and the deadline of INV-9: nothing is held or waited for longer than it may take. */
export const LIVENESS: readonly Check[] = [
  {
    invariant: 'INV-8',
    says: 'no send is claimed longer than its lease and one sweep',
    lively: true,
    sql: () => `select o.id, o.business_id from outbox o
      where o.state = 'leased' and o.lease_until < ${NOW} - ${SWEEP}`,
  },
  {
    invariant: 'INV-8',
    says: 'no notice is claimed longer than its lease and one sweep',
    lively: true,
    sql: () => `select d.notice_id, n.business_id from notice_deliveries d
      join notices n on n.id = d.notice_id
      where d.state = 'sending' and d.lease_until < ${NOW} - ${SWEEP}`,
  },
  {
    invariant: 'INV-8',
    says: 'every attempt is judged within the bound',
    lively: true,
    sql: ({ among }) => `select a.id, a.business_id from send_attempts a
      where a.started_at < ${NOW} - ${BOUND} and ${among('a.conversation_id')}
        and not exists (select from send_outcomes r where r.attempt_id = a.id)`,
  },
  {
    invariant: 'INV-9',
    says: 'an item that nobody took has its escalation within a minute of the deadline',
    lively: true,
    sql: () => `select w.id, w.business_id from work_items w
      where w.resolved_at is null and (w.next_escalation_at < ${NOW} - ${SWEEP}
        or (w.level = 0 and w.claimed_at is null and w.escalate_at < ${NOW} - ${SWEEP}))`,
  },
  {
    invariant: 'INV-9',
    says: 'the level of an item counts its escalations, from the first without a gap',
    sql: ({ among }) => `select w.id, w.business_id from work_items w
      left join lateral (select count(*) as reached, coalesce(max(e.level), 0) as highest
        from escalations e where e.work_item_id = w.id) e on true
      where (w.level <> e.reached or w.level <> e.highest)
        and (w.conversation_id is null or ${among('w.conversation_id')})`,
  },
  {
    invariant: 'INV-9',
    says: 'no escalation came before its deadline',
    sql: ({ since }) => `select e.work_item_id, e.business_id from escalations e
      where e.at < e.due_at and ${since('e.at')}`,
  },
];
