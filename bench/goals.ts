import type { PhaseResult, RunResult } from './results';
import { ms } from './tables';

/** A goal of the project, for two cores, and what this run says to it. */
export interface Goal {
  readonly what: string;
  readonly measured: string;
  readonly met: boolean;
}

const FLOORS_MAX = 20;
const P99_AT_10_MS = 500;
const P99_AT_20_MS = 2_000;
const CPU_MS_MAX = 85;
/** Below this rate a lead pays for waking what sleeps, more than for its own work. */
const CPU_FROM_RATE = 5;
const ACTIONS_A_MAX = 12;
const ACTIONS_B_MAX = 16;
const HELD_DELAY_MS = 5_000;
const OTHER_DELAY_MS = 2_000;

/** Judges those goals for which the run has figures. */
export function judgeGoals(result: RunResult): Goal[] {
  return [
    ...latencyGoals(result),
    ...cpuGoals(result),
    ...actionGoals(result),
    ...killGoals(result),
  ];
}

function phaseAt(result: RunResult, name: string, rate: number): PhaseResult | undefined {
  return result.load?.find((phase) => phase.name === name && phase.rate === rate);
}

function goal(what: string, measured: number, limit: number, unit: string): Goal {
  return { what, measured: `${ms(measured)} ${unit}`.trim(), met: measured <= limit };
}

function latencyGoals(result: RunResult): Goal[] {
  const floor = phaseAt(result, 'floor', 5);
  const ours = phaseAt(result, 'ours', 5);
  const goals: Goal[] = [];
  if (floor && ours) {
    const floors = ours.latency.p50 / floor.latency.p50;
    const unit = `F (${ms(ours.latency.p50)} of ${ms(floor.latency.p50)} ms)`;
    goals.push(goal(`p50 at most ${FLOORS_MAX} F at 5 leads a second`, floors, FLOORS_MAX, unit));
  }
  const limits = [
    [10, P99_AT_10_MS],
    [20, P99_AT_20_MS],
  ] as const;
  for (const [rate, limit] of limits) {
    const phase = phaseAt(result, 'ours', rate);
    if (!phase) continue;
    const what = `p99 under ${limit} ms at ${rate} leads a second`;
    goals.push(goal(what, phase.latency.p99, limit, 'ms'));
  }
  return goals;
}

function cpuGoals({ load = [] }: RunResult): Goal[] {
  const totals = load
    .filter(({ name, rate }) => name === 'ours' && rate >= CPU_FROM_RATE)
    .flatMap(({ rate, cpu }) => (cpu === null ? [] : [{ rate, total: cpu.total }]));
  if (totals.length === 0) return [];
  const what = `at most ${CPU_MS_MAX} ms CPU per answered lead, at every rate from ${CPU_FROM_RATE}/s`;
  const measured = totals.map(({ rate, total }) => `${ms(total)} ms at ${rate}/s`).join(', ');
  return [{ what, measured, met: totals.every(({ total }) => total <= CPU_MS_MAX) }];
}

function actionGoals({ conversations }: RunResult): Goal[] {
  if (!conversations) return [];
  const { a, b } = conversations;
  return [
    goal(`at most ${ACTIONS_A_MAX} actions for BENCH-A`, a.actions, ACTIONS_A_MAX, ''),
    goal(`at most ${ACTIONS_B_MAX} actions for BENCH-B`, b.actions, ACTIONS_B_MAX, ''),
  ];
}

function killGoals({ kill }: RunResult): Goal[] {
  if (!kill) return [];
  const { addedHeld, addedNotHeld } = kill;
  const all = Math.max(addedNotHeld.max, addedHeld.count > 0 ? addedHeld.max : 0);
  return [
    goal('a killed worker delays nobody more than 5 s', all, HELD_DELAY_MS, 'ms'),
    goal(
      'and nobody more than 2 s whose task it did not hold',
      addedNotHeld.max,
      OTHER_DELAY_MS,
      'ms',
    ),
  ];
}
