import { runUntilIdle } from '../../support/run-until-idle';
import { makeWorld, type World } from '../../support/world';
import { answeredLead } from '../races/scene';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const WEEK_MS = 7 * 24 * HOUR_MS;

describe('the time of a message', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const isoAt = (offsetMs: number) => new Date(world.clock.epochMs + offsetMs).toISOString();
  /** The conversation's instants, as ISO 8601. */
  const instants = async () => {
    const [row] = await world.rows(
      `select oldest_owed_at, overdue_from, last_inbound_at, owed_since, turn_due_at
       from conversations`,
    );
    return Object.fromEntries(
      Object.entries(row ?? {}).map(([name, value]) => [
        name,
        typeof value === 'string' ? new Date(value).toISOString() : null,
      ]),
    );
  };

  it('later than its arrival counts as its arrival: no age is negative, no window longer [T5] [T2]', async () => {
    await world.write({ text: 'My sink leaks', at: isoAt(HOUR_MS) });
    expect(await instants()).toMatchObject({
      oldest_owed_at: world.clock.iso,
      overdue_from: world.clock.iso,
      last_inbound_at: world.clock.iso,
    });
    const [message] = await world.rows('select source_at > received_at as skewed from messages');
    expect(message).toEqual({ skewed: true });
  });

  it('a week old keeps it and is overdue at once: a person gets it, no machine answers [T5] [INV-6]', async () => {
    const at = isoAt(-WEEK_MS);
    await world.write({ text: 'My sink leaks', at });
    expect(await instants()).toMatchObject({
      oldest_owed_at: at,
      overdue_from: at,
      owed_since: world.clock.iso,
      turn_due_at: world.clock.iso,
    });
    await runUntilIdle(world, (await world.conversation()).id, { forMs: 0 });
    expect(world.provider.calls).toEqual([]);
    expect(await world.rows('select kind, reason from work_items')).toEqual([
      { kind: 'handoff', reason: 'reply_overdue' },
    ]);
  });

  it('of the oldest unanswered one stands while the lead writes again; the token moves [T2] [INV-7]', async () => {
    await world.write({ text: 'My sink leaks' });
    const first = { at: world.clock.iso, row: await world.conversation() };
    world.clock.advance(10 * MINUTE_MS);
    await world.write({ text: 'Hello?' });
    const after = await world.conversation();
    expect(await instants()).toMatchObject({ oldest_owed_at: first.at, overdue_from: first.at });
    expect(String(after['owed_since']) > String(first.row['owed_since'])).toBe(true);
  });

  it('that arrives late but was written earlier becomes the oldest: ages count from it [T5] [INV-7]', async () => {
    await world.write({ text: 'Hello?', at: isoAt(-MINUTE_MS) });
    const late = isoAt(-HOUR_MS);
    await world.write({ text: 'My sink leaks', at: late });
    expect(await instants()).toMatchObject({ oldest_owed_at: late, overdue_from: late });
  });

  it('without a source is its arrival [T5]', async () => {
    await world.write({ text: 'My sink leaks', at: null });
    expect(await instants()).toMatchObject({ oldest_owed_at: world.clock.iso });
  });

  it('is the same for 20 messages, and each has a token of its own, a microsecond apart [T2]', async () => {
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => world.write({ text: `Message ${index}` })),
    );
    const [row] = await world.rows(
      `select (extract(epoch from owed_since - $1::timestamptz) * 1000000)::int as steps,
         owed_since = last_token as newest from conversations`,
      [world.clock.iso],
    );
    expect(row).toEqual({ steps: 19, newest: true });
  });

  it('by a clock that was set back still gives a newer token [T2]', async () => {
    const id = await answeredLead(world);
    const before = await world.conversation();
    world.clock.advance(-HOUR_MS);
    await world.write({ text: 'One more thing' });
    const after = await world.conversation();
    expect(after.id).toBe(id);
    expect(String(after['owed_since']) > String(before['last_token'])).toBe(true);
    world.clock.advance(HOUR_MS);
  });

  it('of a bare opener gives its turn a second; a whole request beside it, none [P4b]', async () => {
    await world.write({ text: 'Hi', mayWait: true });
    expect(await instants()).toMatchObject({ turn_due_at: isoAt(1_000), owed_since: isoAt(0) });
    world.clock.advance(300);
    await world.write({ text: 'My sink leaks' });
    expect(await instants()).toMatchObject({ turn_due_at: world.clock.iso });
  });

  it('of a second opener does not put the turn off again [P4b]', async () => {
    await world.write({ text: 'Hi', mayWait: true });
    const due = isoAt(1_000);
    world.clock.advance(900);
    await world.write({ text: 'Hello', mayWait: true });
    expect(await instants()).toMatchObject({ turn_due_at: due });
  });
});
