import { copied, without, type Broken } from './breaking';
import { SENDING, STATES } from './broken-sends';

const INTAKE: readonly Broken[] = [
  {
    says: 'a stored body is the one that its digest names',
    scene: 'owed',
    sql: `update raw_deliveries set body = 'x'`,
  },
  {
    says: 'a body that retention emptied left its digest',
    scene: 'owed',
    sql: `update raw_deliveries set body = null, body_sha256 = ''`,
  },
  {
    says: 'one message of a provider is one row',
    scene: 'owed',
    sql: without(
      'drop index messages_provider_id',
      copied('messages', { id: `'msg_x'`, seq: '2', owes: 'false' }),
    ),
  },
  {
    says: 'the key of a message is the digest of its id',
    scene: 'owed',
    sql: `update messages set provider_message_sha256 = 'x'`,
  },
  {
    says: 'one receipt makes at most one message',
    scene: 'owed',
    sql: copied('messages', {
      id: `'msg_x'`,
      seq: '2',
      provider_message_id: `'other'`,
      provider_message_sha256: `'other'`,
    }),
  },
  {
    says: 'the elements of a request are its receipts and its duplicates',
    scene: 'owed',
    sql: `update raw_deliveries set element_count = 2`,
  },
  {
    says: 'a duplicate repeats a receipt that exists',
    scene: 'repeated',
    sql: `update receipt_duplicates set receipt_id = 'rcp_x'`,
  },
  {
    says: 'a lead has one conversation per account',
    scene: 'owed',
    sql: without(
      'alter table conversations drop constraint conversations_home',
      copied('conversations', { id: `'cnv_x'` }),
    ),
  },
  {
    says: 'one address belongs to one lead',
    scene: 'owed',
    sql: without(
      'alter table addresses drop constraint addresses_identity',
      copied('addresses', { id: `'adr_x'` }),
    ),
  },
  {
    says: 'a conversation is held with an address of its own lead',
    scene: 'owed',
    sql: `${copied('leads', { id: `'led_x'` })}; update addresses set lead_id = 'led_x'`,
  },
  {
    says: 'every lead can be reached',
    scene: 'owed',
    sql: `update addresses set lead_id = 'led_x'`,
  },
  {
    says: 'what a lead wrote came in an element of an authentic request',
    scene: 'owed',
    sql: `update messages set receipt_id = null`,
  },
  {
    says: 'an element points at the authentic request that brought it',
    scene: 'owed',
    sql: `update webhook_receipts set raw_id = 'raw_x'`,
  },
  {
    says: 'what owes has its jobs and its trace',
    scene: 'owed',
    sql: `delete from delivery_jobs where operation = 'crm-upsert'`,
  },
];

const THREAD: readonly Broken[] = [
  {
    says: 'the counters of a thread stand at its newest messages',
    scene: 'owed',
    sql: `update conversations set last_inbound_seq = 0`,
  },
  {
    says: 'the version counts the changes of state',
    scene: 'owed',
    sql: `update conversations set version = 2`,
  },
  {
    says: 'the state is where the last change led',
    scene: 'answered',
    sql: `update conversations set state = 'booked'`,
  },
  {
    says: 'each change begins where the one before it ended',
    scene: 'claimed',
    sql: `update conversation_transitions set from_state = 'closed' where changed`,
  },
  {
    says: 'a plan of follow-ups runs only in an active conversation of automation',
    scene: 'claimed',
    sql: `update follow_up_plans set stopped_at = null`,
  },
  {
    says: 'a conversation in which something is due says when to look at it',
    scene: 'owed',
    sql: `update conversations set next_due_at = null`,
  },
  {
    says: 'a conversation in which nothing is due is left alone',
    scene: 'claimed',
    sql: `update work_items set next_escalation_at = null;
      update conversations set next_due_at = created_at`,
  },
  {
    says: 'the owner is who claimed last',
    scene: 'answered',
    sql: `update conversations set owner = 'person'`,
  },
  {
    says: 'the takeover log has no gap behind its head',
    scene: 'claimed',
    sql: `delete from takeover_events where seq = 1`,
  },
];

