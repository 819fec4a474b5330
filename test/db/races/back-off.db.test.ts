import type { SendOutcome } from '../../../domain/sending';
import { runUntilIdle } from '../../support/run-until-idle';
import { calledFor, sendsOf } from '../../support/sends';
import { makeWorld, type World } from '../../support/world';
import {
  answeredLead,
  calledUntilRest,
  conversationOn,
  queuedAnswer,
  writeOnWhatsApp,
} from './scene';

type NotAccepted = Extract<SendOutcome, { kind: 'not-accepted' }>;

const HOUR_MS = 3_600_000;

describe('a send that was definitely not accepted', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => {
    jest.restoreAllMocks();
    return world.reset();
  });
  afterAll(() => world.close());

  function refuse(times: number, change: Partial<NotAccepted> = {}): void {
    for (let count = 0; count < times; count += 1) {
      world.provider.next(() => ({
        kind: 'not-accepted',
        code: '503',
        retry: 'back-off',
        retryAfterMs: null,
        pausesAccount: false,
        optedOut: false,
        ...change,
      }));
    }
  }

  /** How long after the one before it each attempt was permitted, in milliseconds. */
  const gapsMs = async () => {
    const rows = await world.rows(
      `select (extract(epoch from started_at - lag(started_at) over (order by number)) * 1000)::float8
         as gap from send_attempts where purpose = 'answer' order by number`,
    );
    return rows.slice(1).map((row) => Number(row['gap']));
  };
  const withoutJitter = () => jest.spyOn(Math, 'random').mockReturnValue(0);

  it('is tried again after 1, 5, 30 and 120 s, and then a person has it [C5] [IN4] [T6]', async () => {
    withoutJitter();
    refuse(5);
    const { conversationId } = await queuedAnswer(world);
    expect(await calledUntilRest(world, conversationId)).toEqual(Array(5).fill('answer'));
    expect(await gapsMs()).toEqual([1_000, 5_000, 30_000, 120_000]);
    expect(await sendsOf(world)).toEqual([
      expect.objectContaining({ state: 'failed', reason: '503' }),
    ]);
    expect(await world.rows('select kind, reason, resolved_at from work_items')).toEqual([
      { kind: 'handoff', reason: 'replays_exhausted', resolved_at: null },
    ]);
    expect(await world.conversation()).toMatchObject({ state: 'paused', owed_since: null });
  });

  it('keeps its row and key; each wait is a decision that supersedes the one before [C5] [C2]', async () => {
    withoutJitter();
    refuse(2);
    const { conversationId, sendId } = await queuedAnswer(world);
    const identity = 'select id, idempotency_key, source_event from outbox';
    const before = await world.rows(identity);
    await runUntilIdle(world, conversationId, { forMs: HOUR_MS });
    expect(await world.rows(identity)).toEqual(before);
    const decisions = await world.rows(
      `select d.reason, d.send_id, d.supersedes_id = lag(d.id) over (order by d.evaluated_at)
           as follows, d.expires_at = first_value(d.expires_at) over (order by d.evaluated_at)
           as keeps_expiry, o.decision_id = d.id as present
       from send_decisions d join outbox o on o.id = d.send_id order by d.evaluated_at`,
    );
    const decision = { send_id: sendId, keeps_expiry: true };
    expect(decisions).toEqual([
      { ...decision, reason: 'immediate-first-response', follows: null, present: false },
      { ...decision, reason: 'rate-limit-backoff', follows: true, present: false },
      { ...decision, reason: 'rate-limit-backoff', follows: true, present: true },
    ]);
    expect(await sendsOf(world)).toEqual([expect.objectContaining({ state: 'accepted' })]);
    const settled = await world.rows("select settlement from messages where direction = 'in'");
    expect(settled).toEqual([{ settlement: 'reply' }]);
  });

  it('waits as long as the provider asks, and never less [C5] [IN4]', async () => {
    withoutJitter();
    refuse(1, { code: '429', retryAfterMs: 45_000 });
    const { conversationId } = await queuedAnswer(world);
    await runUntilIdle(world, conversationId, { forMs: HOUR_MS });
    expect(await gapsMs()).toEqual([45_000]);
  });

  it('is not sent after its hour: it expires into a person’s hands [C2] [INV-9] [T6]', async () => {
    refuse(1, { code: '429', retryAfterMs: 2 * HOUR_MS });
    const { conversationId } = await queuedAnswer(world);
    expect(await calledUntilRest(world, conversationId)).toEqual(['answer']);
    expect(await sendsOf(world)).toEqual([
      expect.objectContaining({ state: 'cancelled', reason: 'expired' }),
    ]);
    expect(await world.rows('select kind, reason from work_items')).toEqual([
      { kind: 'handoff', reason: 'reply_overdue' },
    ]);
  });

  it('goes to a person at once where trying again is useless [C5] [T6]', async () => {
    refuse(1, { code: '21211', retry: 'never' });
    const { conversationId } = await queuedAnswer(world);
    expect(await calledUntilRest(world, conversationId)).toEqual(['answer']);
    expect(await sendsOf(world)).toEqual([
      expect.objectContaining({ state: 'failed', reason: '21211' }),
    ]);
    expect(await world.rows('select kind, reason from work_items')).toEqual([
      { kind: 'handoff', reason: 'policy_requires_human' },
    ]);
  });

  it('does not make a newer message wait for its back-off [C5] [P4b]', async () => {
    refuse(1, { code: '429', retryAfterMs: 120_000 });
    const { conversationId } = await queuedAnswer(world);
    await runUntilIdle(world, conversationId, { forMs: 6_000 });
    await world.write({ text: 'It is getting worse' });
    await runUntilIdle(world, conversationId, { forMs: 1_000 });
    const settled = await world.rows("select settlement from messages where direction = 'in'");
    expect(settled).toEqual([{ settlement: 'reply' }, { settlement: 'reply' }]);
    expect(await sendsOf(world)).toEqual([
      expect.objectContaining({ state: 'cancelled', reason: 'newer_inbound' }),
      expect.objectContaining({ state: 'accepted' }),
    ]);
  });

  it('was no contact: what the lead writes next is not yet a reply [S1]', async () => {
    refuse(1, { retryAfterMs: 60_000 });
    const { conversationId } = await queuedAnswer(world);
    await runUntilIdle(world, conversationId, { forMs: 1_000 });
    await world.write({ text: 'Are you there?' });
    expect(await world.conversation()).toMatchObject({ state: 'active' });
    await runUntilIdle(world, conversationId, { forMs: 1_000 });
    await world.write({ text: 'Thanks' });
    expect(await world.conversation()).toMatchObject({ state: 'replied' });
  });

  describe('because the account’s credentials are refused', () => {
    const refuseCredentials = () => refuse(1, { code: '401', pausesAccount: true });
    const paused = () =>
      world.rows('select channel from accounts where paused_at is not null order by channel');

    it('pauses that account alone; the others go on [IN4]', async () => {
      refuseCredentials();
      const { conversationId } = await queuedAnswer(world);
      await runUntilIdle(world, conversationId, { forMs: 60_000 });
      expect(await paused()).toEqual([{ channel: 'sms' }]);
      expect(await calledFor(world)).toEqual(['answer']);
      await writeOnWhatsApp(world, { text: 'Hello', lead: '+13125550143' });
      const whatsApp = await conversationOn(world, 'whatsapp');
      await runUntilIdle(world, whatsApp, { forMs: 0 });
      expect(world.provider.accepted.map((call) => call.channel)).toEqual(['whatsapp']);
    });

    it('opens one item for the operators, however many sends meet it [IN4]', async () => {
      const first = await queuedAnswer(world, '+13125550143');
      const second = await queuedAnswer(world, '+13125550144');
      refuse(2, { code: '401', pausesAccount: true });
      const held = world.activities.deliver(first);
      await Promise.all([held, world.activities.deliver(second)]);
      expect(await world.rows('select kind, assigned_queue from work_items')).toEqual([
        { kind: 'credentials', assigned_queue: 'operators' },
      ]);
    });

    it('leaves once they are mended within the hour, and with nobody asked again before [IN4]', async () => {
      refuseCredentials();
      const { conversationId } = await queuedAnswer(world);
      await runUntilIdle(world, conversationId, { forMs: 30 * 60_000 });
      expect(await calledFor(world)).toEqual(['answer']);
      await world.rows('update accounts set paused_at = null, paused_reason = null');
      await runUntilIdle(world, conversationId, { forMs: 60_000 });
      expect(await calledFor(world)).toEqual(['answer', 'answer']);
      expect(await sendsOf(world)).toEqual([expect.objectContaining({ state: 'accepted' })]);
    });

    it('is with a person after the hour [IN4] [T6]', async () => {
      refuseCredentials();
      const { conversationId } = await queuedAnswer(world);
      expect(await calledUntilRest(world, conversationId)).toEqual(['answer']);
      const items = await world.rows('select kind, reason from work_items order by opened_at, id');
      expect(items).toEqual([
        { kind: 'credentials', reason: '401' },
        { kind: 'handoff', reason: 'reply_overdue' },
      ]);
    });

    it('holds even a claimed send at the gate, and gives it back unharmed [IN4] [S3]', async () => {
      await answeredLead(world, '+13125550145');
      const send = await queuedAnswer(world, '+13125550146');
      world.failpoints['deliver:claimed'] = async () => {
        await world.rows("update accounts set paused_at = now() where channel = 'sms'");
      };
      await world.activities.deliver(send);
      const [row] = await world.rows('select state from outbox where id = $1', [send.sendId]);
      expect(row).toEqual({ state: 'queued' });
      expect(await calledFor(world)).toEqual(['answer']);
    });
  });
});
