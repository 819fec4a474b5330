import { prepared, requestOf, smsElement } from '../../support/inbound';
import { heldAt, pauseAt } from '../../support/barrier';
import { runUntilIdle } from '../../support/run-until-idle';
import { calledFor, sendsOf } from '../../support/sends';
import { ingest } from '../../../db/ingest/ingest';
import { makeWorld, type World } from '../../support/world';
import {
  answeredLead,
  calledUntilRest,
  command,
  conversationOn,
  openSendOf,
  queuedAnswer,
  writeOnWhatsApp,
} from './scene';

describe('a person who opted out', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const stop = () => world.write({ text: 'STOP', optOut: 'stop' });
  const lastSettlement = async () => {
    const rows = await world.rows(
      "select settlement, settlement_reason from messages where direction = 'in' order by seq desc limit 1",
    );
    return rows[0];
  };

  it('gets one confirmation, and nothing after it, however often they say it [INV-13] [S1]', async () => {
    const id = await answeredLead(world);
    await stop();
    await runUntilIdle(world, id, { forMs: 1_000 });
    await stop();
    await runUntilIdle(world, id, { forMs: 1_000 });
    await stop();
    expect(await calledUntilRest(world, id)).toEqual(['answer', 'opt-out-confirmation']);
    expect(await lastSettlement()).toEqual({
      settlement: 'no-answer',
      settlement_reason: 'opted_out',
    });
    expect(await world.conversation()).toMatchObject({ state: 'opted_out', owed_since: null });
  });

  it('goes to a person when they write again, never to automation [INV-13] [S6]', async () => {
    const id = await answeredLead(world);
    await stop();
    await runUntilIdle(world, id, { forMs: 1_000 });
    await world.write({ text: 'Actually, what would it cost?' });
    expect(await calledUntilRest(world, id)).toEqual(['answer', 'opt-out-confirmation']);
    expect(await lastSettlement()).toMatchObject({ settlement: 'work-item' });
    expect(await world.rows('select kind, reason from work_items')).toEqual([
      { kind: 'handoff', reason: 'policy_requires_human' },
    ]);
  });

  // Raced: the opt-out against the answer to the message before it.
  // Order: the answer waits, or its worker is held at `deliver:claimed`; the opt-out commits.
  // Must hold: the answer never leaves; the confirmation alone does.
  it.each(['queued', 'claimed'])(
    'does not get the answer that was %s when they did [INV-13] [S4]',
    async (where) => {
      const send = await queuedAnswer(world);
      if (where === 'claimed') {
        world.failpoints['deliver:claimed'] = async () => {
          await stop();
        };
      } else {
        await stop();
      }
      await world.activities.deliver(send);
      world.failpoints = {};
      world.clock.advance(1);
      expect(await calledUntilRest(world, send.conversationId)).toEqual(['opt-out-confirmation']);
      expect(await sendsOf(world, 'answer')).toEqual([
        expect.objectContaining({ state: 'cancelled', reason: 'opted_out' }),
      ]);
    },
  );

  // Raced: the opt-out on one channel against the answer on another.
  // Order: the answer waits, its worker is held at `deliver:claimed`, or it is in the provider's
  // hands; the opt-out commits on the other channel; then it goes on.
  // Must hold: what the gate had not permitted never leaves, and its debt goes to a person.
  it.each([
    ['queued', []],
    ['claimed', []],
    ['in flight', ['answer']],
  ])(
    'is not answered on another channel either, where the answer was %s [INV-13]',
    async (where, called) => {
      await answeredLead(world);
      await writeOnWhatsApp(world, { text: 'Are you there?' });
      const conversationId = await conversationOn(world, 'whatsapp');
      await world.activities.takeTurn({ conversationId });
      const send = { conversationId, sendId: await openSendOf(world, conversationId, 'answer') };
      world.clock.advance(1);
      if (where === 'queued') await stop();
      if (where === 'claimed') {
        world.failpoints['deliver:claimed'] = async () => {
          await stop();
        };
      }
      if (where === 'in flight') {
        world.provider.next(async (request) => {
          await stop();
          return world.provider.accept(request);
        });
      }
      await world.activities.deliver(send);
      world.failpoints = {};
      world.clock.advance(1);
      const sms = await conversationOn(world, 'sms');
      expect(await calledUntilRest(world, sms, conversationId)).toEqual([
        'answer',
        ...called,
        'opt-out-confirmation',
      ]);
      const [message] = await world.rows(
        "select settlement from messages where conversation_id = $1 and direction = 'in'",
        [conversationId],
      );
      expect(message).toEqual({ settlement: called.length > 0 ? 'reply' : 'work-item' });
    },
  );

  it('stays opted out on an address that is added later [INV-13] [S6]', async () => {
    const id = await answeredLead(world);
    await stop();
    await runUntilIdle(world, id, { forMs: 1_000 });
    const { element } = smsElement({ text: 'Hi, it is me on WhatsApp', id: 'wamid.later' });
    if (element.type !== 'message') throw new Error('a lead’s message is one');
    const added = prepared({
      ...element,
      channel: 'whatsapp',
      accountExternalId: '300000000000003',
      from: [{ kind: 'whatsapp-user', value: 'US.1000200030004000' }, ...element.from],
    });
    await ingest(world.database.service, requestOf([added], 'meta'), world.clock.iso);
    expect(await world.rows('select from addresses where opted_out_at is null')).toEqual([]);
    const whatsApp = await conversationOn(world, 'whatsapp');
    expect(await calledUntilRest(world, id, whatsApp)).toEqual(['answer', 'opt-out-confirmation']);
    expect(await world.rows("select kind from work_items where kind = 'handoff'")).toHaveLength(1);
  });

  it('opts in only by their own word, and may opt out again with a new confirmation [S1] [INV-13]', async () => {
    const id = await answeredLead(world);
    await stop();
    await runUntilIdle(world, id, { forMs: 1_000 });
    await world.write({ text: 'START', optOut: 'start' });
    expect(await world.conversation()).toMatchObject({ state: 'active' });
    await runUntilIdle(world, id, { forMs: 1_000 });
    await stop();
    world.clock.advance(1);
    expect(await calledUntilRest(world, id)).toEqual([
      'answer',
      'opt-out-confirmation',
      'answer',
      'opt-out-confirmation',
    ]);
  });

  it('opts in on every channel, whichever of them the word came through [S1] [INV-13]', async () => {
    const sms = await answeredLead(world);
    await writeOnWhatsApp(world, { text: 'Hello here too' });
    const whatsApp = await conversationOn(world, 'whatsapp');
    await runUntilIdle(world, whatsApp, { forMs: 1_000 });
    await stop();
    await runUntilIdle(world, sms, { forMs: 1_000 });
    await writeOnWhatsApp(world, { text: 'START', optOut: 'start' });
    expect(await world.rows('select from addresses where opted_out_at is not null')).toEqual([]);
    const states = await world.rows('select channel, state from conversations order by channel');
    expect(states.map(({ state }) => state)).not.toContain('opted_out');
  });

  it('gets no confirmation of ours where the provider confirms it [INV-13]', async () => {
    const id = await answeredLead(world);
    const { element } = smsElement({ text: 'STOP', id: 'SM-stop' });
    if (element.type !== 'message') throw new Error('a lead’s message is one');
    const confirmed = prepared({ ...element, providerConfirmsOptOut: true }, 'stop');
    await ingest(world.database.service, requestOf([confirmed]), world.clock.iso);
    expect(await calledUntilRest(world, id)).toEqual(['answer']);
    expect(await lastSettlement()).toEqual({
      settlement: 'no-answer',
      settlement_reason: 'confirmed_by_provider',
    });
  });

  // Raced: an opt-out that staff enter against the answer that is about to leave.
  // Order: the worker is held at `deliver:claimed`, staff opt the lead out, the worker goes on.
  // Must hold: nothing leaves, not even a confirmation: the lead asked a person, not us.
  it('by the word of staff gets nothing at all any more [INV-13] [S4]', async () => {
    const send = await queuedAnswer(world);
    const barrier = pauseAt(world, 'deliver:claimed');
    const delivery = world.activities.deliver(send);
    await heldAt(barrier, delivery);
    await command(world, send.conversationId, 'opt-out');
    barrier.release();
    await delivery;
    await runUntilIdle(world, send.conversationId);
    expect(await calledFor(world)).toEqual([]);
    expect(await lastSettlement()).toEqual({
      settlement: 'no-answer',
      settlement_reason: 'opted_out_by_staff',
    });
  });
});