const DEBT: readonly Broken[] = [
  {
    says: 'an unsettled message is owed by its conversation',
    scene: 'owed',
    sql: `update conversations set owed_since = null, oldest_owed_at = null, overdue_from = null`,
  },
  {
    says: 'a conversation owes only while a message is unsettled',
    scene: 'owed',
    sql: `update messages set settlement = 'no-answer', settlement_reason = 'x',
      settled_at = received_at`,
  },
  {
    says: 'what owes nothing was never settled',
    scene: 'answered',
    sql: `update messages set owes = false`,
  },
  {
    says: 'what an accepted answer covers is not owed beside it',
    scene: 'answered',
    sql: `update messages set settlement = null, settlement_ref = null, settlement_reason = null,
        settled_at = null;
      update conversations set owed_since = last_token, oldest_owed_at = created_at`,
  },
  {
    says: 'a reply that settles was accepted, did not fail, and covers the message',
    scene: 'answered',
    sql: `update outbox set state = 'cancelled'`,
  },
  {
    says: 'a person who settles wrote after the message',
    scene: 'answered',
    sql: `update messages set settlement = 'person', settlement_ref = id,
      settled_at = received_at where owes`,
  },
  {
    says: 'a work item that settles exists in the same conversation, drafts for approval included',
    scene: 'unknown',
    sql: `delete from work_items`,
  },
  {
    says: 'a work item that is closed says by whom and how',
    scene: 'unknown',
    sql: `update work_items set resolved_at = opened_at`,
  },
  {
    says: 'a deliberate no-answer has its reason',
    scene: 'answered',
    sql: `update messages set settlement = 'no-answer', settlement_reason = null,
      settled_at = received_at where owes`,
  },
  {
    says: 'what is owed is owed no longer than the bound, unless its answer waits for a rule',
    scene: 'owed',
    sql: `update conversations set overdue_from = overdue_from - interval '901 seconds';
      update messages set received_at = received_at - interval '901 seconds'`,
  },
  {
    says: 'the oldest time is never later than the oldest unsettled message',
    scene: 'owed',
    sql: `update conversations set oldest_owed_at = oldest_owed_at + interval '1 minute',
      overdue_from = overdue_from + interval '1 minute'`,
  },
  {
    says: 'ages count from a time exactly while something is owed',
    scene: 'owed',
    sql: `update conversations set overdue_from = oldest_owed_at - interval '1 second'`,
  },
  {
    says: 'a turn is marked only while something is owed',
    scene: 'answered',
    sql: `delete from turn_markers;
      insert into turn_markers (conversation_id, token, attempt, started_at)
      select id, created_at, 1, created_at - interval '121 seconds' from conversations;
      update conversations set owed_since = null, oldest_owed_at = null, overdue_from = null`,
  },
];

const LIVENESS: readonly Broken[] = [
  {
    says: 'no send is claimed longer than its lease and one sweep',
    scene: 'answered',
    sql: `update outbox set state = 'leased', lease_until = created_at - interval '61 seconds'`,
  },
  {
    says: 'no notice is claimed longer than its lease and one sweep',
    scene: 'owed',
    sql: `insert into notices (id, business_id, queue, created_at, number)
        select 'ntc_x', business_id, 'front-desk', created_at, 1 from conversations;
      insert into notice_deliveries (notice_id, integration_id, state, next_attempt_at, lease_until)
      select 'ntc_x', 'int_x', 'sending', created_at, created_at - interval '61 seconds'
      from conversations`,
  },
  {
    says: 'every attempt is judged within the bound',
    scene: 'answered',
    sql: `delete from send_outcomes;
      update send_attempts set started_at = started_at - interval '901 seconds'`,
  },
  {
    says: 'an item that nobody took has its escalation within a minute of the deadline',
    scene: 'unknown',
    sql: `update work_items set next_escalation_at = opened_at - interval '61 seconds'`,
  },
  {
    says: 'the level of an item counts its escalations, from the first without a gap',
    scene: 'unknown',
    sql: `update work_items set level = level + 1`,
  },
  {
    says: 'no escalation came before its deadline',
    scene: 'unknown',
    sql: `insert into escalations
      select id, 9, business_id, 'x', opened_at, opened_at - interval '1 ms', opened_at
      from work_items`,
  },
];

/** For every check at least one way in which it is broken. */
export const BROKEN: readonly Broken[] = [
  ...INTAKE,
  ...THREAD,
  ...DEBT,
  ...LIVENESS,
  ...SENDING,
  ...STATES,
];
