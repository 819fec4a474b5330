import { refreshAgenda } from '../../../db/agenda';
import { lockConversation } from '../../../db/conversations';
import { inTransaction } from '../../../db/database';
import { handOver } from '../../../db/handover';
import { heldAt, pauseAt, pauseInProvider } from '../../support/barrier';
import { runUntilIdle } from '../../support/run-until-idle';
import { calledFor, sendsOf } from '../../support/sends';
import { makeWorld, type World } from '../../support/world';
import {
  advanceToFollowUp,
  answeredLead,
  calledUntilRest,
  command,
  openSendOf,
  queuedAnswer,
} from './scene';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

describe('a handover', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const handOverNow = (conversationId: string) =>
    inTransaction(world.database.service, async (client) => {
      const locked = await lockConversation(client, conversationId, world.clock.iso);
      if (locked === null) throw new Error('the conversation exists');
      await handOver(client, locked.conversation, {
        reason: 'reply_overdue',
        explanation: 'The answer is late.',
        actor: { kind: 'service', ref: 'conversation-router' },
        at: locked.now,
      });
      await refreshAgenda(client, conversationId, locked.now);
    });
  const events = () => world.rows('select type from takeover_events order by session_id, seq');
  const items = () =>
    world.rows('select kind, resolved_at is null as open from work_items order by opened_at, id');
  const settlements = () =>
    world.rows("select settlement from messages where direction = 'in' order by seq");

  it.each(['one after the other', 'all at once'])(
    'that is repeated five times, %s, makes one item, one event and one pause [T6]',
    async (how) => {
      await world.write({ text: 'My sink leaks' });
      const { id } = await world.conversation();
      const repeat = Array.from({ length: 5 }, () => () => handOverNow(id));
      if (how === 'all at once') await Promise.all(repeat.map((once) => once()));
      else for (const once of repeat) await once();
      expect(await items()).toEqual([{ kind: 'handoff', open: true }]);
      expect(await events()).toEqual([{ type: 'session.started' }, { type: 'takeover.requested' }]);
      const pauses = await world.rows(
        "select count(*)::int as times from conversation_transitions where to_state = 'paused'",
      );
      expect(pauses).toEqual([{ times: 1 }]);
      expect(await world.conversation()).toMatchObject({ state: 'paused', owed_since: null });
      expect(await settlements()).toEqual([{ settlement: 'work-item' }]);
      expect(await calledUntilRest(world, id)).toEqual([]);
    },
  );

  it('takes the answer that waits back in its own transaction, not only at the gate [T6] [C7]', async () => {
    const { conversationId } = await queuedAnswer(world);
    await handOverNow(conversationId);
    expect(await sendsOf(world)).toEqual([
      expect.objectContaining({ state: 'cancelled', reason: 'handed_over' }),
    ]);
  });

  it('is joined by what the lead writes next; nothing is answered and nothing owed [T6]', async () => {
    await world.write({ text: 'My sink leaks' });
    const { id } = await world.conversation();
    await handOverNow(id);
    await world.write({ text: 'Hello?' });
    await world.write({ text: 'Anybody there?' });
    expect(await world.rows('select kind, newest_seq from work_items')).toEqual([
      { kind: 'handoff', newest_seq: 3 },
    ]);
    expect(await settlements()).toEqual(Array(3).fill({ settlement: 'work-item' }));
    expect(await calledUntilRest(world, id)).toEqual([]);
  });

  // Raced: the expiry of an owed answer against the worker that would still send it.
  // Order: the answer waits; its hour passes; the expiry is carried out, then the worker comes.
  // Must hold: cancelled and handed over in one transaction, and never sent.
  it('of an expired answer stands in the transaction that cancelled it [T6] [INV-9]', async () => {
    const send = await queuedAnswer(world);
    world.clock.advance(HOUR_MS - 1);
    await world.activities.expireSend(send);
    expect(await sendsOf(world)).toEqual([expect.objectContaining({ state: 'queued' })]);
    world.clock.advance(1);
    await Promise.all([world.activities.expireSend(send), world.activities.expireSend(send)]);
    const together = await world.rows(
      `select o.state, o.end_reason, w.kind, w.reason, o.xmin::text = w.xmin::text as one_commit
       from outbox o, work_items w`,
    );
    expect(together).toEqual([
      {
        state: 'cancelled',
        end_reason: 'expired',
        kind: 'handoff',
        reason: 'reply_overdue',
        one_commit: true,
      },
    ]);
    await world.activities.deliver(send);
    expect(await calledUntilRest(world, send.conversationId)).toEqual([]);
    expect(await settlements()).toEqual([{ settlement: 'work-item' }]);
  });

  it('of an answer that expires in a worker’s hands is made at the gate [T6] [INV-9]', async () => {
    const send = await queuedAnswer(world);
    world.clock.advance(HOUR_MS - 1);
    world.failpoints['deliver:claimed'] = () => world.clock.advance(1);
    await world.activities.deliver(send);
    expect(await calledFor(world)).toEqual([]);
    expect(await sendsOf(world)).toEqual([
      expect.objectContaining({ state: 'cancelled', reason: 'expired' }),
    ]);
    expect(await items()).toEqual([{ kind: 'handoff', open: true }]);
  });

  it('of a late turn happens before any draft is made [T6] [T3]', async () => {
    await world.write({ text: 'My sink leaks' });
    const { id } = await world.conversation();
    world.clock.advance(HOUR_MS);
    expect(await calledUntilRest(world, id)).toEqual([]);
    expect(await sendsOf(world)).toEqual([]);
    expect(await world.rows('select kind, reason from work_items')).toEqual([
      { kind: 'handoff', reason: 'reply_overdue' },
    ]);
  });
});

