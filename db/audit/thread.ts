import type { Check } from './check';

/** Something of the conversation `c` that a workflow has to do, now or at a time. */
const SOMETHING_IS_DUE = `(c.owed_since is not null
  or exists (select from outbox o where o.conversation_id = c.id
    and o.state in ('queued', 'leased', 'sending'))
  or exists (select from work_items w where w.conversation_id = c.id
    and w.resolved_at is null and w.next_escalation_at is not null)
  or (c.state = 'active' and c.owner = 'automation' and exists (
    select from follow_up_steps s join follow_up_plans p on p.id = s.plan_id
    where s.conversation_id = c.id and s.written_at is null and p.stopped_at is null)))`;

/** Order, state and owner of a conversation follow from its events. */
export const THREAD: readonly Check[] = [
  {
    invariant: 'T2',
    says: 'the counters of a thread stand at its newest messages',
    sql: ({ among }) => `select c.id, c.business_id from conversations c
      where ${among('c.id')} and (c.last_seq < (select coalesce(max(m.seq), 0) from messages m
          where m.conversation_id = c.id)
        or c.last_inbound_seq <> (select coalesce(max(m.seq), 0) from messages m
          where m.conversation_id = c.id and m.author = 'lead'))`,
  },
  {
    invariant: 'S1',
    says: 'the version counts the changes of state',
    sql: ({ among }) => `select c.id, c.business_id from conversations c
      where ${among('c.id')} and c.version <> 1 + (
        select count(*) from conversation_transitions t
        where t.conversation_id = c.id and t.changed)`,
  },
  {
    invariant: 'S1',
    says: 'the state is where the last change led',
    sql: ({ among }) => `select c.id, c.business_id from conversations c
      where ${among('c.id')} and c.state <> coalesce((
        select t.to_state from conversation_transitions t
        where t.conversation_id = c.id and t.changed order by t.ordinal desc limit 1), 'active')`,
  },
  {
    invariant: 'S1',
    says: 'each change begins where the one before it ended',
    sql: ({ among }) => `select conversation_id, business_id from (
      select conversation_id, business_id, from_state, version,
        lag(to_state, 1, 'active') over chain as before, lag(version, 1, 1) over chain as earlier
      from conversation_transitions where changed and ${among('conversation_id')}
      window chain as (partition by conversation_id order by ordinal)) t
      where from_state <> before or version <> earlier + 1`,
  },
  {
    invariant: 'S2',
    says: 'a plan of follow-ups runs only in an active conversation of automation',
    sql: ({ among }) => `select p.id, p.business_id from follow_up_plans p
      join conversations c on c.id = p.conversation_id
      where p.stopped_at is null and ${among('c.id')}
        and (c.state <> 'active' or c.owner <> 'automation' or p.episode <> c.episode)`,
  },
  {
    invariant: 'O1',
    says: 'a conversation in which something is due says when to look at it',
    sql: ({ among }) => `select c.id, c.business_id from conversations c
      where c.next_due_at is null and ${among('c.id')} and ${SOMETHING_IS_DUE}`,
  },
  {
    invariant: 'O1',
    says: 'a conversation in which nothing is due is left alone',
    sql: ({ among }) => `select c.id, c.business_id from conversations c
      where c.next_due_at is not null and ${among('c.id')} and not ${SOMETHING_IS_DUE}`,
  },
  {
    invariant: 'INV-15',
    says: 'the owner is who claimed last',
    sql: ({ among }) => `select c.id, c.business_id from conversations c
      where ${among('c.id')} and (c.owner = 'person') <> coalesce((
        select e.type = 'takeover.claimed' from takeover_events e
        where e.conversation_id = c.id and e.type in ('takeover.claimed', 'takeover.released')
        order by e.occurred_at desc, e.session_id desc, e.seq desc limit 1), false)`,
  },
  {
    invariant: 'H3',
    says: 'the takeover log has no gap behind its head',
    sql: ({ among }) => `select h.session_id, c.business_id from takeover_heads h
      join conversations c on c.id = h.conversation_id
      where ${among('c.id')} and (h.last_seq <> (
          select count(*) from takeover_events e where e.session_id = h.session_id)
        or h.last_seq <> (select max(seq) from takeover_events e
          where e.session_id = h.session_id))`,
  },
];
