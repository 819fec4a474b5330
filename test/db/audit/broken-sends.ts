import { attemptAgain, copied, many, type Broken } from './breaking';

/** Sends that left when or as often as they must not. */
export const SENDING: readonly Broken[] = [
  {
    says: 'no attempt began before its notBefore or at its expiresAt',
    scene: 'answered',
    sql: `update send_attempts set not_before = started_at + interval '1 ms'`,
  },
  {
    says: 'no attempt began before its notBefore or at its expiresAt',
    scene: 'answered',
    sql: `update send_attempts set expires_at = started_at`,
  },
  {
    says: 'an attempt began under the clocks of a stored decision',
    scene: 'answered',
    sql: `update send_attempts set expires_at = expires_at + interval '1 ms'`,
  },
  {
    says: 'a send is accepted at most once',
    scene: 'answered',
    sql: `insert into send_outcomes
        (attempt_id, business_id, send_id, outcome, evidence, recorded_at)
      select attempt_id, business_id, send_id, outcome, 'echo', recorded_at from send_outcomes`,
  },
  {
    says: 'a second attempt follows only a definite refusal',
    scene: 'answered',
    sql: `${attemptAgain()}; update outbox set attempts = 2`,
  },
  {
    says: 'a second attempt follows only a definite refusal',
    scene: 'unknown',
    sql: `${attemptAgain()}; update outbox set attempts = 2`,
  },
  {
    says: 'a send stands in the thread at most once',
    scene: 'answered',
    sql: `update messages set send_id = (select id from outbox)`,
  },
  {
    says: 'one source event gets one accepted send of a purpose',
    scene: 'answered',
    sql: `drop index outbox_one_live_send;
      ${copied('outbox', { id: `'snd_x'`, idempotency_key: `'x'` })};
      insert into send_outcomes (attempt_id, business_id, send_id, outcome, evidence, recorded_at)
      select 'att_x', business_id, 'snd_x', outcome, 'echo', recorded_at from send_outcomes`,
  },
  {
    says: 'one token gets one accepted answer',
    scene: 'answered',
    sql: copied('outbox', { id: `'snd_x'`, idempotency_key: `'x'`, source_event: `'x'` }),
  },
  {
    says: 'no follow-up left after the lead wrote on any channel',
    scene: 'followed up',
    sql: `update messages set received_at = (
        select started_at - interval '1 second' from send_attempts where purpose = 'follow-up')
      where author = 'lead'`,
  },
  {
    says: 'an answer missed only messages younger than two seconds',
    scene: 'answered',
    sql: `update outbox set covers_seq = 0;
      update messages set received_at = received_at - interval '2 seconds'`,
  },
  {
    says: 'an automatic intent saw every inbound that was committed before it',
    scene: 'answered',
    sql: `update send_attempts set saw_seq = 0, started_at = started_at + interval '1 ms'`,
  },
  {
    says: 'an opted-out address got nothing but one confirmation',
    scene: 'answered',
    sql: `update addresses set opted_out_at = (
      select started_at - interval '1 ms' from send_attempts)`,
  },
  {
    says: 'an opt-out reaches every address of the person',
    scene: 'owed',
    sql: copied('addresses', { id: `'adr_x'`, value: `'x'`, opted_out_at: 't.created_at' }),
  },
  {
    says: 'nothing automatic began while a person owned the conversation',
    scene: 'claimed',
    sql: `update send_attempts set started_at = (
      select max(occurred_at) + interval '1 second' from takeover_events)`,
  },
  {
    says: 'nothing automatic began while the conversation was paused',
    scene: 'answered',
    sql: `insert into conversation_transitions (conversation_id, business_id, version, from_state,
        to_state, cause, changed, at)
      select conversation_id, business_id, 2, 'active', 'paused', 'x', true,
        started_at - interval '1 ms' from send_attempts`,
  },
  {
    says: 'a conversation gets at most 12 automatic answers in an hour and 40 in a day',
    scene: 'answered',
    sql: many(2, 13, { send_id: `'snd_' || n`, number: '1' }),
  },
  {
    says: 'a conversation gets at most 12 automatic answers in an hour and 40 in a day',
    scene: 'answered',
    sql: many(2, 41, {
      send_id: `'snd_' || n`,
      number: '1',
      started_at: `a.started_at + n * interval '6 minutes'`,
    }),
  },
  {
    says: 'one address gets at most 20 sends in ten minutes, 60 in an hour, 120 in a day',
    scene: 'answered',
    sql: many(2, 21, { purpose: `'staff'` }),
  },
  {
    says: 'one address gets at most 20 sends in ten minutes, 60 in an hour, 120 in a day',
    scene: 'answered',
    sql: many(2, 61, {
      purpose: `'staff'`,
      started_at: `a.started_at + n * interval '58 seconds'`,
    }),
  },
  {
    says: 'one address gets at most 20 sends in ten minutes, 60 in an hour, 120 in a day',
    scene: 'answered',
    sql: many(2, 121, {
      purpose: `'staff'`,
      started_at: `a.started_at + n * interval '11 minutes'`,
    }),
  },
  {
    says: 'follow-ups are at most one a day',
    scene: 'followed up',
    sql: `${attemptAgain({ started_at: `a.started_at + interval '19 hours'` })}
      where a.purpose = 'follow-up'`,
  },
  {
    says: 'at most two automatic sends answer one message of the lead',
    scene: 'answered',
    sql: many(2, 3, {}),
  },
];

/** Sends whose state is not what their attempts say. */
export const STATES: readonly Broken[] = [
  {
    says: 'a send stands under a stored decision of its own',
    scene: 'answered',
    sql: `delete from send_decisions`,
  },
  {
    says: 'the attempts of a send are counted',
    scene: 'answered',
    sql: `update outbox set attempts = 2`,
  },
  {
    says: 'an accepted send has its acceptance, and only it',
    scene: 'answered',
    sql: `delete from send_outcomes`,
  },
  {
    says: 'an accepted send has its acceptance, and only it',
    scene: 'answered',
    sql: `update outbox set state = 'queued'`,
  },
  {
    says: 'an unknown delivery has its review',
    scene: 'unknown',
    sql: `update work_items set kind = 'handoff'`,
  },
  {
    says: 'a draft that waits for approval was not attempted',
    scene: 'answered',
    sql: `update outbox set awaiting_approval = true`,
  },
  {
    says: 'no follow-up left where its decision knew it to be quiet in a zone of the recipient',
    scene: 'followed up',
    sql: `update send_decisions d set inputs = jsonb_build_object('leastBad', false,
        'recipientZones', 'America/Chicago,America/Denver',
        'quietFrom', to_char(a.started_at at time zone 'America/Denver', 'HH24:MI'),
        'quietTo', to_char(a.started_at at time zone 'America/Denver' + interval '1 minute',
          'HH24:MI'))
      from send_attempts a where a.send_id = d.send_id and a.purpose = 'follow-up'`,
  },
  {
    says: 'what the provider reports of an accepted send stands in its state',
    scene: 'answered',
    sql: `update provider_messages set status = 'failed'`,
  },
  {
    says: 'an accepted send that failed has its work item',
    scene: 'answered',
    sql: `update outbox set state = 'failed'`,
  },
];