describe('a person who takes the conversation over', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const settlements = () =>
    world.rows("select settlement from messages where direction = 'in' order by seq");
  const token = async () => {
    const [row] = await world.rows('select owed_since::text as token from conversations');
    return row?.['token'];
  };

  // Raced: the takeover against the answer that automation is about to send.
  // Order: the answer waits in the outbox, or its worker is held at `deliver:claimed`.
  // Must hold: the takeover committed before the gate, so nothing automatic is sent.
  it.each(['queued', 'claimed'])(
    'keeps an answer that is %s from leaving, and has its debt [T6] [INV-15]',
    async (where) => {
      const send = await queuedAnswer(world);
      if (where === 'claimed') {
        world.failpoints['deliver:claimed'] = async () => {
          await command(world, send.conversationId, 'claim');
        };
      } else {
        await command(world, send.conversationId, 'claim');
      }
      await world.activities.deliver(send);
      world.failpoints = {};
      expect(await calledUntilRest(world, send.conversationId)).toEqual([]);
      expect(await sendsOf(world)).toEqual([
        expect.objectContaining({ state: 'cancelled', reason: 'person_owns' }),
      ]);
      expect(await settlements()).toEqual([{ settlement: 'work-item' }]);
    },
  );

  // Raced: the takeover against the follow-up that falls due at T.
  // Order: on the test's clock, to the millisecond: 5 ms before T; at T, with the row queued; 5 ms
  // after T, with the row in a worker's hands at `deliver:claimed`.
  // Must hold: after the takeover no automatic send starts, in nine days.
  it.each([
    [-5, []],
    [0, [{ state: 'cancelled', reason: 'person_owns' }]],
    [5, [{ state: 'cancelled', reason: 'person_owns' }]],
  ])('%i ms from a follow-up’s due time keeps it from leaving [INV-15] [S4]', async (...row) => {
    const [offsetMs, sends] = row;
    const id = await answeredLead(world);
    const due = await advanceToFollowUp(world, id, Math.min(offsetMs, 0));
    if (offsetMs < 0) await command(world, id, 'claim');
    world.clock.advance(-Math.min(offsetMs, 0));
    await world.activities.writeFollowUp({ conversationId: id, ...due });
    if (offsetMs === 0) await command(world, id, 'claim');
    if (offsetMs > 0) {
      const sendId = await openSendOf(world, id, 'follow-up');
      world.failpoints['deliver:claimed'] = async () => {
        world.clock.advance(offsetMs);
        await command(world, id, 'claim');
      };
      await world.activities.deliver({ conversationId: id, sendId });
      world.failpoints = {};
    }
    expect(await calledUntilRest(world, id)).toEqual(['answer']);
    const followUps = await sendsOf(world, 'follow-up');
    expect(followUps).toMatchObject(sends);
  });

  // Raced: the takeover against an answer in the provider's hands.
  // Order: held inside the call, the takeover commits a second later, the provider accepts.
  // Must hold: exactly that one send, marked, and nothing automatic after it.
  it('finds the one answer in flight marked as after the stop [INV-15] [S3]', async () => {
    const send = await queuedAnswer(world);
    const barrier = pauseInProvider(world);
    const delivery = world.activities.deliver(send);
    await heldAt(barrier, delivery);
    world.clock.advance(1_000);
    await command(world, send.conversationId, 'claim');
    world.clock.advance(1_000);
    barrier.release();
    await delivery;
    expect(await calledUntilRest(world, send.conversationId)).toEqual(['answer']);
    expect(await sendsOf(world)).toEqual([
      expect.objectContaining({
        state: 'accepted',
        stopCause: 'person_owns',
        stopVerdict: 'after',
      }),
    ]);
  });

  it('cannot give it back over a message that they have not seen [T6]', async () => {
    const id = await answeredLead(world);
    await command(world, id, 'claim');
    const seen = 2;
    await world.write({ text: 'One more thing' });
    expect(await command(world, id, 'release', seen)).toMatchObject({
      kind: 'refused',
      code: 'newer_message',
      newestSeq: 3,
    });
    expect(await command(world, id, 'release')).toMatchObject({ code: 'seen_seq_required' });
    expect(await command(world, id, 'release', 3)).toMatchObject({
      kind: 'done',
      response: { owner: 'automation', state: 'replied' },
    });
  });

  it('gives it back: what nobody answered owes again under a new token, and is answered [T6] [T2]', async () => {
    await world.write({ text: 'My sink leaks' });
    const { id } = await world.conversation();
    const first = await token();
    await command(world, id, 'claim');
    expect(await token()).toBeNull();
    world.clock.advance(2 * HOUR_MS);
    await command(world, id, 'release', 1);
    const second = await token();
    expect(String(second) > String(first)).toBe(true);
    expect(await world.rows('select from work_items where resolved_at is null')).toHaveLength(0);
    await runUntilIdle(world, id, { forMs: MINUTE_MS });
    expect(await calledFor(world)).toEqual(['answer']);
    expect(await settlements()).toEqual([{ settlement: 'reply' }]);
    const events = await world.rows('select type from takeover_events order by session_id, seq');
    expect(events.map((event) => event['type'])).toEqual([
      'session.started',
      'takeover.claimed',
      'takeover.released',
    ]);
  });

  // Raced: taking over and giving back against an answer in the provider's hands.
  // Order: held inside the call; the person claims, and gives it back before or after the
  // provider accepts.
  // Must hold: somebody did answer, namely that send; the lead gets no second answer.
  it.each(['before', 'after'])(
    'and gives it back %s an answer in flight is accepted: no second answer [T6] [INV-10]',
    async (when) => {
      const send = await queuedAnswer(world);
      const barrier = pauseInProvider(world);
      const delivery = world.activities.deliver(send);
      await heldAt(barrier, delivery);
      await command(world, send.conversationId, 'claim');
      if (when === 'before') {
        await command(world, send.conversationId, 'release', 1);
        await runUntilIdle(world, send.conversationId, { forMs: 0 });
      }
      barrier.release();
      await delivery;
      if (when === 'after') await command(world, send.conversationId, 'release', 1);
      await runUntilIdle(world, send.conversationId, { forMs: MINUTE_MS });
      expect(await calledFor(world)).toEqual(['answer']);
      expect(await settlements()).toEqual([{ settlement: 'reply' }]);
      expect(await world.conversation()).toMatchObject({ owed_since: null, owner: 'automation' });
    },
  );

  // Raced: the same against an answer in flight whose outcome then is unknown, or a refusal.
  // Order: held inside the call; the person claims and gives it back; then the provider answers.
  // Must hold: an unknown is reviewed and not followed by a second answer; a refused one, which
  // the stop had met, is made anew.
  it.each([
    ['unknown', ['answer'], 'work-item'],
    ['refused', ['answer', 'answer'], 'reply'],
  ])('and gives it back during a call that ends %s [T6] [C6]', async (end, called, settlement) => {
    const send = await queuedAnswer(world);
    world.provider.next(async () => {
      await command(world, send.conversationId, 'claim');
      await command(world, send.conversationId, 'release', 1);
      return end === 'unknown'
        ? { kind: 'unknown', code: 'timeout' }
        : {
            kind: 'not-accepted',
            code: '503',
            retry: 'back-off',
            retryAfterMs: null,
            pausesAccount: false,
            optedOut: false,
          };
    });
    await world.activities.deliver(send);
    await runUntilIdle(world, send.conversationId, { forMs: MINUTE_MS });
    expect(await calledFor(world)).toEqual(called);
    expect(await settlements()).toEqual([{ settlement }]);
  });

  it('and gives it back after an unknown outcome was reviewed meanwhile: no second answer [T6] [C6]', async () => {
    const send = await queuedAnswer(world);
    world.provider.next(() => ({ kind: 'unknown', code: 'timeout' }));
    await world.activities.deliver(send);
    await command(world, send.conversationId, 'claim');
    await runUntilIdle(world, send.conversationId, { forMs: MINUTE_MS });
    await command(world, send.conversationId, 'release', 1);
    await runUntilIdle(world, send.conversationId, { forMs: MINUTE_MS });
    expect(await calledFor(world)).toEqual(['answer']);
    const settled = await world.rows(
      `select w.kind, w.resolved_at is null as open from messages m
       join work_items w on w.id = m.settlement_ref`,
    );
    expect(settled).toEqual([{ kind: 'delivery-unknown', open: true }]);
  });

  // Raced: the same against an answer that a worker has claimed.
  // Order: held at `deliver:claimed`, the person claims and gives back within the lease.
  // Must hold: the row that a stop met never leaves; the new turn makes the one answer.
  it('and gives it back while a worker holds the answer: one answer, a new one [T6] [S3]', async () => {
    const send = await queuedAnswer(world);
    world.clock.advance(6_000);
    const barrier = pauseAt(world, 'deliver:claimed');
    const delivery = world.activities.deliver(send);
    await heldAt(barrier, delivery);
    await command(world, send.conversationId, 'claim');
    await command(world, send.conversationId, 'release', 1);
    barrier.release();
    await delivery;
    expect(await calledFor(world)).toEqual([]);
    await runUntilIdle(world, send.conversationId, { forMs: MINUTE_MS });
    expect(await calledFor(world)).toEqual(['answer']);
    expect(await settlements()).toEqual([{ settlement: 'reply' }]);
  });

  it('twice, at the same time, has it once [T6]', async () => {
    const id = await answeredLead(world);
    const results = await Promise.all([command(world, id, 'claim'), command(world, id, 'claim')]);
    expect(results.map((result) => result.kind).sort()).toEqual(['done', 'refused']);
    const claims = await world.rows("select from takeover_events where type = 'takeover.claimed'");
    expect(claims).toHaveLength(1);
  });
});
