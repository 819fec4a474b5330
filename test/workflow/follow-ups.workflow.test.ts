import { Temporal } from 'temporal-polyfill';
import { runStaffCommand } from '../../db/commands/run';
import { newId } from '../../db/new-id';
import { DEMO_BUSINESS } from '../../dev/demo';
import { DEFAULT_RULES } from '../../domain/policy-rules';
import { calledFor } from '../support/sends';
import { storeRules } from '../support/policies';
import { eventually, makeTemporalWorld, type TemporalWorld } from '../support/temporal-world';
import { conversationOn, writeOnWhatsApp } from '../db/races/scene';
import { answeredLead, calledUntilRest, command, nowMs } from './races/scene';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const CHICAGO = 'America/Chicago';

/** The policy clock through a real workflow, in the time-skipping environment. */
describe('follow-ups, through the workflow', () => {
  let temporal: TemporalWorld;
  beforeAll(async () => {
    temporal = await makeTemporalWorld();
  });
  afterEach(() => temporal.world.reset());
  afterAll(() => temporal.close());

  const localOf = (epochMs: number) =>
    Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(CHICAGO);

  /** Skips to the next time that the wall in Chicago shows `time`. */
  async function skipToLocal(time: string): Promise<void> {
    const now = localOf(await nowMs(temporal));
    const wanted = now
      .add({ days: 1 })
      .toPlainDate()
      .toZonedDateTime({ timeZone: CHICAGO, plainTime: time });
    await temporal.skip(wanted.epochMilliseconds - now.epochMilliseconds);
  }

  async function startsOf(purpose: string): Promise<Temporal.ZonedDateTime[]> {
    const rows = await temporal.world.rows(
      `select (extract(epoch from started_at) * 1000)::float8 as ms from send_attempts
       where purpose = $1 order by started_at`,
      [purpose],
    );
    return rows.map(({ ms }) => localOf(Math.floor(Number(ms))));
  }

  const minuteOf = (at: Temporal.ZonedDateTime | undefined) =>
    at?.toPlainTime().toString({ smallestUnit: 'minute' });
  const accepted = (times: number) =>
    eventually(
      () => temporal.world.provider.accepted.length === times,
      `the provider accepted ${times}`,
    );

  it('an SMS at 02:00 is answered at once; a follow-up that is due at 02:00 waits until 08:00 [S6] [C2] [INV-14]', async () => {
    await storeRules(temporal.world, { ...DEFAULT_RULES, followUpDays: [1] });
    await skipToLocal('02:00');
    const id = await answeredLead(temporal, '+13125550180');
    expect(minuteOf((await startsOf('answer'))[0])).toBe('02:00');
    await temporal.skip(DAY_MS + 5 * HOUR_MS);
    await eventually(async () => {
      const waiting = await temporal.world.rows(
        `select from outbox where purpose = 'follow-up' and state = 'queued'`,
      );
      return waiting.length === 1;
    }, 'the follow-up waits in the outbox');
    expect(await calledFor(temporal.world)).toEqual(['answer']);
    expect(await calledUntilRest(temporal, id)).toEqual(['answer', 'follow-up']);
    expect(minuteOf((await startsOf('follow-up'))[0])).toBe('08:00');
  });

  it('the days 1, 3 and 7 after the answer each bring one follow-up, at its local time [S6]', async () => {
    const id = await answeredLead(temporal, '+13125550181');
    const called = await calledUntilRest(temporal, id);
    expect(called).toEqual(['answer', 'follow-up', 'follow-up', 'follow-up']);
    const [answer] = await startsOf('answer');
    const days = (await startsOf('follow-up')).map((at) =>
      answer?.toPlainDate().until(at.toPlainDate()).total('days'),
    );
    expect(days).toEqual([1, 3, 7]);
  });

  async function wakeAll(result: {
    wake: readonly Parameters<TemporalWorld['waker']['wake']>[0][];
  }) {
    for (const target of result.wake) await temporal.waker.wake(target, 'inbound');
  }

  const onWhatsApp = async (lead: string, text: string, optOut: 'stop' | null = null) =>
    wakeAll(
      await writeOnWhatsApp(
        temporal.world,
        { text, lead, optOut },
        new Date(await nowMs(temporal)).toISOString(),
      ),
    );

  async function close(conversationId: string): Promise<void> {
    const [row] = await temporal.world.rows('select last_seq from conversations where id = $1', [
      conversationId,
    ]);
    const result = await runStaffCommand(
      temporal.world.database.staff,
      {
        businessId: DEMO_BUSINESS.id,
        role: 'agent',
        command: 'close',
        conversationId,
        idempotencyKey: newId('cmd'),
        seenSeq: Number(row?.['last_seq']),
      },
      new Date(await nowMs(temporal)).toISOString(),
    );
    if (result.kind === 'refused') throw new Error(result.detail);
  }

  // Raced: nothing; a person on two channels, and a plan on the one that stays silent.
  // Must hold: whatever happens on either stops the plans of both, for good.
  type Act = (lead: string, on: string) => Promise<unknown>;
  it.each<[string, string, string, Act]>([
    ['a reply', 'whatsapp', '+13125550182', (lead) => onWhatsApp(lead, 'Yes please')],
    ['a booking', 'whatsapp', '+13125550183', (_lead, on) => command(temporal, on, 'book')],
    ['a booking', 'sms', '+13125550184', (_lead, on) => command(temporal, on, 'book')],
    ['an opt-out', 'whatsapp', '+13125550185', (lead) => onWhatsApp(lead, 'STOP', 'stop')],
    ['a takeover', 'whatsapp', '+13125550186', (_lead, on) => command(temporal, on, 'claim')],
    ['a closing', 'whatsapp', '+13125550187', (_lead, on) => close(on)],
    ['a closing', 'sms', '+13125550188', (_lead, on) => close(on)],
  ])('%s on %s stops the plans on every channel [S6] [INV-11]', async (...row) => {
    const [, channel, lead, act] = row;
    const { world } = temporal;
    const result = await world.write({ text: 'My sink leaks', lead });
    const at = new Date(await nowMs(temporal)).toISOString();
    const other = await writeOnWhatsApp(world, { text: 'My sink leaks', lead }, at);
    await wakeAll(result);
    await wakeAll(other);
    await accepted(2);
    await eventually(async () => {
      const plans = await world.rows('select from follow_up_plans where stopped_at is null');
      return plans.length === 2;
    }, 'both plans stand');
    await temporal.skip(HOUR_MS);
    await act(lead, await conversationOn(world, channel));
    await temporal.skip('9 days');
    const called = await calledFor(world);
    expect(called.filter((purpose) => purpose === 'follow-up')).toEqual([]);
    const plans = await world.rows('select from follow_up_plans where stopped_at is null');
    expect(plans).toEqual([]);
  });

  // The trap: many follow-ups become free at once while windows close one after the other.
  // Order: four leads, ten minutes apart; automation is off when day 1 is due, and on again when
  // two of the four windows have closed.
  // Must hold: the time of each send decides; the other two are with a person.
  it('of a sweep leave only inside their windows, which close in its middle [S6] [INV-9]', async () => {
    const { world, waker } = temporal;
    world.provider.replyWindowMs = DAY_MS;
    const firstMs = await nowMs(temporal);
    for (const lead of ['+13125550190', '+13125550191', '+13125550192', '+13125550193']) {
      await answeredLead(temporal, lead);
      await temporal.skip(10 * MINUTE_MS);
    }
    await world.rows('update businesses set automation_enabled = false');
    await temporal.skip(firstMs + DAY_MS + 15 * MINUTE_MS - (await nowMs(temporal)));
    await eventually(async () => {
      const waiting = await world.rows(`select from outbox where purpose = 'follow-up'`);
      return waiting.length === 4;
    }, 'the follow-ups wait');
    await world.rows('update businesses set automation_enabled = true');
    const targets = await world.rows(
      'select id, business_id as "businessId", channel, state, owner from conversations',
    );
    for (const target of targets) await waker.wake(target as never, 'relay');
    await accepted(6);
    await eventually(async () => {
      const items = await world.rows(
        `select from work_items where kind = 'follow-up-by-hand' and reason = 'window_closed'`,
      );
      return items.length === 2;
    }, 'two are for a person');
    expect((await calledFor(world)).slice(4)).toEqual(['follow-up', 'follow-up']);
  });
});
