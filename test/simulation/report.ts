import { execFileSync } from 'node:child_process';
import type { Totals } from './batch';
import { describeAction } from './machine/actions';
import { drawScenario } from './machine/profile';
import { shrinkSteps } from './shrink';
import { DEFAULT_STEPS, simulateSeed, type SeedOptions } from './simulate';

/** The rare states that a run has to reach, else it proved too little (docs/invariants.md, 4). */
const RARE_STATES = [
  'takeover during a send in flight',
  'commit unknown, committed',
  'commit unknown, not committed',
  'provider accepted, answer lost',
  'status before id',
  'echo before id',
  'opt-out between draft and intent',
  'continue-as-new with a waiting signal',
  'lease lost while alive',
  'sweep and signal repair the same debt',
  'two first messages within 1 ms',
  'acceptance that Postgres refused',
  'a frozen worker went on',
  'read-back lags behind',
  'day of a clock change with a due follow-up',
  'escalation while the provider is down',
  'the sweeper: replay',
  'the sweeper: wake',
  'kill in answer',
  'kill in record',
] as const;

/** At most this share of the debts may go to a person because of faults. */
const HANDED_OVER_MAX = 0.05;

/** Fewer seeds may well miss a rare state. */
const ENOUGH_SEEDS = 20_000;

export interface Claim {
  readonly says: string;
  readonly holds: boolean;
  readonly detail: string;
}

/** What a run of many seeds claims; each is one test. */
export function judge(totals: Totals): Claim[] {
  const debts = totals.answered + totals.handedOver + totals.unknown + totals.noAnswer;
  const share = debts === 0 ? 0 : totals.handedOverByFault / debts;
  const missed = RARE_STATES.filter((state) => (totals.sometimes[state] ?? 0) === 0);
  const isBroken = (liveness: boolean): boolean =>
    totals.broken.some(({ violations }) => violations.join().includes('INV-8') === liveness);
  return [
    {
      says: 'no invariant broke at any step',
      holds: !isBroken(false),
      detail: `${totals.broken.length} seeds with violations`,
    },
    {
      says: 'without faults every debt settles within the bound and one sweep',
      holds: !isBroken(true),
      detail: `${debts} debts`,
    },
    {
      says: 'at most 5 % of the debts are handed over by faults, each with its fault',
      holds: share <= HANDED_OVER_MAX,
      detail: `${(share * 100).toFixed(2)} %`,
    },
    {
      says: 'the rare states were reached',
      holds: totals.seeds < ENOUGH_SEEDS || missed.length === 0,
      detail: missed.length === 0 ? `${RARE_STATES.length} of them` : `missed ${missed.join('; ')}`,
    },
  ];
}

/** The figures of contract.md, in one line. */
export function describeTotals(totals: Totals): string {
  const { seeds, events, faults, answered, handedOver, unknown, noAnswer, broken } = totals;
  return [
    `seeds ${seeds}`,
    `events ${events}`,
    `faults ${faults}`,
    `answered ${answered}`,
    `handed over ${handedOver} (by a fault ${totals.handedOverByFault})`,
    `unknown ${unknown}`,
    `no-answer ${noAnswer}`,
    `violations ${broken.length}`,
  ].join(', ');
}

/** Everything that a failure prints: seed, commit, options, the shortest list, and how to repeat it. */
export function describeFailure(seed: number, options: SeedOptions): string {
  const failing = simulateSeed(seed, options);
  const scenario = drawScenario(seed, options.mutant);
  const shortest = failing.violations.length === 0 ? failing : shrinkSteps(scenario, failing);
  const steps = options.steps === DEFAULT_STEPS ? '' : ` --steps ${options.steps}`;
  const mutant = options.mutant === null ? '' : ` --mutant ${options.mutant}`;
  return [
    `seed ${seed} at commit ${commit()}`,
    ...shortest.violations.map((violation) => `  ${violation}`),
    `options ${JSON.stringify(scenario)}`,
    `the shortest list, ${shortest.steps.length} of ${failing.steps.length} steps:`,
    ...shortest.steps.map((action) => `  ${describeAction(action)}`),
    `replay: npm run simulate -- --seed ${seed}${steps}${mutant}`,
  ].join('\n');
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  } catch (error) {
    return `unknown (${error instanceof Error ? error.message : String(error)})`;
  }
}
