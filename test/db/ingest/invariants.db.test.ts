import { ageAttempts, answer, answerIntoTheUnknown } from '../../support/answering';
import { violations } from '../../support/invariants';
import { makeWorld, type World } from '../../support/world';
import { command, queuedFollowUp } from '../races/scene';

/** Each row: a scene, the fact that is broken in it as the owner, and what the checker says. */
const BROKEN: readonly (readonly [
  id: string,
  what: string,
  scene: keyof typeof SCENES,
  sql: string,
])[] = [
  ['INV-1', 'a stored body is changed', 'owed', `update raw_deliveries set body = 'x'`],
  [
    'INV-2',
    'the key of a message is another one’s',
    'owed',
    `update messages set provider_message_sha256 = 'x'`,
  ],
  [
    'INV-3',
    'an element has neither receipt nor duplicate',
    'owed',
    `update raw_deliveries set element_count = 2`,
  ],
  ['IN2', 'a job is missing', 'owed', `delete from delivery_jobs where operation = 'crm-upsert'`],
  [
    'INV-4',
    'an address is given to another lead',
    'owed',
    `insert into leads select 'led_x', business_id, null, created_at from leads; update addresses set lead_id = 'led_x'`,
  ],
  [
    'INV-6',
    'the debt is cleared and nobody answered',
    'owed',
    `update conversations set owed_since = null, oldest_owed_at = null, overdue_from = null`,
  ],
  [
    'INV-6',
    'a debt stands and every message is settled',
    'owed',
    `update messages set settlement = 'no-answer', settlement_reason = 'x', settled_at = received_at`,
  ],
  [
    'INV-6',
    'a reply that settled was never accepted',
    'answered',
    `update outbox set state = 'cancelled'`,
  ],
  ['INV-6', 'the item that settled is gone', 'unknown', `delete from work_items`],
  [
    'INV-6',
    'a no-answer has no reason',
    'answered',
    `update messages set settlement = 'no-answer', settlement_reason = null where owes`,
  ],
  [
    'INV-7',
    'the oldest time moves forward',
    'owed',
    `update conversations set oldest_owed_at = oldest_owed_at + interval '1 minute', overdue_from = overdue_from + interval '1 minute'`,
  ],
  [
    'INV-9',
    'an attempt began before its time',
    'answered',
    `update send_attempts set not_before = started_at + interval '1 ms'`,
  ],
  [
    'INV-9',
    'an attempt began when it expired',
    'answered',
    `update send_attempts set expires_at = started_at`,
  ],
  [
    'INV-10',
    'a send was accepted twice',
    'answered',
    `insert into send_outcomes (attempt_id, business_id, send_id, outcome, evidence, recorded_at) select attempt_id, business_id, send_id, outcome, 'echo', recorded_at from send_outcomes`,
  ],
  [
    'INV-10',
    'an accepted send is tried again',
    'answered',
    `insert into send_attempts select 'att_x', business_id, send_id, conversation_id, address_id, purpose, 2, decision_id, not_before, expires_at, conversation_version, saw_seq, started_at from send_attempts; update outbox set attempts = 2`,
  ],
  [
    'INV-10',
    'an unknown send is tried again',
    'unknown',
    `insert into send_attempts select 'att_x', business_id, send_id, conversation_id, address_id, purpose, 2, decision_id, not_before, expires_at, conversation_version, saw_seq, started_at from send_attempts; update outbox set attempts = 2`,
  ],
  [
    'INV-11',
    'a follow-up left after the lead wrote',
    'followed up',
    `update messages set received_at = (select started_at - interval '1 second' from send_attempts where purpose = 'follow-up') where author = 'lead'`,
  ],
  [
    'INV-12',
    'an answer did not see a message',
    'answered',
    `update outbox set covers_seq = 0; update messages set received_at = received_at - interval '3 seconds'`,
  ],
  [
    'INV-13',
    'something left after an opt-out',
    'answered',
    `update addresses set opted_out_at = (select started_at - interval '1 ms' from send_attempts)`,
  ],
  [
    'INV-13',
    'one address of a person is left out of the opt-out',
    'owed',
    `insert into addresses select 'adr_x', business_id, lead_id, 'messenger', 'x', created_at, created_at from addresses`,
  ],
  [
    'INV-15',
    'an answer left while a person owned',
    'claimed',
    `update send_attempts set started_at = (select max(occurred_at) + interval '1 second' from takeover_events)`,
  ],
  [
    'INV-15',
    'the owner is nobody’s claim',
    'answered',
    `update conversations set owner = 'person'`,
  ],
  [
    'INV-16',
    'a reported failure is not in the state',
    'answered',
    `update provider_messages set status = 'failed'`,
  ],
  ['INV-16', 'a failure has no item', 'answered', `update outbox set state = 'failed'`],
  [
    'INV-17b',
    '21 sends left in ten minutes',
    'answered',
    `insert into send_attempts select 'att_' || n, business_id, send_id, conversation_id, address_id, 'staff', n, decision_id, not_before, expires_at, conversation_version, saw_seq, started_at + n * interval '1 second' from send_attempts, generate_series(2, 21) n`,
  ],
  [
    'INV-17b',
    'three automatic answers left for one message',
    'answered',
    `insert into send_attempts select 'att_' || n, business_id, send_id, conversation_id, address_id, purpose, n, decision_id, not_before, expires_at, conversation_version, saw_seq, started_at + n * interval '1 second' from send_attempts, generate_series(2, 3) n`,
  ],
  [
    'INV-17b',
    'two follow-ups left on one day',
    'followed up',
    `insert into send_attempts select 'att_x', business_id, send_id, conversation_id, address_id, purpose, 2, decision_id, not_before, expires_at, conversation_version, saw_seq, started_at + interval '19 hours' from send_attempts where purpose = 'follow-up'`,
  ],
  ['S1', 'a version counts no change', 'owed', `update conversations set version = 2`],
  ['S1', 'a state was never entered', 'answered', `update conversations set state = 'booked'`],
  [
    'S2',
    'follow-ups are planned behind a stop',
    'claimed',
    `update follow_up_plans set stopped_at = null`,
  ],
  ['S3', 'an accepted send has no acceptance', 'answered', `delete from send_outcomes`],
  ['C2', 'a send stands under no decision', 'answered', `delete from send_decisions`],
  ['C6', 'an unknown delivery has no review', 'unknown', `update work_items set kind = 'handoff'`],
  [
    'O1',
    'something is due and nobody would look',
    'owed',
    `update conversations set next_due_at = null`,
  ],
  [
    'O1',
    'somebody would look and nothing is due',
    'claimed',
    `update conversations set next_due_at = created_at`,
  ],
  [
    'T2',
    'the newest inbound is not counted',
    'owed',
    `update conversations set last_inbound_seq = 0`,
  ],
  [
    'T4',
    'a turn is marked and nothing is owed',
    'answered',
    `insert into turn_markers select id, now(), 1, now() from conversations`,
  ],
  [
    'T5',
    'ages count from before the message',
    'owed',
    `update conversations set overdue_from = oldest_owed_at - interval '1 second'`,
  ],
  [
    'H3',
    'an event of the takeover log is gone',
    'claimed',
    `delete from takeover_events where seq = 1`,
  ],
];

