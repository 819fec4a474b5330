import type { SendOutcome } from '../../../domain/sending';
import { readAgenda } from '../../../db/agenda';
import { raiseTurn } from '../../../db/turns';
import { attemptOf } from '../../support/answering';
import { makeSweeper, openItems, type Sweeper } from '../../support/sweeping';
import { runUntilIdle } from '../../support/run-until-idle';
import { makeWorld, type World } from '../../support/world';
import { answeredLead, calledUntilRest, queuedAnswer } from '../races/scene';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const REFUSED: SendOutcome = {
  kind: 'not-accepted',
  code: '429',
  retry: 'back-off',
  retryAfterMs: null,
  pausesAccount: false,
  optedOut: false,
};

describe('the ladder on real SQL', () => {
  let world: World;
  let sweeper: Sweeper;
  beforeAll(async () => {
    world = await makeWorld();
  });
  beforeEach(() => {
    sweeper = makeSweeper(world);
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const owe = async () => {
    await world.write({ text: 'My sink leaks' });
    return (await world.conversation()).id;
  };
  const swept = async (milliseconds: number) => {
    const { passed, ...counts } = await sweeper.sweepAfter(milliseconds);
    return Object.entries(counts).flatMap(([did, count]) => (count > 0 ? [`${did} ${count}`] : []));
  };

  it('touches nothing that is owed for three minutes or less [T4]', async () => {
    await owe();
    expect(await swept(3 * MINUTE)).toEqual([]);
    expect(await swept(1)).toEqual(['replay 1']);
    expect(sweeper.woken).toHaveLength(1);
    expect(sweeper.told).toEqual([
      expect.objectContaining({
        level: 'warn',
        fields: expect.objectContaining({ rung: 6, reasons: ['unanswered'] }),
      }),
    ]);
  });

  it('1 leaves a turn in flight for ten minutes, and then replays it [T4]', async () => {
    const id = await owe();
    await raiseTurn(world.database.service, id, world.clock.iso);
    expect(await swept(10 * MINUTE - 1)).toEqual([]);
    expect(await swept(1)).toEqual(['replay 1']);
  });

  it('1 takes no turn that threw for one in flight, and goes on counting its attempts [T3] [T4]', async () => {
    const id = await owe();
    world.failpoints['turn:drafted'] = () => {
      throw new Error('the turn throws');
    };
    const turn = { conversationId: id };
    await expect(world.activities.takeTurn(turn)).rejects.toThrow('the turn throws');
    await expect(world.activities.takeTurn(turn)).rejects.toThrow('the turn throws');
    expect(await swept(3 * MINUTE + 1)).toEqual(['replay 1']);
    const [marker] = await world.rows('select attempt from turn_markers');
    expect(marker).toEqual({ attempt: 2 });
    expect(await world.conversation()).toMatchObject({ replays: 0, replay_attempt: 2 });
  });

  it('2 wakes for a send past its limit, reviews it three minutes later, and pauses nothing [T4] [C6]', async () => {
    world.clock.advance(0);
    const { conversationId, sendId } = await queuedAnswer(world);
    world.clock.advance(2 * MINUTE + 50 * SECOND);
    world.provider.next(() => {
      throw new Error('the worker dies inside the call');
    });
    await expect(world.activities.deliver({ conversationId, sendId })).rejects.toThrow('dies');
    await world.rows('update turn_markers set thrown_at = started_at');
    expect(await swept(10 * SECOND + 1)).toEqual([]);
    expect(await swept(10 * SECOND)).toEqual(['wake 1']);
    expect(await swept(MINUTE)).toEqual(['wake 1']);
    expect(await swept(2 * MINUTE)).toEqual(['review 1']);
    expect(await openItems(world)).toEqual([{ kind: 'delivery-unknown', reason: 'unsettled' }]);
    expect(await world.conversation()).toMatchObject({ state: 'active', owed_since: null });
    expect(await swept(2 * HOUR)).toEqual([]);
    expect(await calledUntilRest(world, conversationId)).toEqual(['answer']);
  });

  it('2 files an answer that the provider itself proves, instead of a review [T4] [C6]', async () => {
    const { conversationId, sendId } = await queuedAnswer(world);
    world.provider.next(() => {
      throw new Error('the worker dies inside the call');
    });
    await expect(world.activities.deliver({ conversationId, sendId })).rejects.toThrow('dies');
    await world.rows(
      `insert into provider_messages (account_id, provider_message_sha256, provider_message_id,
         business_id, send_id, attempt_id, status, first_seen_at)
       select account_id, encode(sha256('proof'), 'hex'), 'proof', business_id, id, attempt_id,
         'sent', attempted_at from outbox`,
    );
    expect(await swept(10 * MINUTE + 1)).toEqual(['recorded 1']);
    expect(await world.rows('select state from outbox')).toEqual([{ state: 'accepted' }]);
    expect(await world.conversation()).toMatchObject({ owed_since: null });
  });

  it('3 gives what is an hour late to a person, once, in one transaction [T4] [T6] [T7]', async () => {
    const id = await owe();
    sweeper.onWake = () => false;
    expect(await swept(HOUR)).toEqual(['replay 1', 'refused 1']);
    expect(await swept(1)).toEqual(['hand-over 1']);
    expect(await openItems(world)).toEqual([{ kind: 'handoff', reason: 'reply_overdue' }]);
    expect(await world.conversation()).toMatchObject({ state: 'paused', owed_since: null });
    const log = await world.rows(
      `select actor_ref, reason from takeover_events where type = 'takeover.requested'`,
    );
    expect(log).toEqual([{ actor_ref: 'sweeper', reason: 'reply_overdue' }]);
    expect(await world.rows('select settlement, settlement_reason from messages')).toEqual([
      { settlement: 'work-item', settlement_reason: 'reply_overdue' },
    ]);
    expect(sweeper.told.at(-1)).toMatchObject({ level: 'error', fields: { rung: 3 } });
    expect(await swept(MINUTE)).toEqual([]);
    expect(await calledUntilRest(world, id)).toEqual([]);
  });

  it('4 gives an answer that was accepted and left owed to a person, not to a second turn [T4] [T7]', async () => {
    const id = await answeredLead(world);
    await world.rows(
      `update messages set settlement = null, settlement_ref = null, settlement_reason = null,
         settled_at = null where author = 'lead'`,
    );
    await world.rows(
      `update conversations set owed_since = last_token, oldest_owed_at = last_token,
         overdue_from = last_token`,
    );
    expect(await swept(3 * MINUTE + 1)).toEqual(['hand-over 1']);
    expect(await openItems(world)).toEqual([{ kind: 'handoff', reason: 'sent_not_recorded' }]);
    expect(sweeper.told.at(-1)).toMatchObject({
      level: 'fatal',
      fields: { rung: 4, reasons: ['sent_not_recorded'] },
    });
    expect(await calledUntilRest(world, id)).toEqual(['answer']);
  });

  it('5 gives it to a person after three replays that each began a turn [T4] [T7] [T11]', async () => {
    const id = await owe();
    world.failpoints['turn:drafted'] = () => {
      throw new Error('the turn throws');
    };
    sweeper.onWake = async (target) => {
      await expect(world.activities.takeTurn({ conversationId: target.id })).rejects.toThrow();
      return true;
    };
    expect(await swept(4 * MINUTE)).toEqual(['replay 1']);
    expect(await swept(MINUTE)).toEqual(['replay 1']);
    expect(await swept(MINUTE)).toEqual(['replay 1']);
    expect(await swept(MINUTE)).toEqual(['hand-over 1']);
    expect(await openItems(world)).toEqual([{ kind: 'handoff', reason: 'replays_exhausted' }]);
    expect(sweeper.told.at(-1)).toMatchObject({ level: 'fatal', fields: { rung: 5 } });
    world.failpoints = {};
    expect(await calledUntilRest(world, id)).toEqual([]);
  });

  it('5 counts no wake-up that Temporal refused, and none that began no turn [T4]', async () => {
    const id = await owe();
    let round = 0;
    sweeper.onWake = async () => {
      round += 1;
      // The relay's own wake-up begins a turn meanwhile; that is no replay of the sweeper.
      if (round > 4) await raiseTurn(world.database.service, id, world.clock.iso);
      await world.rows('update turn_markers set thrown_at = started_at');
      return round <= 4;
    };
    for (let minute = 4; minute < 12; minute += 1) {
      const did = await swept(minute === 4 ? 4 * MINUTE : MINUTE);
      expect(did).toContain('replay 1');
    }
    expect(await world.conversation()).toMatchObject({ replays: 0 });
    sweeper.onWake = () => true;
    expect(await swept(49 * MINUTE + 1)).toEqual(['hand-over 1']);
    expect(await openItems(world)).toEqual([{ kind: 'handoff', reason: 'reply_overdue' }]);
  });

  it('5 counts for one oldest message: an impatient lead who writes again changes nothing [T2] [T4]', async () => {
    await owe();
    world.failpoints['turn:drafted'] = () => {
      throw new Error('the turn throws');
    };
    sweeper.onWake = async (target) => {
      await expect(world.activities.takeTurn({ conversationId: target.id })).rejects.toThrow();
      return true;
    };
    await swept(4 * MINUTE);
    await swept(MINUTE);
    await world.write({ text: 'Hello?' });
    expect(await swept(MINUTE)).toEqual(['replay 1']);
    expect(await swept(MINUTE)).toEqual(['hand-over 1']);
    expect(await openItems(world)).toEqual([{ kind: 'handoff', reason: 'replays_exhausted' }]);
  });

  it('6 replays by waking, and the turn answers the lead once [T4] [T11]', async () => {
    const id = await owe();
    sweeper.onWake = async (target) => {
      await runUntilIdle(world, target.id, { forMs: 0 });
      return true;
    };
    expect(await swept(4 * MINUTE)).toEqual(['replay 1']);
    expect(world.provider.accepted).toHaveLength(1);
    expect(await swept(MINUTE)).toEqual([]);
    expect(await world.conversation()).toMatchObject({ id, owed_since: null });
  });

  it.each([
    ['credentials', 'update accounts set paused_at = now()'],
    ['the switch of automation', 'update businesses set automation_enabled = false'],
  ])(
    'never replays a debt that waits for %s; the hour gives it to a person [T4] [IN4]',
    async (...row) => {
      await owe();
      await world.rows(row[1]);
      expect(await swept(4 * MINUTE)).toEqual([]);
      expect(await swept(56 * MINUTE)).toEqual([]);
      expect(await swept(1)).toEqual(['hand-over 1']);
      await world.rows('update businesses set automation_enabled = true');
      expect(await openItems(world)).toEqual([{ kind: 'handoff', reason: 'reply_overdue' }]);
    },
  );

  it('never replays a debt whose answer backs off [T4] [T5]', async () => {
    const { conversationId, sendId } = await queuedAnswer(world);
    world.provider.next(() => ({ ...REFUSED, retryAfterMs: 20 * MINUTE }));
    await world.activities.deliver({ conversationId, sendId });
    const before = await world.conversation();
    expect(await swept(11 * MINUTE)).toEqual([]);
    expect((await world.conversation())['overdue_from']).toEqual(before['overdue_from']);
    expect(await swept(9 * MINUTE)).toEqual(['replay 1']);
  });

  it('names every rung that applies in the item that a person opens [T4] [T6]', async () => {
    await owe();
    await world.rows(
      `update conversations set replays = 3, replays_for = oldest_owed_at, replay_attempt = null`,
    );
    await swept(HOUR + 1);
    const [item] = await world.rows('select explanation from work_items');
    expect(item?.['explanation']).toBe(
      'The answer is more than an hour late; an automatic one would do more harm than good. ' +
        'The turn was begun again three times and did not settle.',
    );
    expect(sweeper.told.at(-1)?.fields['reasons']).toEqual(['too_old', 'replays_exhausted']);
  });

  it('records an answer that only its sent marker proves, and sends nothing again [T8] [T4]', async () => {
    const { conversationId, sendId } = await queuedAnswer(world);
    world.failpoints['deliver:marked'] = () => {
      throw new Error('the worker dies behind the marker');
    };
    await world.activities.deliver({ conversationId, sendId });
    world.failpoints = {};
    expect(await swept(MINUTE)).toEqual([]);
    expect(await swept(1)).toEqual(['recorded 1']);
    expect(await world.rows('select state from outbox')).toEqual([{ state: 'accepted' }]);
    expect(await world.conversation()).toMatchObject({ owed_since: null });
    expect(await swept(MINUTE)).toEqual([]);
    expect((await calledUntilRest(world, conversationId))[1]).not.toBe('answer');
  });

  it('keeps the marker of an attempt that is no longer current as evidence, once [T4] [T8]', async () => {
    const { conversationId, sendId } = await queuedAnswer(world);
    world.provider.next(() => REFUSED);
    await world.activities.deliver({ conversationId, sendId });
    const first = await attemptOf(world, sendId);
    await world.rows('insert into sent_markers values ($1, null, $2)', [first, world.clock.iso]);
    world.clock.advance(2 * SECOND);
    world.provider.next(() => ({ kind: 'unknown', code: 'read_timeout' }));
    await world.activities.deliver({ conversationId, sendId });
    expect(await swept(2 * MINUTE)).toEqual(['recorded 1']);
    const evidence = await world.rows(
      'select code, evidence from send_outcomes where attempt_id = $1 order by ordinal',
      [first],
    );
    expect(evidence).toEqual([
      { code: '429', evidence: 'response' },
      { code: 'no_longer_current', evidence: 'marker' },
    ]);
    expect(await world.rows('select state from outbox')).toEqual([{ state: 'sending' }]);
    expect(await swept(MINUTE)).toEqual([]);
  });

  it('takes a late acceptance of an attempt that waits in a back-off for what it is [T8] [S3]', async () => {
    const { conversationId, sendId } = await queuedAnswer(world);
    world.provider.next(() => ({ ...REFUSED, retryAfterMs: 5 * MINUTE }));
    await world.activities.deliver({ conversationId, sendId });
    await world.rows('insert into sent_markers values ($1, null, $2)', [
      await attemptOf(world, sendId),
      world.clock.iso,
    ]);
    expect(await swept(MINUTE + 1)).toEqual(['recorded 1']);
    expect(await world.rows('select state from outbox')).toEqual([{ state: 'accepted' }]);
    world.clock.advance(5 * MINUTE);
    await world.activities.deliver({ conversationId, sendId });
    expect(world.provider.calls).toHaveLength(1);
  });

  it('leaves the agenda as it found it where it only wakes [T4] [O1]', async () => {
    const id = await owe();
    const before = await readAgenda(world.database.service, id, world.clock.iso);
    await swept(4 * MINUTE);
    const after = await readAgenda(world.database.service, id, world.clock.iso);
    expect(after?.items.map(({ step }) => step)).toEqual(before?.items.map(({ step }) => step));
  });
});
