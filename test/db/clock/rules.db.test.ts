import { refreshAgenda } from '../../../db/agenda';
import { applyDeliveryStatus } from '../../../db/delivery-evidence';
import { lockConversation } from '../../../db/conversations';
import { inTransaction } from '../../../db/database';
import { claimSend } from '../../../db/outbox';
import { applyPolicyChanges, type PolicyChanges } from '../../../db/policy-change';
import { isId } from '../../../domain/ids';
import { LEASE_MS } from '../../../domain/limits';
import { DEFAULT_RULES, type PolicyRules } from '../../../domain/policy-rules';
import { ALWAYS_OPEN, storeRules } from '../../support/policies';
import { runUntilIdle } from '../../support/run-until-idle';
import { calledFor, sendsOf } from '../../support/sends';
import { makeWorld, type World } from '../../support/world';
import {
  advanceToFollowUp,
  answeredLead,
  calledUntilRest,
  command,
  conversationOn,
  LEAD,
  openSendOf,
  queuedAnswer,
  writeOnWhatsApp,
} from '../races/scene';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const TEMPLATE = { name: 'sorry', language: 'en_US', text: 'Did our answer reach you?' };
const DELAY = { rule: 'look-busy', minutes: 10 };

describe('the rules of a business', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const setClock = (at: string) => world.clock.advance(Date.parse(at) - world.clock.epochMs);
  const change = (): Promise<PolicyChanges> =>
    applyPolicyChanges(
      world.database.service,
      () => Promise.resolve({ source: 'area-code', zones: ['America/Chicago'] }),
      world.clock.iso,
    );
  const decisions = () =>
    world.rows(
      `select d.id, d.supersedes_id, d.reason, d.rule, d.policy_version, o.state, o.end_reason,
         (extract(epoch from d.not_before - $1::timestamptz) * 1000)::float8 as waits_ms
       from send_decisions d join outbox o on o.id = d.send_id
       order by d.evaluated_at, o.created_at, o.id`,
      [world.clock.iso],
    );

  describe('about when an answer leaves', () => {
    it.each<[string, Partial<PolicyRules>, string, number]>([
      ['a named delay', { answerDelay: DELAY }, 'business-rule-delay', 10],
      ['a window for people', { escalationWindowMinutes: 5 }, 'escalation-window', 5],
    ])(
      '%s holds it, and its hour counts from the end of that [C2] [T5] [INV-9]',
      async (...row) => {
        const [, rules, reason, minutes] = row;
        await storeRules(world, { ...ALWAYS_OPEN, ...rules });
        const { conversationId } = await queuedAnswer(world);
        expect(await decisions()).toEqual([
          expect.objectContaining({ reason, waits_ms: minutes * MINUTE_MS }),
        ]);
        const [row1] = await world.rows(
          `select (extract(epoch from overdue_from - $1::timestamptz) * 1000)::float8 as overdue,
           (select (extract(epoch from expires_at - $1::timestamptz) * 1000)::float8
            from outbox) as expires from conversations`,
          [world.clock.iso],
        );
        expect(row1).toEqual({
          overdue: minutes * MINUTE_MS,
          expires: minutes * MINUTE_MS + HOUR_MS,
        });
        await runUntilIdle(world, conversationId, { forMs: minutes * MINUTE_MS - 1 });
        expect(await calledFor(world)).toEqual([]);
        await runUntilIdle(world, conversationId, { forMs: 1 });
        expect(await calledFor(world)).toEqual(['answer']);
      },
    );

    it('a lead who writes again during a delay does not wait longer for it [C2] [T5]', async () => {
      await storeRules(world, { ...ALWAYS_OPEN, answerDelay: DELAY });
      const { conversationId } = await queuedAnswer(world);
      world.clock.advance(9 * MINUTE_MS);
      await world.write({ text: 'Hello?', lead: LEAD });
      await runUntilIdle(world, conversationId, { forMs: MINUTE_MS - 1 });
      expect(await calledFor(world)).toEqual([]);
      await runUntilIdle(world, conversationId, { forMs: 1 });
      expect(await calledFor(world)).toEqual(['answer']);
    });

    it('a review by a person makes a draft that cannot leave by itself [C2] [T3]', async () => {
      await storeRules(world, { ...ALWAYS_OPEN, manualReview: true });
      const { conversationId } = await queuedAnswer(world);
      expect(await decisions()).toEqual([expect.objectContaining({ reason: 'manual-review' })]);
      await runUntilIdle(world, conversationId, { forMs: 5 * MINUTE_MS });
      expect(await calledFor(world)).toEqual([]);
      expect(await world.rows('select kind from work_items')).toEqual([{ kind: 'approval' }]);
    });
  });

  describe('that changed while something waits', () => {
    it('replace the row in one transaction; both decisions stay, and once is enough [C5] [C2]', async () => {
      const before = await storeRules(world, { ...ALWAYS_OPEN, answerDelay: DELAY });
      const { conversationId } = await queuedAnswer(world);
      const after = await storeRules(world, {
        ...ALWAYS_OPEN,
        answerDelay: { rule: 'look-busy', minutes: 2 },
      });
      expect(await change()).toEqual({ replaced: 1, conversationIds: [conversationId] });
      expect(await change()).toEqual({ replaced: 0, conversationIds: [] });
      const [first, second] = await decisions();
      expect(first).toMatchObject({
        policy_version: before,
        state: 'cancelled',
        end_reason: 'rule_changed',
        waits_ms: 10 * MINUTE_MS,
      });
      expect(second).toMatchObject({
        policy_version: after,
        state: 'queued',
        supersedes_id: first?.['id'],
        waits_ms: 2 * MINUTE_MS,
      });
      await runUntilIdle(world, conversationId, { forMs: 2 * MINUTE_MS });
      expect(await calledFor(world)).toEqual(['answer']);
    });

    it('are brought to what waits by the loop, whoever changed them, and once [C2] [C5]', async () => {
      await storeRules(world, { ...ALWAYS_OPEN, answerDelay: DELAY });
      await queuedAnswer(world);
      expect(await change()).toMatchObject({ replaced: 0 });
      await storeRules(world, ALWAYS_OPEN);
      expect([await change(), await change()]).toMatchObject([{ replaced: 1 }, { replaced: 0 }]);
    });

    it('end a wait, and the ages count from then [C5] [T5]', async () => {
      await storeRules(world, { ...ALWAYS_OPEN, answerDelay: DELAY });
      const { conversationId } = await queuedAnswer(world);
      world.clock.advance(MINUTE_MS);
      await storeRules(world, ALWAYS_OPEN);
      await change();
      const [row] = await world.rows(
        `select overdue_from = $1::timestamptz as now from conversations`,
        [world.clock.iso],
      );
      expect(row).toEqual({ now: true });
      await runUntilIdle(world, conversationId, { forMs: 0 });
      expect(await calledFor(world)).toEqual(['answer']);
    });

    it('move a follow-up that waits [C5] [S6]', async () => {
      setClock('2026-12-01T08:00:00.000Z');
      await storeRules(world, DEFAULT_RULES);
      const id = await answeredLead(world);
      const due = await advanceToFollowUp(world, id);
      await world.activities.writeFollowUp({ conversationId: id, ...due });
      const quietHours = { from: '21:00', to: '10:00' };
      await storeRules(world, { ...DEFAULT_RULES, quietHours });
      expect(await change()).toMatchObject({ replaced: 1 });
      await runUntilIdle(world, id, { forMs: 8 * HOUR_MS - 1 });
      expect(await calledFor(world)).toEqual(['answer']);
      await runUntilIdle(world, id, { forMs: 1 });
      expect(await calledFor(world)).toEqual(['answer', 'follow-up']);
    });

    it('ask for a review now: the row ends and its turn drafts for approval [C5] [T3]', async () => {
      await storeRules(world, { ...ALWAYS_OPEN, answerDelay: DELAY });
      const { conversationId } = await queuedAnswer(world);
      await storeRules(world, { ...ALWAYS_OPEN, manualReview: true });
      expect(await change()).toMatchObject({ replaced: 1 });
      await runUntilIdle(world, conversationId, { forMs: MINUTE_MS });
      expect(await world.rows('select kind from work_items')).toEqual([{ kind: 'approval' }]);
      expect(await calledFor(world)).toEqual([]);
    });

    it('keep a provider’s back-off as it is, under the new version [C5] [C2]', async () => {
      const send = await queuedAnswer(world);
      world.provider.next(() => ({
        kind: 'not-accepted',
        code: '429',
        retry: 'back-off',
        retryAfterMs: 90_000,
        pausesAccount: false,
        optedOut: false,
      }));
      await world.activities.deliver(send);
      const version = await storeRules(world, { ...ALWAYS_OPEN, answerDelay: DELAY });
      const [, standing] = await decisions();
      await change();
      const rows = await decisions();
      expect(rows.at(-1)).toMatchObject({
        reason: 'rate-limit-backoff',
        policy_version: version,
        supersedes_id: standing?.['id'],
        waits_ms: standing?.['waits_ms'],
      });
    });

    // Raced: a worker's claim against the change. Order: as the row says.
    // Must hold: one send leaves, by one row; a lease that is held is left to its worker.
    it.each([
      ['held', 0, 0],
      ['about to end', LEASE_MS - 1, 0],
      ['at its end', LEASE_MS, 1],
    ])('leave a row to the worker whose lease is %s (%i ms): %i [C5] [C4]', async (...row) => {
      const [, laterMs, replaced] = row;
      const { conversationId, sendId } = await queuedAnswer(world);
      if (!isId('snd', sendId)) throw new Error('this is no id of a send');
      const lease = { leaseOwner: 'other', leaseMs: LEASE_MS, now: world.clock.iso };
      await claimSend(world.database.service, { sendId, ...lease });
      world.clock.advance(laterMs);
      await storeRules(world, { ...ALWAYS_OPEN, answerDelay: { rule: 'brief', minutes: 1 } });
      expect((await change()).replaced).toBe(replaced);
      await runUntilIdle(world, conversationId, { forMs: 2 * MINUTE_MS });
      expect(await calledFor(world)).toEqual(['answer']);
    });

    it('meet a delivery at the same time and still send once [C5] [INV-10]', async () => {
      for (let round = 0; round < 6; round += 1) {
        const lead = `+1312555013${String(round)}`;
        const send = await queuedAnswer(world, lead);
        await storeRules(world, { ...ALWAYS_OPEN, followUpDays: [round + 1] });
        await Promise.all([world.activities.deliver(send), change()]);
        await runUntilIdle(world, send.conversationId, { forMs: MINUTE_MS });
        expect(await calledFor(world)).toHaveLength(round + 1);
      }
    });
  });

  describe('about what follows a late failure', () => {
    const fail = (conversationId: string, sendId: string) =>
      inTransaction(world.database.service, async (client) => {
        const locked = await lockConversation(client, conversationId, world.clock.iso);
        if (locked === null) throw new Error('the conversation is gone');
        const report = { status: 'failed', errorCode: '131047', sendId, at: locked.now } as const;
        await applyDeliveryStatus(client, locked.conversation, report);
        await refreshAgenda(client, conversationId, world.clock.iso);
      });
    /** Wrote by SMS two days ago and was answered; today on WhatsApp. */
    const answered = async (rules: Partial<PolicyRules>) => {
      await storeRules(world, { ...ALWAYS_OPEN, followUpDays: [] });
      const smsId = await answeredLead(world);
      world.clock.advance(48 * HOUR_MS);
      await storeRules(world, { ...ALWAYS_OPEN, ...rules });
      await writeOnWhatsApp(world, { text: 'My sink leaks' });
      const whatsapp = await conversationOn(world, 'whatsapp');
      await runUntilIdle(world, whatsapp, { forMs: 0 });
      const [send] = await world.rows(`select id from outbox where channel = 'whatsapp'`);
      return { ids: [whatsapp, smsId], whatsapp, sendId: String(send?.['id']) };
    };

    it.each<[string, Partial<PolicyRules>, string | null]>([
      ['none', {}, null],
      ['a template', { fallback: 'template', templates: { whatsapp: TEMPLATE } }, 'whatsapp'],
      ['another channel', { fallback: 'other-channel' }, 'sms'],
    ])(
      '%s: the item stays, the plan stops, and the fallback leaves once [T3] [S6]',
      async (...row) => {
        const [, rules, channel] = row;
        const { ids, whatsapp, sendId } = await answered(rules);
        await fail(whatsapp, sendId);
        await fail(whatsapp, sendId);
        await runUntilIdle(world, ids, { forMs: HOUR_MS });
        const fallbacks = await world.rows(
          `select channel, state, template ->> 'name' as template from outbox where fallback_for = $1`,
          [sendId],
        );
        const expected = { state: 'accepted', template: channel === 'whatsapp' ? 'sorry' : null };
        expect(fallbacks).toEqual(channel === null ? [] : [{ channel, ...expected }]);
        expect(await calledFor(world)).toHaveLength(channel === null ? 2 : 3);
        const plans = await world.rows(
          'select stop_reason from follow_up_plans where conversation_id = $1',
          [whatsapp],
        );
        expect(plans).toEqual([{ stop_reason: 'delivery_failed' }]);
        expect(await world.rows('select kind from work_items')).toEqual([
          { kind: 'delivery-failed' },
        ]);
      },
    );

    it('a fallback that fails has no fallback of its own [T3]', async () => {
      const rules = { fallback: 'template', templates: { whatsapp: TEMPLATE } } as const;
      const { ids, whatsapp, sendId } = await answered(rules);
      await fail(whatsapp, sendId);
      await runUntilIdle(world, ids, { forMs: MINUTE_MS });
      const [fallback] = await world.rows('select id from outbox where fallback_for is not null');
      await fail(whatsapp, String(fallback?.['id']));
      await runUntilIdle(world, ids, { forMs: MINUTE_MS });
      expect(await calledFor(world)).toHaveLength(3);
    });
  });

  describe('about one person on two channels', () => {
    type Act = (whatsapp: string) => Promise<unknown>;
    it.each<[string, Act]>([
      ['a reply', () => writeOnWhatsApp(world, { text: 'Yes please' })],
      ['a booking', (id) => command(world, id, 'book')],
      ['an opt-out', () => writeOnWhatsApp(world, { text: 'STOP', optOut: 'stop' })],
      ['a takeover', (id) => command(world, id, 'claim')],
    ])(
      '%s on one stops the plan and the waiting follow-up of the other [S6] [INV-11]',
      async (...row) => {
        const [, act] = row;
        await world.write({ text: 'My sink leaks', lead: LEAD });
        await writeOnWhatsApp(world, { text: 'My sink leaks' });
        const ids = [await conversationOn(world, 'sms'), await conversationOn(world, 'whatsapp')];
        await runUntilIdle(world, ids, { forMs: 0 });
        const [sms = '', whatsapp = ''] = ids;
        const due = await advanceToFollowUp(world, sms);
        await world.activities.writeFollowUp({ conversationId: sms, ...due });
        await openSendOf(world, sms, 'follow-up');
        await act(whatsapp);
        const called = await calledUntilRest(world, ...ids);
        expect(called.filter((purpose) => purpose === 'follow-up')).toEqual([]);
        expect(await sendsOf(world, 'follow-up')).toEqual([
          expect.objectContaining({ state: 'cancelled' }),
        ]);
        const plans = await world.rows('select stopped_at from follow_up_plans');
        expect(plans.every((plan) => plan['stopped_at'] !== null)).toBe(true);
      },
    );
  });
});
