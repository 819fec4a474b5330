import type { Spread } from './figures';
import { judgeGoals, type Goal } from './goals';
import type { ConversationResult, KillResult, Outcomes, PhaseResult, RunResult } from './results';
import { columns, line, ms } from './tables';

export interface Description {
  readonly text: string;
  readonly goals: readonly Goal[];
  /** Something was lost or sent twice. */
  readonly broken: boolean;
}

/** Words a run for a person, judges its goals, and says whether anything was lost or doubled. */
export function describeRun(result: RunResult): Description {
  const goals = judgeGoals(result);
  const parts = [
    machineText(result),
    ...loadTexts(result),
    ...(result.kill ? [killText(result.kill)] : []),
    ...(result.conversations ? [conversationsText(result.conversations)] : []),
    goalsText(goals),
  ];
  return { text: parts.join('\n\n'), goals, broken: isBroken(result) };
}

function isBroken({ load = [], kill, options }: RunResult): boolean {
  const runs = [...load, ...(kill ? [kill] : [])];
  if (runs.some(({ lost, doubled }) => lost > 0 || doubled > 0)) return true;
  // The short run is a test: under its small load every lead is answered.
  return options.short && load.some(({ outcomes, leads }) => outcomes['answered'] !== leads);
}

function machineText({ machine, options }: RunResult): string {
  const { postgres, cores, processor, node, temporal } = machine;
  const { commit, version, fsync } = postgres;
  return [
    `${cores} cores (${processor}), Node ${node}, PostgreSQL ${version} with fsync ${fsync},`,
    `${temporal}, in memory. One commit: ${ms(commit.p50)} ms, p99 ${ms(commit.p99)} ms.`,
    `Open loop, Poisson arrivals of seed ${options.seed}, ${options.seconds} s for each figure,`,
    `from the intended send of the webhook to the provider's receipt of the answer${
      options.echoes ? '; the provider sends echoes' : ''
    }.`,
  ].join('\n');
}

function loadTexts({ load, idle }: RunResult): string[] {
  if (load === undefined) return [];
  const ours = load.filter(({ stages }) => stages !== undefined);
  return [
    latencyText(load),
    cpuText(load, idle ?? null),
    outcomesText(load),
    ...(ours.length > 0 ? [stagesText(ours), historyText(ours)] : []),
  ];
}

function latencyText(load: readonly PhaseResult[]): string {
  const rows = load.map((phase) => {
    const { latency, webhook, lateness, cpu } = phase;
    return [
      `${phase.rate}/s`,
      phase.target,
      String(latency.count),
      ...[latency.p50, latency.p95, latency.p99, latency.max].map(ms),
      ...[webhook.p50, webhook.p99].map(ms),
      ms(lateness.p99),
      cpu ? `${Math.round(cpu.othersShare * 100)} %` : '?',
    ];
  });
  const head = ['rate', 'way', 'n', 'p50', 'p95', 'p99', 'max'];
  const more = ['200 p50', '200 p99', 'generator p99', 'others'];
  return `Webhook → provider, ms ("200": until the webhook is answered; "others": CPU of other programs)\n${columns(
    [[...head, ...more], ...rows],
    2,
  )}`;
}

const MEASURING = ['load', 'provider'];

function cpuText(load: readonly PhaseResult[], idle: RunResult['idle']): string {
  if (load.every(({ cpu }) => cpu === null)) {
    return 'CPU per lead: this system has no /proc, so there are no such figures.';
  }
  const rows = load.map(({ rate, target, cpu }) => {
    const parts = Object.entries(cpu?.perLead ?? {}).filter(([name]) => !MEASURING.includes(name));
    const words = parts.map(([name, value]) => `${name} ${ms(value)}`).join(' · ');
    return [`${rate}/s`, target, ms(cpu?.total ?? Number.NaN), words];
  });
  const table = columns([['rate', 'way', 'in all', 'by process'], ...rows], 2, 3);
  if (!idle) return `CPU per lead, ms\n${table}`;
  const words = Object.entries(idle).map(([name, value]) => `${name} ${ms(value)}`);
  return `CPU per lead, ms\n${table}\nIdle, CPU ms a second (part of the figures above): ${words.join(' · ')}`;
}

const OUTCOME_NAMES = ['answered', 'handed over', 'unknown', 'no-answer'] as const;

function outcomeWords(outcomes: Outcomes): string {
  return OUTCOME_NAMES.map((name) => `${name} ${outcomes[name] ?? 0}`).join(', ');
}

