import type { Action } from './machine/actions';
import type { Scenario } from './machine/profile';
import { replaySteps, type Simulation } from './simulate';

/** Replays at most this often: a short list soon is worth more than the shortest one late. */
const REPLAYS_MAX = 3_000;

/** A violation is named by the invariant that stands before its colon. */
export function nameOf(violations: readonly string[]): string {
  return violations[0]?.split(':')[0] ?? '';
}

/**
 * Reduces a failing list of steps: leaves out ever smaller chunks, then the details of each step,
 * as long as the same invariant breaks. Returns the replay of the shortest list.
 */
export function shrinkSteps(scenario: Scenario, failing: Simulation): Simulation {
  const wanted = nameOf(failing.violations);
  let best = failing;
  let replays = 0;
  const tries = (actions: readonly Action[]): boolean => {
    if (replays >= REPLAYS_MAX) return false;
    replays += 1;
    const replayed = replaySteps(scenario, actions);
    if (nameOf(replayed.violations) !== wanted) return false;
    best = replayed;
    return true;
  };
  if (!tries(failing.steps)) return failing;
  let before: number;
  do {
    before = best.steps.length;
    leaveOut(() => best.steps, tries);
    simplify(() => best.steps, tries);
  } while (best.steps.length < before && replays < REPLAYS_MAX);
  return best;
}

type Tries = (actions: readonly Action[]) => boolean;

function leaveOut(steps: () => readonly Action[], tries: Tries): void {
  for (let size = Math.ceil(steps().length / 2); size >= 1; size = Math.floor(size / 2)) {
    let start = 0;
    while (start < steps().length) {
      const rest = [...steps().slice(0, start), ...steps().slice(start + size)];
      if (!tries(rest)) start += size;
    }
  }
}

/** Leaves out one detail of one step at a time, such as a fault or a delay. */
function simplify(steps: () => readonly Action[], tries: Tries): void {
  for (let index = 0; index < steps().length; index += 1) {
    const action = steps()[index];
    if (action === undefined) continue;
    for (const plainer of plainerThan(action)) {
      if (tries(steps().with(index, plainer))) break;
    }
  }
}

function plainerThan(action: Action): Action[] {
  switch (action.do) {
    case 'lead':
      return [
        { do: 'lead', c: action.c, text: 'text' },
        { do: 'lead', c: action.c, text: action.text },
      ];
    case 'run':
      return [{ do: 'run', c: action.c }];
    case 'late-worker':
      return [{ do: 'late-worker' }];
    case 'staff':
      return [{ do: 'staff', c: action.c, command: action.command }];
    case 'wait':
      return [{ do: 'next' }];
    default:
      return [];
  }
}
