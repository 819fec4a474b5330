import { countHistory } from '../../../bench/actions';
import { spreadOf } from '../../../bench/figures';
import { describeRun } from '../../../bench/report';
import type { KillResult, PhaseResult, RunResult } from '../../../bench/results';

function phase(name: string, rate: number, more: Partial<PhaseResult> = {}): PhaseResult {
  return {
    name,
    target: name,
    rate,
    leads: 10,
    measured: 10,
    latency: spreadOf([50]),
    webhook: spreadOf([5]),
    lateness: spreadOf([1]),
    refused: 0,
    outcomes: { answered: 10 },
    lost: 0,
    doubled: 0,
    cpu: { perLead: { api: 8, worker: 30 }, total: 38, othersShare: 0 },
    ...more,
  };
}

function run(more: Partial<RunResult>, short = false): RunResult {
  return {
    options: { seconds: 30, seed: 1, echoes: false, short },
    machine: {
      cores: 2,
      processor: 'test',
      node: '22.0.0',
      temporal: 'temporal',
      postgres: { version: '18', fsync: 'on', commit: { p50: 1, p99: 5 } },
    },
    ...more,
  };
}

const kill: KillResult = {
  kills: 1,
  messages: 100,
  before: spreadOf([60]),
  addedNotHeld: spreadOf([0, 1_100]),
  addedHeld: spreadOf([3_400]),
  heldCases: [{ held: 'workflow task', addedMs: 3_400 }],
  inFlight: [{ reached: true, known: 'read-back:accepted' }],
  outcomes: { answered: 100 },
  lost: 0,
  doubled: 0,
};

const met = (result: RunResult) => describeRun(result).goals.map((goal) => goal.met);

describe('the report of a benchmark', () => {
  const floor = phase('floor', 5, { latency: spreadOf([4]) });

  it.each([
    [80, true],
    [81, false],
  ])('p50 at 5 leads a second is judged by the floor of the same run (%i ms of 4)', (p50, held) => {
    const ours = phase('ours', 5, { latency: spreadOf([p50]), cpu: null });
    expect(met(run({ load: [floor, ours] }))).toEqual([held]);
  });

  it('a killed worker is judged by held and not held apart', () => {
    expect(met(run({ kill }))).toEqual([true, true]);
    expect(met(run({ kill: { ...kill, addedNotHeld: spreadOf([2_100]) } }))).toEqual([true, false]);
    expect(met(run({ kill: { ...kill, addedHeld: spreadOf([5_100]) } }))).toEqual([false, true]);
  });

  it('actions are judged for both conversations', () => {
    const count = { ...countHistory([]), accepted: 4, outcomes: {} };
    const conversations = { a: { ...count, actions: 12 }, b: { ...count, actions: 17 } };
    expect(met(run({ conversations }))).toEqual([true, false]);
  });

  it('CPU is judged at every rate from 5 leads a second', () => {
    const cpu = (total: number) => ({ perLead: {}, total, othersShare: 0 });
    const load = [1, 5, 20].map((rate) => phase('ours', rate, { cpu: cpu(160 / rate + 60) }));
    expect(met(run({ load: load.slice(2) }))).toEqual([true, true]);
    expect(met(run({ load }))).toEqual([true, false]);
  });

  it('a lost or doubled message breaks the run, a missed goal does not', () => {
    const slow = phase('ours', 20, { latency: spreadOf([9_000]) });
    expect(describeRun(run({ load: [slow] })).broken).toBe(false);
    expect(describeRun(run({ load: [phase('ours', 5, { doubled: 1 })] })).broken).toBe(true);
    expect(describeRun(run({ kill: { ...kill, lost: 1 } })).broken).toBe(true);
  });

  it('the short run breaks where a lead was not answered by itself', () => {
    const load = [phase('ours', 5, { outcomes: { answered: 9, 'handed over': 1 } })];
    expect(describeRun(run({ load })).broken).toBe(false);
    expect(describeRun(run({ load }, true)).broken).toBe(true);
  });

  it('prints answered, handed over, unknown and no-answer for every harness', () => {
    const { text } = describeRun(run({ load: [floor], kill }));
    const words = 'answered 10, handed over 0, unknown 0, no-answer 0';
    expect(text).toContain(`floor: ${words}`);
    expect(text).toContain('answered 100, handed over 0, unknown 0, no-answer 0');
  });
});
