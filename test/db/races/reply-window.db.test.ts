import { runUntilIdle } from '../../support/run-until-idle';
import { calledFor, sendsOf } from '../../support/sends';
import { makeWorld, type World } from '../../support/world';
import { advanceToFollowUp, answeredLead, calledUntilRest, queuedAnswer } from './scene';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The provider's reply window, judged at the gate by the time of each send (traps.md). */
describe('a reply window', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  // Raced: the end of the window against the worker that holds the answer.
  // Order: the worker claims 1 ms before the end; the gate judges at the given distance from it.
  // Must hold: the gate reads the time afresh; past the end nothing leaves, and a person has it.
  it.each([
    ['1 ms before its end', -1, 'accepted', null],
    ['exactly at its end', 0, 'cancelled', 'window_closed'],
  ])('lets an answer pass %s (%i ms): %s [C4] [S6]', async (_name, offsetMs, state, reason) => {
    world.provider.replyWindowMs = 30 * MINUTE_MS;
    const send = await queuedAnswer(world);
    world.clock.advance(30 * MINUTE_MS - 1);
    world.failpoints['deliver:claimed'] = () => world.clock.advance(1 + offsetMs);
    await world.activities.deliver(send);
    world.failpoints = {};
    expect(await sendsOf(world)).toEqual([expect.objectContaining({ state, reason })]);
    const items = await world.rows('select kind, reason from work_items');
    expect(items).toEqual(
      reason === null ? [] : [{ kind: 'handoff', reason: 'policy_requires_human' }],
    );
    await runUntilIdle(world, send.conversationId, { forMs: MINUTE_MS });
    expect(await calledFor(world)).toHaveLength(reason === null ? 1 : 0);
  });

  it('moves the first follow-up inside it; the others are for a person to make [S6]', async () => {
    world.provider.replyWindowMs = 20 * HOUR_MS;
    const startMs = world.clock.epochMs;
    const id = await answeredLead(world);
    await advanceToFollowUp(world, id);
    expect(world.clock.epochMs - startMs).toBe(19.5 * HOUR_MS);
    expect(await calledUntilRest(world, id)).toEqual(['answer', 'follow-up']);
    const items = await world.rows('select kind, reason from work_items');
    expect(items).toEqual(Array(2).fill({ kind: 'follow-up-by-hand', reason: 'window_closed' }));
  });
});
