/** The run: start everything, measure part by part, report, stop everything. */
import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { measureConversations } from './conversations.mjs';
import { startCpu } from './cpu.mjs';
import { DIST, startEnvironment, startFloor, startGraphile, startOurs } from './environment.mjs';
import { openFacts, openHistories } from './facts.mjs';
import { measureKills } from './kill.mjs';
import { describeMachine } from './machine.mjs';
import { runPhase } from './phase.mjs';
import { measureStages } from './stages.mjs';

const require = createRequire(import.meta.url);
const START = { floor: startFloor, graphile: startGraphile, ours: startOurs };
/** Enough for compilers, pools and caches of every target to be warm before the first figure. */
const FIRST_WARM_UP = { rate: 5, seconds: 6 };
const SHORT_WARM_UP = { rate: 5, seconds: 2 };
const SETTLE_MS = 15_000;
const IDLE_MS = 5_000;

function loadFigures() {
  const load = (name) => require(join(DIST, 'bench', `${name}.js`));
  return { ...load('arrivals'), ...load('figures'), ...load('actions'), ...load('report') };
}

/** What was started, in order; stopped in reverse, whatever happens. */
function startedThings() {
  const things = [];
  return {
    add(thing) {
      things.push(thing);
      return thing;
    },
    async stopAll() {
      for (const thing of things.reverse()) await thing.stop();
    },
  };
}

function progress(text) {
  console.error(`  ${text}`);
}

async function measureOne(context, name, phaseOptions) {
  const { environment, targets, figures, facts, histories } = context;
  const target = targets[name];
  progress(`${target.title}: ${phaseOptions.rate} leads a second`);
  const phase = await runPhase({ environment, target, figures, ...phaseOptions });
  for (const child of target.children) child.check();
  if (name !== 'ours') return phase;
  const outcomes = await facts.settledOutcomes(phase.prefix, SETTLE_MS);
  const stages = await measureStages({ phase, facts, histories, figures });
  return { ...phase, outcomes, lost: lostOf(phase.samples, outcomes), ...stages };
}

/** Answered 200 and without a message of ours, or owed for ever. */
function lostOf(samples, outcomes) {
  const taken = samples.filter(({ status }) => status === 200).length;
  const stored = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  return Math.max(taken - stored, 0) + outcomes.owed;
}

/** What each process uses while nothing happens, in CPU ms a second. */
async function measureIdle({ environment, targets }) {
  const processes = { postgres: { pid: environment.postgres.pid, tree: true } };
  for (const { title, processes: own } of Object.values(targets)) {
    for (const [name, process] of Object.entries(own)) processes[`${title} ${name}`] = process;
  }
  const usedCpu = startCpu(processes);
  await sleep(IDLE_MS);
  const cpu = usedCpu();
  if (cpu === null) return null;
  const entries = Object.entries(cpu.seconds);
  return Object.fromEntries(
    entries.map(([name, seconds]) => [name, (seconds * 1000) / cpu.elapsedSeconds]),
  );
}

async function measureLoad(context) {
  const { options } = context;
  const first = options.short ? SHORT_WARM_UP : FIRST_WARM_UP;
  const warmUp = { ...first, warmUp: 0, seed: options.seed };
  for (const name of options.targets) await measureOne(context, name, warmUp);
  progress('idle');
  const idle = await measureIdle(context);
  const phases = [];
  for (const [index, rate] of options.rates.entries()) {
    const seed = options.seed * 1000 + index;
    for (const name of options.targets) {
      const { seconds, warmUpSeconds } = options;
      const phase = { rate, seconds, warmUp: warmUpSeconds, seed };
      phases.push({ name, ...(await measureOne(context, name, phase)) });
    }
  }
  return { idle, load: phases.map(({ samples: _samples, sends: _sends, ...phase }) => phase) };
}

async function measure(context) {
  const { options, targets } = context;
  const has = (part) => options.parts.includes(part);
  const result = { options, machine: await describeMachine(context.environment) };
  if (has('load')) Object.assign(result, await measureLoad(context));
  if (has('kill') && targets.ours) result.kill = await measureKills(context, progress);
  if (has('conversations')) result.conversations = await measureConversations(context, progress);
  return result;
}

/** Runs what the options ask for, prints the report, and gives the exit code. */
export async function runBenchmark(options) {
  const run = startedThings();
  const stopOnSignal = () => void run.stopAll().then(() => process.exit(130));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stopOnSignal);
  try {
    progress('starting PostgreSQL, Temporal, the targets, the provider and the load generator');
    const environment = await startEnvironment(run);
    const { provider, wire } = environment;
    const targets = {};
    for (const name of options.targets) targets[name] = await START[name](environment, run);
    const echoes = options.echoes && targets.ours ? echoesOf(targets.ours, wire) : null;
    await provider.ask('settings', { answerAfterMs: 0, echoes });
    const facts = run.add(openFacts(environment.databases.unsilent));
    const histories = run.add(await openHistories(environment.temporal.address));
    const figures = loadFigures();
    const context = { options, run, environment, targets, figures, facts, histories };
    const result = await measure(context);
    const { text, goals, broken } = figures.describeRun(result);
    console.log(text);
    if (options.json)
      writeFileSync(options.json, `${JSON.stringify({ ...result, goals }, null, 2)}\n`);
    const missed = goals.some(({ met }) => !met);
    return broken || (options.strict && missed) ? 1 : 0;
  } finally {
    await run.stopAll();
  }
}

function echoesOf({ url, env }, wire) {
  return { url, appSecret: wire.META_APP_SECRET, appId: env.META_APP_ID };
}
