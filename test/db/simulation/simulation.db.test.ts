import { DEFAULT_RULES } from '../../../domain/policy-rules';
import type { Action } from '../../simulation/machine/actions';
import { applyAction } from '../../simulation/machine/apply';
import { drawAction } from '../../simulation/machine/draw';
import { drawScenario, type Scenario } from '../../simulation/machine/profile';
import { Random } from '../../simulation/machine/random';
import { makeWorld as simulate } from '../../simulation/machine/world';
import { describeAction } from '../../simulation/machine/actions';
import { storeRules } from '../../support/policies';
import { makeWorld, type World } from '../../support/world';
import { installDatabaseClock } from './database-clock';
import { Mirror, mirrorDependencies, type MirrorScript } from './mirror';

/** Sampled runs: enough to meet every operation many times, and short enough for every change. */
const SEEDS = 120;
const STEPS = 40;

let world: World;
const script: MirrorScript = { simulated: null, task: null };

beforeAll(async () => {
  world = await makeWorld(mirrorDependencies(script));
  await installDatabaseClock(world);
  await storeRules(world, DEFAULT_RULES, 'rules-of-the-simulation');
});
afterAll(() => world.close());
afterEach(async () => {
  jest.restoreAllMocks();
  await world.reset();
});

/** The model's own scheduling stands in for Temporal; here only Postgres is looked at. */
function scenarioOf(seed: number): Scenario {
  const { world: options, profile } = drawScenario(seed, null);
  const deeds = profile.deeds.filter((deed) => deed !== 'postgres-down' && deed !== 'clock-step');
  return {
    world: options,
    profile: { ...profile, deeds, transactions: [], outside: Math.max(0.15, profile.outside) },
  };
}

/** Does each step on both sides, and compares the facts after every one. */
async function runOnBoth(scenario: Scenario, draw: (done: number) => Action | null) {
  const simulated = simulate(scenario.world);
  const mirror = new Mirror(world, script, simulated);
  jest.spyOn(Math, 'random').mockReturnValue(scenario.world.jitter);
  jest.spyOn(performance, 'now').mockImplementation(() => simulated.nowMs);
  const steps: string[] = [];
  try {
    for (let drawn = 0; drawn < STEPS; drawn += 1) {
      const action = draw(drawn);
      if (action === null) break;
      if (!applyAction(simulated, action)) continue;
      steps.push(describeAction(action));
      await mirror.follow(action);
      await mirror.compare();
    }
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw new Error(`${steps.join('\n')}\n${words}`, { cause: error });
  } finally {
    await mirror.end();
  }
  return { steps, simulated };
}

describe('the model of the simulator', () => {
  it.each(Array.from({ length: SEEDS }, (_, seed) => seed))(
    'has the same facts as the real SQL after every step of seed %i [LV-1]',
    async (seed) => {
      const scenario = scenarioOf(seed);
      const random = new Random(seed + 0x5eed);
      const { steps } = await runOnBoth(scenario, () => {
        const { simulated } = script;
        return simulated === null ? null : drawAction(simulated, scenario.profile, random);
      });
      expect(steps.length).toBeGreaterThan(3);
    },
  );
});
