import { checkRest, countEndings, type Endings } from './check/liveness';
import { checkWorld } from './check/check';
import { applyAction } from './machine/apply';
import type { Action } from './machine/actions';
import { drawAction, machineActions } from './machine/draw';
import { drawScenario, type Scenario } from './machine/profile';
import { Random } from './machine/random';
import { nextInstantMs } from './machine/time';
import { settleRun } from './machine/workflow';
import { makeWorld, type World } from './machine/world';
import type { Mutant } from './model/mutants';

/** B of docs/invariants.md under faults, and one sweep. */
const LIVENESS_MS = 16 * 60_000;

/** The liveness phase ends by itself; this ends a machine that goes round in circles. */
const LIVENESS_STEPS_MAX = 3_000;

export const DEFAULT_STEPS = 150;

export interface Simulation {
  readonly world: World;
  /** The steps that happened, in the safety phase. */
  readonly steps: readonly Action[];
  /** Empty where every invariant held. */
  readonly violations: readonly string[];
  readonly endings: Endings;
}

export interface SeedOptions {
  readonly steps: number;
  readonly mutant: Mutant | null;
}

/** Draws one seed's steps, then lets the machine rest without faults. Stops at a violation. */
export function simulateSeed(seed: number, options: SeedOptions): Simulation {
  const scenario = drawScenario(seed, options.mutant);
  const world = makeWorld(scenario.world);
  const random = new Random(seed + 0x5eed);
  const steps: Action[] = [];
  for (let drawn = 0; drawn < options.steps; drawn += 1) {
    const action = drawAction(world, scenario.profile, random);
    const violations = tryStep(world, action, steps);
    if (violations.length > 0) return ended(world, steps, violations);
  }
  return rest(world, steps);
}

/** Does recorded steps again, passing over those that cannot happen, and rests. */
export function replaySteps(scenario: Scenario, actions: readonly Action[]): Simulation {
  const world = makeWorld(scenario.world);
  const steps: Action[] = [];
  for (const action of actions) {
    const violations = tryStep(world, action, steps);
    if (violations.length > 0) return ended(world, steps, violations);
  }
  return rest(world, steps);
}

function tryStep(world: World, action: Action, steps: Action[]): string[] {
  try {
    if (!applyAction(world, action)) return [];
    steps.push(action);
    return checkWorld(world);
  } catch (error) {
    steps.push(action);
    return [`assertion: ${error instanceof Error ? error.message : String(error)}`];
  }
}

function ended(world: World, steps: readonly Action[], violations: readonly string[]): Simulation {
  return { world, steps, violations, endings: countEndings(world).endings };
}

/** The liveness phase: faults off, everything mended, and the machine in its own fixed order. */
function rest(world: World, steps: readonly Action[]): Simulation {
  const violations = settleDown(world);
  if (violations.length > 0) return ended(world, steps, violations);
  const { endings, unexplained } = countEndings(world);
  return { world, steps, violations: [...checkRest(world), ...unexplained], endings };
}

/** Lets the machine run without faults until the bound has passed; returns what broke. */
export function settleDown(world: World): string[] {
  endFaults(world);
  const untilMs = world.nowMs + LIVENESS_MS;
  const passed: Action[] = [];
  for (let step = 0; step < LIVENESS_STEPS_MAX; step += 1) {
    const [action = { do: 'next' } as const] = restingActions(world);
    if (action.do === 'next') {
      const nextMs = nextInstantMs(world);
      if (nextMs === null || nextMs > untilMs) return [];
    }
    const violations = tryStep(world, action, passed);
    if (violations.length > 0) return violations;
  }
  return [`INV-8: no rest after ${LIVENESS_STEPS_MAX} steps without a fault`];
}

/** What a call still refused may pause an account: its operator mends that too. */
function restingActions(world: World): Action[] {
  const paused = world.facts.accounts.some(({ pausedAtMs }) => pausedAtMs !== null);
  return paused ? [{ do: 'mend' }] : machineActions(world);
}

function endFaults(world: World): void {
  world.temporalUpAtMs = 0;
  world.postgresUpAtMs = 0;
  for (const worker of world.workers) {
    worker.upAtMs = 0;
    worker.thawsAtMs = 0;
  }
  for (const run of world.runs) settleRun(world, run);
}
