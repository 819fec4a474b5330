import { ROBOT_ANSWERS_MIN, TURNS_PER_HOUR_MAX } from '../../domain/limits';
import { runUntilIdle } from '../support/run-until-idle';
import { makeWorld, type World } from '../support/world';

const LEAD = '+13125550180';
const MINUTE_MS = 60_000;

describe('automation that meets a machine or a flood', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  /** One message, and everything that is due within the next minute. */
  async function exchange(text: string): Promise<void> {
    await world.write({ text, lead: LEAD });
    const { id } = await world.conversation(LEAD);
    await runUntilIdle(world, id, { forMs: MINUTE_MS });
  }

  const handoffs = () =>
    world.rows(`select reason from work_items where kind = 'handoff' and resolved_at is null`);

  it('gives a robot that repeats itself to a person, and answers it no more [INV-17] [T6]', async () => {
    await exchange('My sink leaks');
    for (let round = 0; round < 10; round += 1) await exchange('Please hold the line.');
    expect(world.provider.accepted).toHaveLength(ROBOT_ANSWERS_MIN);
    expect(await handoffs()).toEqual([{ reason: 'policy_requires_human' }]);
  });

  it('gives a conversation that needs too many answers to a person [INV-17] [T6]', async () => {
    for (let round = 0; round < TURNS_PER_HOUR_MAX + 6; round += 1) {
      await exchange(`And another thing, number ${round}`);
    }
    expect(world.provider.accepted).toHaveLength(TURNS_PER_HOUR_MAX);
    expect(await handoffs()).toHaveLength(1);
  });

  it('answers a flood of fifty messages once or twice, and covers them all [INV-17] [INV-6]', async () => {
    for (let index = 0; index < 50; index += 1) {
      await world.write({ text: `Message ${index}`, lead: LEAD });
      world.clock.advance(20);
    }
    const { id } = await world.conversation(LEAD);
    await runUntilIdle(world, id, { forMs: MINUTE_MS });
    expect(world.provider.accepted.length).toBeLessThanOrEqual(2);
    const open = await world.rows('select from messages where owes and settled_at is null');
    expect(open).toEqual([]);
  });

  it('gives what arrives weeks late to people, and answers none of it itself [C2] [T6]', async () => {
    const leads = Array.from(
      { length: 30 },
      (_, index) => `+1312555${String(100 + index).padStart(4, '0')}`,
    );
    for (const lead of leads) {
      const at = new Date(world.clock.epochMs - 40 * 86_400_000).toISOString();
      await world.write({ text: 'Do you fix boilers?', lead, at }, { text: 'Hello?', lead, at });
    }
    const ids = await Promise.all(leads.map(async (lead) => (await world.conversation(lead)).id));
    await runUntilIdle(world, ids, { forMs: MINUTE_MS });
    expect(world.provider.calls).toEqual([]);
    expect(await handoffs()).toHaveLength(leads.length);
    const kept = await world.rows(
      `select from messages where source_at < received_at - interval '39 days'`,
    );
    expect(kept).toHaveLength(2 * leads.length);
  });
});
