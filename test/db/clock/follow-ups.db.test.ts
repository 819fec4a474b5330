import { DEMO_BUSINESS } from '../../../dev/demo';
import { inTransaction } from '../../../db/database';
import { storePolicy } from '../../../db/policies';
import { readTimeline } from '../../../db/queries/conversation-timeline';
import { timelineOf } from '../../../domain/timeline';
import { DEFAULT_RULES } from '../../../domain/policy-rules';
import { storeRules } from '../../support/policies';
import { runUntilIdle } from '../../support/run-until-idle';
import { calledFor, sendsOf } from '../../support/sends';
import { makeWorld, type World } from '../../support/world';
import {
  advanceToFollowUp,
  answeredLead,
  conversationOn,
  LEAD,
  writeOnWhatsApp,
} from '../races/scene';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const TEMPLATE = { name: 'check_in', language: 'en_US', text: 'Do you still need us?' };

describe('a follow-up and its hours', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const setClock = (at: string) => world.clock.advance(Date.parse(at) - world.clock.epochMs);
  const startsAt = async (purpose: string) => {
    const rows = await world.rows(
      `select started_at from send_attempts where purpose = $1 order by started_at`,
      [purpose],
    );
    return rows.map((row) => new Date(String(row['started_at'])).toISOString());
  };

  /** What the timeline says of the sends that wait, as the staff API reads it. */
  async function comingUp(conversationId: string): Promise<string[]> {
    const { id: businessId, timeZone } = DEMO_BUSINESS;
    const { facts } = await inTransaction(world.database.service, (client) =>
      readTimeline(client, businessId, conversationId),
    );
    const entries = timelineOf({ channel: 'sms', timeZone, ...facts });
    const waiting = entries.filter(({ upcoming, kind }) => upcoming && kind === 'decision');
    return waiting.map(({ text }) => text);
  }

  it('an SMS at 02:00 is answered at 02:00, and its follow-up waits until 08:00, to the millisecond [S6] [C2] [INV-14]', async () => {
    await storeRules(world, DEFAULT_RULES);
    setClock('2026-12-01T08:00:00.000Z');
    const id = await answeredLead(world);
    expect(await startsAt('answer')).toEqual(['2026-12-01T08:00:00.000Z']);
    await runUntilIdle(world, id, { forMs: DAY_MS + 6 * HOUR_MS - 1 });
    expect(await sendsOf(world, 'follow-up')).toEqual([
      expect.objectContaining({ state: 'queued' }),
    ]);
    expect(await calledFor(world)).toEqual(['answer']);
    expect(await comingUp(id)).toEqual([
      "Follow-up. Waits until Wed 08:00 (recipient's time, America/Chicago): quiet hours from 21:00 to 08:00.",
    ]);
    await runUntilIdle(world, id, { forMs: 1 });
    expect(await startsAt('follow-up')).toEqual(['2026-12-02T14:00:00.000Z']);
    const [decision] = await world.rows(
      `select inputs from send_decisions where rule = 'follow-up-day-1'`,
    );
    expect(decision?.['inputs']).toMatchObject({
      movedBy: 'quiet-hours',
      recipientZones: 'America/Chicago',
      zoneSource: 'area-code',
    });
  });

  it.each([
    [
      'Honolulu, four hours behind',
      '+18085550142',
      '2026-12-01T16:00:00Z',
      '2026-12-02T18:00:00.000Z',
    ],
    ['New York, an hour ahead', '+12125550142', '2026-12-01T13:30:00Z', '2026-12-02T13:30:00.000Z'],
    ['the night of the spring change', LEAD, '2027-03-13T08:30:00Z', '2027-03-14T13:00:00.000Z'],
    ['the night of the autumn change', LEAD, '2027-11-06T06:30:00Z', '2027-11-07T14:00:00.000Z'],
    ['February 29', LEAD, '2028-02-28T09:00:00Z', '2028-02-29T14:00:00.000Z'],
    ['the turn of the year', LEAD, '2026-12-31T05:30:00Z', '2027-01-01T14:00:00.000Z'],
  ])('keeps the recipient’s night: %s [INV-14] [LV-7] [S6]', async (...row) => {
    const [, lead, answeredAt, expected] = row;
    await storeRules(world, DEFAULT_RULES);
    setClock(answeredAt);
    const id = await answeredLead(world, lead);
    await runUntilIdle(world, id, { forMs: 2 * DAY_MS });
    expect((await startsAt('follow-up'))[0]).toBe(expected);
  });

  // Raced: quiet hours against a follow-up that waits in the outbox while automation is off.
  // Order: due at 20:59; the switch is on again at the given instant.
  // Must hold: no start in quiet hours; the row stays, under a decision that supersedes.
  it.each([
    ['1 ms before 21:00', 59_999, '2026-12-02T02:59:59.999Z', 1],
    ['exactly at 21:00', 60_000, '2026-12-02T14:00:00.000Z', 2],
    ['at 23:00', 2 * HOUR_MS + 60_000, '2026-12-02T14:00:00.000Z', 2],
  ])('that a queue held back until %s is looked at again [INV-14] [C2]', async (...row) => {
    const [, heldMs, expected, decisions] = row;
    await storeRules(world, DEFAULT_RULES);
    setClock('2026-12-01T02:59:00.000Z');
    const id = await answeredLead(world);
    const due = await advanceToFollowUp(world, id);
    await world.activities.writeFollowUp({ conversationId: id, ...due });
    world.clock.advance(heldMs);
    await runUntilIdle(world, id, { forMs: 12 * HOUR_MS });
    expect(await startsAt('follow-up')).toEqual([expected]);
    const rows = await world.rows(
      `select d.supersedes_id, d.id from send_decisions d join outbox o on o.id = d.send_id
       where o.purpose = 'follow-up' order by d.evaluated_at`,
    );
    expect(rows).toHaveLength(decisions);
    if (decisions === 2) expect(rows[1]?.['supersedes_id']).toBe(rows[0]?.['id']);
  });

  it('outside the window leaves as an approved template, in its own form [S6]', async () => {
    await storeRules(world, { ...DEFAULT_RULES, templates: { whatsapp: TEMPLATE } });
    world.provider.replyWindowMs = DAY_MS;
    setClock('2026-11-30T18:00:00.000Z');
    await writeOnWhatsApp(world, { text: 'My sink leaks' });
    const id = await conversationOn(world, 'whatsapp');
    await runUntilIdle(world, id);
    expect(await calledFor(world)).toEqual(['answer', 'follow-up', 'follow-up', 'follow-up']);
    expect(world.provider.calls.map((call) => call.template?.name ?? null)).toEqual([
      ...[null, null, TEMPLATE.name, TEMPLATE.name],
    ]);
    expect((await startsAt('follow-up'))[0]).toBe('2026-12-01T17:30:00.000Z');
    expect(await world.rows('select id from work_items')).toEqual([]);
  });

  const onBothChannels = async () => {
    await storeRules(world, DEFAULT_RULES);
    const own = { ...DEFAULT_RULES, followUpDays: [] };
    const { id: businessId } = DEMO_BUSINESS;
    const sms = { businessId, version: 'test-sms', channel: 'sms', accountId: null, rules: own };
    await storePolicy(world.database.service, sms, world.clock.iso);
    world.provider.replyWindowMs = DAY_MS;
    world.provider.windowless.add('sms');
    setClock('2026-11-30T18:00:00.000Z');
    await world.write({ text: 'My sink leaks', lead: LEAD });
    await writeOnWhatsApp(world, { text: 'My sink leaks' });
    const ids = [await conversationOn(world, 'sms'), await conversationOn(world, 'whatsapp')];
    await runUntilIdle(world, ids, { forMs: HOUR_MS });
    return ids;
  };

  it('outside the window, without a template, goes to another channel on which the person wrote [S6]', async () => {
    const ids = await onBothChannels();
    // The relay wakes a conversation for what another one queued in it; here each look does.
    for (let look = 0; look < 36; look += 1) await runUntilIdle(world, ids, { forMs: 6 * HOUR_MS });
    const rows = await world.rows(
      `select channel from outbox where purpose = 'follow-up' and state = 'accepted'
       order by created_at`,
    );
    expect(rows.map(({ channel }) => channel)).toEqual(['whatsapp', 'sms', 'sms']);
    expect(await world.rows('select id from work_items')).toEqual([]);
  });

  it('is not carried to a channel of somebody who once opted out; a person follows up [S6] [INV-13]', async () => {
    const ids = await onBothChannels();
    await world.rows(
      `update messages set opt_out = 'stop' where author = 'lead' and account_id in
       (select id from accounts where channel = 'sms')`,
    );
    await runUntilIdle(world, ids);
    expect(await sendsOf(world, 'follow-up')).toHaveLength(1);
    expect(await world.rows('select kind, reason from work_items')).toEqual(
      Array(2).fill({ kind: 'follow-up-by-hand', reason: 'window_closed' }),
    );
  });

  // The trap: a sweep of many follow-ups that takes minutes, with windows closing in its middle.
  // Must hold: time is read per send; nothing starts at or behind its window's end; whoever missed
  // it is with a person; one call per lead although each delivery is asked for twice.
  it('of a sweep is judged by its own clock, when windows close in the middle [S6] [INV-9]', async () => {
    await storeRules(world, DEFAULT_RULES);
    world.provider.replyWindowMs = DAY_MS;
    setClock('2026-11-30T18:00:00.000Z');
    const leads = Array.from({ length: 12 }, (_, index) => `+13125550${String(110 + index)}`);
    for (const lead of leads) await writeOnWhatsApp(world, { text: 'My sink leaks', lead });
    const conversations = await world.rows('select id from conversations order by id');
    const ids = conversations.map(({ id }) => String(id));
    await runUntilIdle(world, ids, { forMs: 23 * HOUR_MS });
    for (const id of ids) {
      const due = await world.rows(
        `select plan_id, step from follow_up_steps where conversation_id = $1 and step = 1`,
        [id],
      );
      setClock('2026-12-01T17:30:00.000Z');
      const [step] = due;
      await world.activities.writeFollowUp({
        conversationId: id,
        planId: String(step?.['plan_id']),
        step: 1,
      });
    }
    const sends = await world.rows(
      `select id, conversation_id from outbox where purpose = 'follow-up'`,
    );
    for (const send of sends) {
      const ref = { conversationId: String(send['conversation_id']), sendId: String(send['id']) };
      await world.activities.deliver(ref);
      await world.activities.deliver(ref);
      world.clock.advance(4 * MINUTE_MS);
    }
    const started = await startsAt('follow-up');
    expect(started).toHaveLength(8);
    expect(started.every((at) => at < '2026-12-01T18:00:00.000Z')).toBe(true);
    await runUntilIdle(world, ids, { forMs: MINUTE_MS });
    const items = await world.rows(
      `select count(*)::int as n from work_items where kind = 'follow-up-by-hand'`,
    );
    expect(items).toEqual([{ n: 4 }]);
  });

  it('is planned inside the window also where the record came late [S6] [T8]', async () => {
    await storeRules(world, DEFAULT_RULES);
    world.provider.replyWindowMs = DAY_MS;
    setClock('2026-11-30T18:00:00.000Z');
    await world.write({ text: 'My sink leaks', lead: LEAD });
    const { id } = await world.conversation(LEAD);
    let failures = 0;
    world.failpoints['deliver:marked'] = () => {
      failures += 1;
      throw new Error('Postgres refuses the record');
    };
    await runUntilIdle(world, id, { forMs: 0 });
    expect(failures).toBe(1);
    const [step] = await world.rows('select due_at from follow_up_steps where step = 1');
    expect(new Date(String(step?.['due_at'])).toISOString()).toBe('2026-12-01T17:30:00.000Z');
  });
});