function outcomesText(load: readonly PhaseResult[]): string {
  const targets = [...new Set(load.map(({ target }) => target))];
  return targets
    .map((target) => {
      const phases = load.filter((phase) => phase.target === target);
      const sum = (of: (phase: PhaseResult) => number) =>
        phases.reduce((total, phase) => total + of(phase), 0);
      const outcomes = Object.fromEntries(
        OUTCOME_NAMES.map((name) => [name, sum((phase) => phase.outcomes[name] ?? 0)]),
      );
      const rest = `webhooks refused ${sum(({ refused }) => refused)}, lost ${sum(
        ({ lost }) => lost,
      )}, doubled ${sum(({ doubled }) => doubled)}`;
      return `${target}: ${outcomeWords(outcomes)}; ${rest}`;
    })
    .join('\n');
}

function stagesText(ours: readonly PhaseResult[]): string {
  const stages = ours[0]?.stages ?? [];
  const rows = stages.map(({ what }, index) => [
    what,
    ...ours.map(({ stages: own }) => {
      const stage = own?.[index];
      return stage && stage.count > 0 ? `${ms(stage.p50)} (${ms(stage.p95)})` : '–';
    }),
  ]);
  const head = ['', ...ours.map(({ rate }) => `${rate}/s`)];
  return `Where the time of Unsilent goes, p50 (p95) in ms\n${columns([head, ...rows], 1)}`;
}

function historyText(ours: readonly PhaseResult[]): string {
  return ours
    .map(({ rate, perLead }) => {
      if (!perLead) return '';
      const count = (value: number) => String(Math.round(value * 100) / 100);
      return line([
        `Per answered lead at ${rate}/s: ${count(perLead.events)} events`,
        `${count(perLead.workflowTasks)} workflow tasks`,
        `${count(perLead.failedWorkflowTasks)} of them failed or timed out`,
        `${count(perLead.localActivities)} local activities`,
        `${count(perLead.activities)} activities`,
        `${count(perLead.timers)} timers`,
        `${count(perLead.actions)} billable actions so far`,
      ]);
    })
    .join('\n');
}

const HELD_CASES_MAX = 5;

function inFlightWords(sends: KillResult['inFlight']): string {
  if (sends.length === 0) return 'none';
  const reached = sends.filter((send) => send.reached).length;
  const known = sends.map((send) => send.known).join(', ');
  return `${sends.length}, of which ${reached} had reached the provider; found out: ${known}`;
}

function killText(kill: KillResult): string {
  const { before, addedNotHeld, addedHeld } = kill;
  const added = ({ count, p50, p95, max }: Spread) =>
    count === 0 ? 'none' : `${count}, p50 ${ms(p50)}, p95 ${ms(p95)}, max ${ms(max)} ms`;
  return [
    `A worker of two killed under 5 messages a second, ${kill.kills} times, ${kill.messages} messages`,
    `  before the kill: p50 ${ms(before.p50)}, p99 ${ms(before.p99)} ms`,
    `  added delay, its task not held by the killed worker: ${added(addedNotHeld)}`,
    `  added delay, its task held by the killed worker: ${added(addedHeld)}`,
    ...kill.heldCases
      .slice(0, HELD_CASES_MAX)
      .map(({ held, addedMs }) => `    it held the ${held}: ${ms(addedMs)} ms`),
    `  sends in flight at the kill, counted apart: ${inFlightWords(kill.inFlight)}`,
    `  ${outcomeWords(kill.outcomes)}; lost ${kill.lost}, doubled ${kill.doubled}`,
  ].join('\n');
}

function conversationsText({ a, b }: NonNullable<RunResult['conversations']>): string {
  const row = (name: string, it: ConversationResult) => [
    name,
    ...[it.actions, it.events, it.runs, it.workflowTasks, it.localActivities].map(String),
    ...[it.activities, it.timers, it.signals, it.searchAttributeUpserts, it.accepted].map(String),
  ];
  const head = ['', 'actions', 'events', 'runs', 'workflow tasks', 'local activities'];
  const more = ['activities', 'timers', 'signals', 'upserts', 'sends'];
  return `Whole conversations\n${columns(
    [
      [...head, ...more],
      row('BENCH-A: reply, three follow-ups', a),
      row('BENCH-B: reply, a follow-up, two more inbounds, closed', b),
    ],
    1,
  )}`;
}

function goalsText(goals: readonly Goal[]): string {
  const rows = goals.map(({ met, what, measured }) => [met ? 'met' : 'MISSED', what, measured]);
  return `Goals\n${columns(rows, 3)}`;
}
