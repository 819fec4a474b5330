import { simulateBatch } from '../../simulation/batch';
import { drawScenario } from '../../simulation/machine/profile';
import { MUTANTS, type Mutant } from '../../simulation/model/mutants';
import { tryOrders } from '../../simulation/orders';
import { describeFailure, describeTotals } from '../../simulation/report';
import { nameOf, shrinkSteps } from '../../simulation/shrink';
import { replaySteps, simulateSeed, type Simulation } from '../../simulation/simulate';

const STEPS = 150;

/** Where the search for a mutant begins, so that the test is short; a rare one has its own seed. */
const FIRST_SEEDS: Partial<Record<Mutant, number>> = {
  'lease-not-compared': 980,
  'status-moves-down': 9,
};
const SEEDS_MAX = 400;

/** The first seed of the mutant at which something breaks. */
function firstBroken(mutant: Mutant): { seed: number; failing: Simulation } {
  const from = FIRST_SEEDS[mutant] ?? 0;
  for (let seed = from; seed < from + SEEDS_MAX; seed += 1) {
    const failing = simulateSeed(seed, { steps: STEPS, mutant });
    if (failing.violations.length > 0) return { seed, failing };
  }
  throw new Error(`no seed shows ${mutant}`);
}

describe('the simulator', () => {
  it('draws the same steps and the same end from the same seed [LV-1]', () => {
    const [first, second] = [0, 0].map(() => simulateSeed(7, { steps: STEPS, mutant: null }));
    expect(second).toEqual(first);
  });

  it('finds no violation in a sample of seeds [LV-1]', () => {
    const { broken, seeds, answered } = simulateBatch(500_000, 200, { steps: STEPS, mutant: null });
    expect(broken).toEqual([]);
    expect(seeds).toBe(200);
    expect(answered).toBeGreaterThan(500);
  });

  it('does recorded steps again, to the same facts [LV-1]', () => {
    const drawn = simulateSeed(11, { steps: STEPS, mutant: null });
    const again = replaySteps(drawScenario(11, null), drawn.steps);
    expect(again.world.facts).toEqual(drawn.world.facts);
  });

  it.each(MUTANTS)('catches the bug %s, and reduces it to a short list [LV-1]', (mutant) => {
    const { seed, failing } = firstBroken(mutant);
    const shortest = shrinkSteps(drawScenario(seed, mutant), failing);
    expect(nameOf(shortest.violations)).toBe(nameOf(failing.violations));
    expect(shortest.steps.length).toBeLessThanOrEqual(18);
  });

  it('prints seed, commit, options, the shortest list and the command that repeats it', () => {
    const mutant = 'clear-without-compare';
    const { seed } = firstBroken(mutant);
    const printed = describeFailure(seed, { steps: STEPS, mutant });
    expect(printed).toContain(`seed ${seed} at commit `);
    expect(printed).toContain('INV-6: ');
    expect(printed).toContain('options {');
    expect(printed).toContain('  lead c=');
    expect(printed).toContain(`npm run simulate -- --seed ${seed}`);
  });

  it('names the figures of the contract in one line', () => {
    const line = describeTotals(simulateBatch(0, 5, { steps: 50, mutant: null }));
    expect(line).toMatch(
      /^seeds 5, events \d+, faults \d+, answered \d+, handed over \d+ .*unknown \d+, no-answer \d+, violations 0$/,
    );
  });
});

describe('all possible orders', () => {
  it('keep every invariant up to four events [LV-2]', () => {
    const { orders, broken } = tryOrders(4, null);
    expect(broken).toEqual([]);
    expect(orders).toBeGreaterThan(100);
  });

  it.each(['clear-without-compare', 'no-stop-at-claim'] as const)(
    'show the bug %s [LV-2]',
    (mutant) => {
      expect(tryOrders(5, mutant).broken).not.toEqual([]);
    },
  );
});
