import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express from 'express';
import { makeMetricsRouter } from '../../api/metrics';
import { rollUpFigures } from '../../db/figure-rollups';
import { auditOnce } from '../../upkeep/audit';
import { ageAttempts, answer, answerIntoTheUnknown, draftAnswer } from '../support/answering';
import { makeWorld, type World } from '../support/world';
import { command, LEAD, writeOnWhatsApp } from './races/scene';

type Series = Readonly<Record<string, number>>;

describe('/metrics', () => {
  let world: World;
  let server: Server;
  beforeAll(async () => {
    world = await makeWorld();
    const app = express();
    // Nothing but a pool: no Temporal and no worker exist in this test (T9).
    const pool = world.database.service;
    app.use(makeMetricsRouter({ pool, now: () => world.clock.now(), cacheMs: 0 }));
    server = createServer(app).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
  });
  afterEach(() => world.reset());
  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
    await world.close();
  });

  async function text(): Promise<string> {
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect(response.status).toBe(200);
    return response.text();
  }

  /** Every sample by its name and labels, as Prometheus reads the text. */
  async function scrape(): Promise<Series> {
    const lines = (await text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return Object.fromEntries(
      lines.map((line) => {
        const at = line.lastIndexOf(' ');
        const value = line.slice(at + 1);
        return [
          line.slice(0, at),
          value === '+Inf' || value === 'Infinity' ? Infinity : Number(value),
        ];
      }),
    );
  }

  it('says 0 where nothing is owed, and has every series that an alert asks for [T9] [C9]', async () => {
    const series = await scrape();
    for (const name of [
      'unsilent_oldest_owed_reply_age_seconds',
      'unsilent_oldest_waiting_for_person_age_seconds',
      'unsilent_owed_replies',
      'unsilent_sends_before_not_before_total',
      'unsilent_sends_after_expires_at_total',
      'unsilent_duplicate_logical_sends_total',
      'unsilent_policy_cancellations_total',
      'unsilent_send_breaker_trips_total',
      'unsilent_delivery_unknown',
      'unsilent_escalations_open',
      'unsilent_paused_accounts',
      'unsilent_paused_integrations',
      'unsilent_sweeper_handovers_total',
      'unsilent_quarantined_total',
      'unsilent_content_conflicts_total',
      'unsilent_escalations_total{met="true"}',
      'unsilent_escalations_total{met="false"}',
    ]) {
      expect([name, series[name]]).toEqual([name, 0]);
    }
    expect(series['unsilent_audit_age_seconds']).toBe(Infinity);
  });

  it('has a family for every series that a shipped alert names [T9] [C9]', async () => {
    const rules = readFileSync(join(__dirname, '..', '..', 'ops', 'alerts.yml'), 'utf8');
    const named = new Set(rules.match(/\bunsilent_[a-z_]+/g));
    const families = new Set((await text()).match(/(?<=^# TYPE )\w+/gm));
    expect(named.size).toBeGreaterThan(10);
    expect([...named].filter((name) => !families.has(name))).toEqual([]);
  });

  it('tells the age of the oldest owed reply to the second, without Temporal or a worker [T9]', async () => {
    await world.write({ text: 'My sink leaks', lead: LEAD });
    world.clock.advance(90_000);
    await world.write({ text: 'My drain is clogged', lead: '+13125550143' });
    world.clock.advance(510_000);
    const late = await scrape();
    expect(late['unsilent_oldest_owed_reply_age_seconds']).toBe(600);
    expect(late['unsilent_owed_replies']).toBe(2);
    await answer(world);
    expect((await scrape())['unsilent_oldest_owed_reply_age_seconds']).toBe(510);
  });

  it('leaves out a reply that waits for the clock of a rule, and counts from its end [T9] [T5]', async () => {
    await world.write({ text: 'My sink leaks' });
    await draftAnswer(world);
    const hold = async (reason: string): Promise<void> => {
      await world.rows(`update outbox set not_before = $1::timestamptz + interval '20 minutes'`, [
        world.clock.iso,
      ]);
      const client = await world.database.owner.connect();
      await client.query(`set session_replication_role = 'replica'`);
      await client.query(
        `update send_decisions d set reason = $1, not_before = o.not_before
        from outbox o where o.decision_id = d.id`,
        [reason],
      );
      await client.query(`set session_replication_role = 'origin'`);
      client.release();
    };
    await hold('business-rule-delay');
    world.clock.advance(15 * 60_000);
    const waiting = await scrape();
    expect(waiting['unsilent_oldest_owed_reply_age_seconds']).toBe(0);
    expect(waiting['unsilent_owed_replies']).toBe(1);
    expect(waiting['unsilent_owed_replies_waiting']).toBe(1);
    world.clock.advance(6 * 60_000);
    expect((await scrape())['unsilent_oldest_owed_reply_age_seconds']).toBe(60);
    // A back-off moves nothing: the lead waits all the same.
    await hold('rate-limit-backoff');
    expect((await scrape())['unsilent_oldest_owed_reply_age_seconds']).toBe(21 * 60);
  });

  it('counts sends, attempts and outcomes by channel [C9]', async () => {
    await world.write({ text: 'My sink leaks', lead: LEAD });
    await answer(world);
    await writeOnWhatsApp(world, { text: 'My tap drips', lead: '+13125550143' });
    await answerIntoTheUnknown(world, 'whatsapp');
    const series = await scrape();
    expect(series).toMatchObject({
      'unsilent_sends_total{channel="sms",outcome="accepted"}': 1,
      'unsilent_sends_total{channel="whatsapp",outcome="delivery_unknown"}': 1,
      'unsilent_send_attempts_total{channel="sms",purpose="answer"}': 1,
      'unsilent_send_attempts_total{channel="whatsapp",purpose="answer"}': 1,
      'unsilent_attempt_outcomes_total{channel="sms",outcome="accepted",evidence="response"}': 1,
      unsilent_delivery_unknown: 1,
      unsilent_escalations_open: 1,
      unsilent_owed_replies: 0,
    });
  });

  it('keeps counting an accepted send that is delivered, and tells both [C9]', async () => {
    await world.write({ text: 'My sink leaks' });
    await answer(world);
    await world.rows(`update outbox set state = 'delivered'`);
    expect(await scrape()).toMatchObject({
      'unsilent_sends_total{channel="sms",outcome="accepted"}': 1,
      'unsilent_sends_total{channel="sms",outcome="delivered"}': 1,
    });
  });

  it('counts cancellations that were honoured, with their reasons [C9]', async () => {
    await world.write({ text: 'My sink leaks' });
    const { conversationId } = await draftAnswer(world);
    await command(world, conversationId, 'claim');
    const series = await scrape();
    expect(series['unsilent_policy_cancellations_total']).toBe(1);
    const reasons = Object.keys(series).filter((name) => name.includes('cancelled_sends_total{'));
    expect(reasons).toHaveLength(1);
  });

  it('shows each send that must never be: too early, too late, twice [C9] [INV-9] [INV-10]', async () => {
    await world.write({ text: 'My sink leaks' });
    await answer(world);
    const client = await world.database.owner.connect();
    try {
      await client.query(`set session_replication_role = 'replica'`);
      await client.query(`update send_attempts set not_before = started_at + interval '1 ms',
        expires_at = started_at`);
      await client.query(`insert into send_outcomes
        (attempt_id, business_id, send_id, outcome, evidence, recorded_at)
        select attempt_id, business_id, send_id, outcome, 'echo', recorded_at from send_outcomes`);
      expect(await scrape()).toMatchObject({
        unsilent_sends_before_not_before_total: 1,
        unsilent_sends_after_expires_at_total: 1,
        unsilent_duplicate_logical_sends_total: 1,
      });
      await client.query(`delete from send_outcomes where evidence = 'echo'`);
      await client.query(`update send_attempts a set not_before = o.not_before,
        expires_at = o.expires_at from outbox o where o.id = a.send_id`);
    } finally {
      await client.query(`set session_replication_role = 'origin'`);
      client.release();
    }
  });

  it('has a histogram of each stage by channel: bounds inclusive, count and sum exact [C9] [C1]', async () => {
    await world.write({ text: 'My sink leaks' });
    await answer(world);
    await world.rows(`update transport_traces set normalize_ms = 50, decision_ms = 250,
      send_ms = 251, job_claimed_at = ingress_accepted_at + interval '1 second',
      source_event_at = ingress_accepted_at + interval '5 seconds',
      provider_acknowledged_at = ingress_accepted_at + interval '2.5 seconds'`);
    const series = await scrape();
    const bucket = (stage: string, le: string) =>
      series[`unsilent_${stage}_seconds_bucket{channel="sms",le="${le}"}`];
    expect([bucket('normalize', '0.05'), bucket('normalize', '+Inf')]).toEqual([1, 1]);
    expect([bucket('decision', '0.1'), bucket('decision', '0.25')]).toEqual([0, 1]);
    expect([bucket('outbound', '0.25'), bucket('outbound', '0.5')]).toEqual([0, 1]);
    expect([bucket('queue_wait', '0.5'), bucket('queue_wait', '1')]).toEqual([0, 1]);
    expect([bucket('internal_total', '2'), bucket('internal_total', '5')]).toEqual([0, 1]);
    expect(series).toMatchObject({
      'unsilent_internal_total_seconds_sum{channel="sms"}': 2.5,
      'unsilent_internal_total_seconds_count{channel="sms"}': 1,
      // Written after it arrived: skew, counted apart and in no histogram (L2).
      'unsilent_skewed_source_times_total{channel="sms"}': 1,
    });
    expect(series['unsilent_source_to_ingress_seconds_count{channel="sms"}']).toBeUndefined();
  });

  it('counts a burst with one answer as one sample, that of its oldest message [C9] [L1]', async () => {
    await world.write({ text: 'My sink leaks', id: 'SM1' });
    await world.write({ text: 'It leaks a lot', id: 'SM2' });
    await answer(world);
    await world.rows(`update transport_traces
      set provider_acknowledged_at = ingress_accepted_at + interval '1 second'`);
    const series = await scrape();
    expect(series['unsilent_internal_total_seconds_count{channel="sms"}']).toBe(1);
    expect(series['unsilent_normalize_seconds_count{channel="sms"}']).toBe(2);
    expect(series['unsilent_traces_total{channel="sms",outcome="sent"}']).toBe(2);
  });

  it('counts escalations by whether they met their deadline, and time in review [C9] [C7]', async () => {
    await world.write({ text: 'My sink leaks' });
    await answerIntoTheUnknown(world);
    const insert = (level: number, lateBy: string) =>
      world.rows(`insert into escalations
        select id, ${level}, business_id, 'x', opened_at, opened_at + interval '${lateBy}', opened_at
        from work_items`);
    const before = await scrape();
    await insert(21, '5 seconds');
    await insert(22, '5.001 seconds');
    await insert(23, '1 hour');
    await world.rows(`update work_items set resolved_at = opened_at + interval '10 minutes',
      resolved_by = 'agent', resolution = 'arrived', next_escalation_at = null`);
    await world.rows('update conversations set next_due_at = null');
    const series = await scrape();
    const met = (value: string) =>
      (series[`unsilent_escalations_total{met="${value}"}`] ?? 0) -
      (before[`unsilent_escalations_total{met="${value}"}`] ?? 0);
    expect([met('true'), met('false')]).toEqual([1, 2]);
    expect(series).toMatchObject({
      'unsilent_review_seconds_bucket{kind="delivery-unknown",le="300"}': 0,
      'unsilent_review_seconds_bucket{kind="delivery-unknown",le="600"}': 1,
      'unsilent_review_seconds_sum{kind="delivery-unknown"}': 600,
      'unsilent_review_seconds_count{kind="delivery-unknown"}': 1,
      unsilent_escalations_open: 0,
    });
    const client = await world.database.owner.connect();
    await client.query(`set session_replication_role = 'replica'`);
    await client.query('delete from escalations where level > 20');
    await client.query(`set session_replication_role = 'origin'`);
    client.release();
  });

  it('counts what arrived, what came twice, and one id with two contents [C9]', async () => {
    await world.write({ text: 'My sink leaks', id: 'SM1' });
    await world.write({ text: 'My sink leaks', id: 'SM1' });
    await world.write({ text: 'Something else', id: 'SM1' });
    expect(await scrape()).toMatchObject({
      'unsilent_receipts_total{provider="twilio",quarantined="false"}': 1,
      'unsilent_duplicate_elements_total{differs="false",provider="twilio"}': 1,
      'unsilent_duplicate_elements_total{differs="true",provider="twilio"}': 1,
      unsilent_content_conflicts_total: 1,
      unsilent_quarantined_total: 0,
    });
  });

  it('tells what the audit found, 0 for all that it checked, and how old it is [C9] [INV-6]', async () => {
    await world.write({ text: 'My sink leaks' });
    await world.rows(
      'update conversations set owed_since = null, oldest_owed_at = null, overdue_from = null',
    );
    await auditOnce({
      pool: world.database.service,
      clock: world.clock,
      boundMs: 900_000,
      log: { error: () => undefined, fatal: () => undefined },
    });
    world.clock.advance(61_000);
    const series = await scrape();
    expect(series['unsilent_invariant_violations{invariant="INV-6"}']).toBe(1);
    expect(series['unsilent_invariant_violations{invariant="INV-1"}']).toBe(0);
    expect(series['unsilent_invariant_violations{invariant="INV-17b"}']).toBe(0);
    expect(series['unsilent_audit_age_seconds']).toBe(61);
    await world.rows(`update conversations set owed_since = last_token,
      oldest_owed_at = created_at, overdue_from = created_at`);
  });

  it('never lets a counter fall when what it counted is deleted after a rollup [C9] [C11]', async () => {
    await world.write({ text: 'My sink leaks' });
    await answer(world);
    const before = await scrape();
    world.clock.advance(3 * 86_400_000);
    await rollUpFigures(world.database.service, world.clock.iso);
    expect(await scrape()).toMatchObject(totalsOf(before));
    // Twice at once, or again on the same day, adds nothing.
    await Promise.all([
      rollUpFigures(world.database.service, world.clock.iso),
      rollUpFigures(world.database.service, world.clock.iso),
    ]);
    expect(await scrape()).toMatchObject(totalsOf(before));
    const client = await world.database.owner.connect();
    await client.query(`set session_replication_role = 'replica'`);
    for (const table of ['transport_traces', 'send_outcomes', 'send_attempts', 'outbox']) {
      await client.query(`delete from ${table}`);
    }
    await client.query('delete from messages; delete from follow_up_steps');
    await client.query('delete from follow_up_plans; delete from conversations');
    await client.query(`set session_replication_role = 'origin'`);
    client.release();
    expect(await scrape()).toMatchObject(totalsOf(before));
  });

  it('holds no name, number or text of a lead, only ids, channels and words of ours [C8] [INV-22]', async () => {
    await world.write({ text: 'My canary sink leaks', lead: '+13125550188' });
    await answer(world);
    await ageAttempts(world, 1);
    expect(await text()).not.toMatch(/canary|5550188|snd_|msg_|cnv_/);
  });

  /** The counters and histograms of a scrape, without the gauges. */
  function totalsOf(series: Series): Series {
    return Object.fromEntries(
      Object.entries(series).filter(([name]) => /_(total|bucket|sum|count)(\{|$)/.test(name)),
    );
  }
});
