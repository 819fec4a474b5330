import { BOUND, NOW, writtenAt, type Check } from './check';

/** How INV-6 names an owed message: it is still unsettled. */
const OWED = 'm.owes and m.settlement is null';

/** INV-6 and INV-7: exactly one of answer, no-answer, person and debt, at every instant. */
export const DEBT: readonly Check[] = [
  {
    invariant: 'INV-6',
    says: 'an unsettled message is owed by its conversation',
    sql: ({ among }) => `select m.id, m.business_id from messages m
      join conversations c on c.id = m.conversation_id
      where ${OWED} and c.owed_since is null and ${among('c.id')}`,
  },
  {
    invariant: 'INV-6',
    says: 'a conversation owes only while a message is unsettled',
    sql: ({ among }) => `select c.id, c.business_id from conversations c
      where c.owed_since is not null and ${among('c.id')} and not exists (
        select from messages m where m.conversation_id = c.id and ${OWED})`,
  },
  {
    invariant: 'INV-6',
    says: 'what owes nothing was never settled',
    sql: ({ among }) => `select m.id, m.business_id from messages m
      where not m.owes and m.settlement is not null and ${among('m.conversation_id')}`,
  },
  {
    invariant: 'INV-6',
    says: 'what an accepted answer covers is not owed beside it',
    sql: ({ among }) => `select m.id, m.business_id from messages m
      where ${OWED} and ${among('m.conversation_id')} and exists (
        select from outbox o where o.conversation_id = m.conversation_id
          and o.purpose = 'answer' and o.covers_seq >= m.seq
          and o.state in ('accepted', 'delivered'))`,
  },
  {
    invariant: 'INV-6',
    says: 'a reply that settles was accepted, did not fail, and covers the message',
    sql: ({ among }) => `select m.id, m.business_id from messages m
      left join outbox o on o.id = m.settlement_ref
        and o.conversation_id = m.conversation_id and o.covers_seq >= m.seq
        and o.state in ('accepted', 'delivered')
      where m.settlement = 'reply' and o.id is null and ${among('m.conversation_id')}`,
  },
  {
    invariant: 'INV-6',
    says: 'a person who settles wrote after the message',
    sql: ({ among }) => `select m.id, m.business_id from messages m
      left join messages p on p.id = m.settlement_ref
        and p.conversation_id = m.conversation_id and p.direction = 'out' and p.seq > m.seq
      where m.settlement = 'person' and p.id is null and ${among('m.conversation_id')}`,
  },
  {
    invariant: 'INV-6',
    says: 'a work item that settles exists in the same conversation, drafts for approval included',
    sql: ({ among }) => `select m.id, m.business_id from messages m
      left join work_items w on w.id = m.settlement_ref
        and w.conversation_id = m.conversation_id
      where m.settlement = 'work-item' and w.id is null and ${among('m.conversation_id')}`,
  },
  {
    invariant: 'INV-6',
    says: 'a work item that is closed says by whom and how',
    sql: ({ among }) => `select w.id, w.business_id from work_items w
      where w.resolved_at is not null and (w.resolved_by is null or w.resolution is null)
        and (w.conversation_id is null or ${among('w.conversation_id')})`,
  },
  {
    invariant: 'INV-6',
    says: 'a deliberate no-answer has its reason',
    sql: ({ among }) => `select m.id, m.business_id from messages m
      where m.settlement = 'no-answer' and m.settlement_reason is null
        and ${among('m.conversation_id')}`,
  },
  {
    invariant: 'INV-6',
    says: 'what is owed is owed no longer than the bound, unless its answer waits for a rule',
    lively: true,
    sql: () => `select m.id, m.business_id from messages m
      join conversations c on c.id = m.conversation_id
      where ${OWED} and c.owed_since is not null
        and greatest(c.overdue_from, m.received_at, (
          select max(o.not_before) from outbox o join send_decisions d on d.id = o.decision_id
          where o.conversation_id = c.id and o.purpose = 'answer'
            and o.state in ('queued', 'leased', 'sending')
            and d.reason in ('business-rule-delay', 'escalation-window'))) < ${NOW} - ${BOUND}`,
  },
  {
    invariant: 'INV-7',
    says: 'the oldest time is never later than the oldest unsettled message',
    sql: ({ among }) => `select c.id, c.business_id from conversations c
      where ${among('c.id')} and c.oldest_owed_at > (
        select min(${writtenAt('m')}) from messages m
        where m.conversation_id = c.id and ${OWED})`,
  },
  {
    invariant: 'T5',
    says: 'ages count from a time exactly while something is owed',
    sql: ({ among }) => `select c.id, c.business_id from conversations c
      where ${among('c.id')} and ((c.owed_since is null) <> (c.overdue_from is null)
        or c.overdue_from < c.oldest_owed_at)`,
  },
  {
    invariant: 'T4',
    says: 'a turn is marked only while something is owed',
    sql: ({ among, rests }) => `select k.conversation_id, c.business_id from turn_markers k
      join conversations c on c.id = k.conversation_id
      where c.owed_since is null and ${among('c.id')} and ${rests('k.started_at', 120)}`,
  },
];