const SCENES = {
  owed: async (world: World) => {
    await world.write({ text: 'My sink leaks' });
  },
  answered: async (world: World) => {
    await world.write({ text: 'My sink leaks' });
    await answer(world);
  },
  unknown: async (world: World) => {
    await world.write({ text: 'My sink leaks' });
    await answerIntoTheUnknown(world);
  },
  claimed: async (world: World) => {
    await world.write({ text: 'My sink leaks' });
    const { conversationId } = await answer(world);
    world.clock.advance(60_000);
    await command(world, conversationId, 'claim');
  },
  'followed up': async (world: World) => {
    const send = await queuedFollowUp(world);
    await world.activities.deliver(send);
    await ageAttempts(world, 1);
  },
} as const;

describe('the invariants', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  it.each(BROKEN)('%s: the checker sees that %s', async (id, _what, scene, sql) => {
    await SCENES[scene](world);
    expect(await violations(world.database.owner)).toEqual([]);
    const client = await world.database.owner.connect();
    await client.query("begin; set local session_replication_role = 'replica'");
    await client.query(sql);
    const seen = await violations(client);
    await client.query('rollback');
    client.release();
    expect(seen.map((line) => line.split(' ')[0])).toContain(id);
  });

  it('are checked between tests: a broken one fails the test that left it, and only that one', async () => {
    await SCENES.owed(world);
    await world.rows('update conversations set version = 7');
    await expect(world.reset()).rejects.toThrow(/^S1 is broken \(the version counts/);
    await expect(world.reset()).resolves.toBeUndefined();
  });
});
