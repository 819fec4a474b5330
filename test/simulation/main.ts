import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { Totals } from './batch';
import { MUTANTS, type Mutant } from './model/mutants';
import { simulateSeeds } from './pool';
import { describeFailure, describeTotals, judge, type Claim } from './report';
import { DEFAULT_STEPS, simulateSeed } from './simulate';

const USAGE = `npm run simulate -- [options]
  --seeds N     how many seeds (20000)
  --from N      the first one (0)
  --seed N      one seed alone, with its shortest failing list
  --steps N     steps of the safety phase of each seed (${DEFAULT_STEPS})
  --workers N   threads (one per core)
  --mutant NAME break the model on purpose: ${MUTANTS.join(', ')}`;

const PROGRESS_MS = 10_000;
const FAILURES_SHOWN_MAX = 3;

interface Options {
  readonly help: boolean;
  readonly seeds: number;
  readonly from: number;
  readonly seed: number | null;
  readonly steps: number;
  readonly workers: number;
  readonly mutant: Mutant | null;
}

function readOptions(args: readonly string[]): Options {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{ seeds: text, from: text, seed: text, steps: text, workers: text, mutant: text },
      help: { type: 'boolean' },
    },
  });
  const mutant = MUTANTS.find((name) => name === values.mutant) ?? null;
  if (values.mutant !== undefined && mutant === null) {
    throw new RangeError(`there is no mutant ${values.mutant}`);
  }
  return {
    help: values.help ?? false,
    seeds: whole(values.seeds, 20_000),
    from: whole(values.from, 0),
    seed: values.seed === undefined ? null : whole(values.seed, 0),
    steps: whole(values.steps, DEFAULT_STEPS),
    workers: whole(values.workers, availableParallelism()),
    mutant,
  };
}

function whole(value: string | undefined, otherwise: number): number {
  if (value === undefined) return otherwise;
  if (!/^\d+$/.test(value)) throw new RangeError(`${value} is not a whole number`);
  return Number(value);
}

/** The result of a run: what `npm test` counts, and the exit code. */
export interface Verdict {
  readonly claims: readonly Claim[];
}

/** `npm run simulate`: prints the figures and every claim; returns what held. */
export async function runSimulation(args: readonly string[]): Promise<Verdict> {
  const options = readOptions(args);
  if (options.help) {
    console.log(USAGE);
    return { claims: [] };
  }
  return options.seed === null ? manySeeds(options) : oneSeed(options.seed, options);
}

function oneSeed(seed: number, options: Options): Verdict {
  const { violations, world, endings } = simulateSeed(seed, options);
  console.log(`seed ${seed}: ${world.events} events, ${JSON.stringify(endings)}`);
  if (violations.length > 0) console.log(describeFailure(seed, options));
  const says = 'no invariant broke at any step';
  return { claims: [{ says, holds: violations.length === 0, detail: violations.join('; ') }] };
}

async function manySeeds(options: Options): Promise<Verdict> {
  const startedMs = performance.now();
  let shownMs = startedMs;
  const totals = await simulateSeeds({
    ...options,
    onProgress: (sum) => {
      if (performance.now() - shownMs < PROGRESS_MS) return;
      shownMs = performance.now();
      console.log(`  … ${describeTotals(sum)}`);
    },
  });
  const seconds = (performance.now() - startedMs) / 1_000;
  show(totals, options, seconds);
  const claims = judge(totals);
  for (const { says, holds, detail } of claims) {
    console.log(`${holds ? '✓' : '✗'} ${says} (${detail})`);
  }
  return { claims };
}

function show(totals: Totals, options: Options, seconds: number): void {
  console.log(describeTotals(totals));
  const years = (totals.days / 365).toFixed(1);
  const speed = Math.round(totals.events / seconds);
  console.log(
    `${seconds.toFixed(1)} s on ${options.workers} threads, ${speed} events/s, ${years} simulated business-years`,
  );
  for (const [state, count] of Object.entries(totals.sometimes).sort()) {
    console.log(`  sometimes ${state}: ${count}`);
  }
  for (const { seed } of totals.broken.slice(0, FAILURES_SHOWN_MAX)) {
    console.log(describeFailure(seed, options));
  }
}
