/** The run: start everything, let leads write, kill, come to rest, compare the ledgers. */
import { createRequire } from 'node:module';
import { rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ROOT, waitFor } from '../../dev/machine.mjs';
import { DIST, makeLogFolder, startEnvironment } from './environment.mjs';
import { openFacts } from './facts.mjs';
import { startFaults } from './faults.mjs';
import { makeKiller } from './killer.mjs';
import { makeLeads, startWriting } from './leads.mjs';
import { makePhone } from './phone.mjs';
import { describe } from './report.mjs';
import { makeToll } from './toll.mjs';
import { makeTour } from './tour.mjs';

const require = createRequire(import.meta.url);
const FAULT_EVERY_MS = 6_000;
/** The longest back-off (120 s) and Meta's last repetition (156 s) end within it. */
const REST_MS = 300_000;
const WARM_MS = 60_000;

function load(name) {
  return require(join(DIST, ...name.split('/')) + '.js');
}

/** What was started, in order; stopped in reverse, whatever happens. */
function startedThings() {
  const things = [];
  let stopping = null;
  return {
    add(thing) {
      things.push(thing);
      return thing;
    },
    stopAll() {
      stopping ??= (async () => {
        for (const thing of things.reverse()) {
          await Promise.resolve(thing.stop()).catch((error) => console.error(error));
        }
      })();
      return stopping;
    },
  };
}

function makeProgress() {
  const startedAt = performance.now();
  return (text) => {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0).padStart(5);
    console.error(`${seconds} s  ${text}`);
  };
}

/** The first answer proves that everything is up; before it nothing is killed. */
async function untilFirstAnswer({ leads, phone }) {
  const { channel, lead } = await leads.request('messenger');
  const answered = await waitFor(
    async () => (await phone.thread(channel, lead)).some(({ from }) => from === 'business'),
    { timeoutMs: WARM_MS },
  );
  if (!answered) throw new Error('nobody was answered before the first kill');
}

/** Waits until nothing is owed, under way or due; what is left then is in the answer. */
async function untilAtRest({ facts, progress }) {
  let open = null;
  let told = performance.now();
  let calm = 0;
  await waitFor(
    async () => {
      open = await facts.open();
      calm = open.owed + open.sends + open.due === 0 ? calm + 1 : 0;
      if (performance.now() - told > 15_000) {
        told = performance.now();
        progress(`coming to rest: ${JSON.stringify(open)}`);
      }
      return calm >= 4;
    },
    { timeoutMs: REST_MS, everyMs: 500 },
  );
  return open;
}

/** Meta repeats what was not answered 200; a message on its way would not be lost but early. */
async function untilDelivered(written) {
  const waiting = async () =>
    (await written()).filter(({ channel, deliveredAtMs, writtenAtMs }) => {
      return channel !== 'sms' && deliveredAtMs === null && Date.now() - writtenAtMs < 170_000;
    }).length;
  await waitFor(async () => (await waiting()) === 0, { timeoutMs: 170_000, everyMs: 2_000 });
}

async function readWritten({ leads, phone }) {
  const threads = [];
  for (const { channel, lead } of leads.people) {
    const entries = await phone.thread(channel, lead);
    threads.push(
      entries
        .filter(({ from }) => from === 'lead')
        .map((entry) => ({
          channel,
          lead,
          providerMessageId: entry.providerMessageId,
          text: entry.text,
          writtenAtMs: Date.parse(entry.at),
          deliveredAtMs: entry.deliveredAt === undefined ? null : Date.parse(entry.deliveredAt),
          asks: !leads.isSilent(entry.providerMessageId),
        })),
    );
  }
  return threads.flat();
}

async function readEvidence({ leads, phone, facts, disturbances, toll }) {
  const ledger = await phone.ledger();
  const deliveries = await phone.deliveries();
  return {
    written: await readWritten({ leads, phone }),
    ledger: ledger.map((entry) => ({ ...entry, acceptedAtMs: Date.parse(entry.acceptedAt) })),
    stored: await facts.stored(),
    attempts: await facts.attempts(),
    deliveredBodies: deliveries.map(({ bodySha256 }) => bodySha256),
    rawRows: await facts.rawRows(),
    disturbances: [
      ...disturbances,
      ...toll.deaths.map(({ atMs, what }) => ({
        atMs,
        what: `the kill of ${what}`,
        channel: null,
      })),
    ].sort((left, right) => left.atMs - right.atMs),
    provoked: leads.provoked,
    backedOff: await facts.backedOff(),
  };
}

/** Keeps what a person needs to see what became of a lead: facts and logs, in one folder. */
async function keepEvidence({ verdict, facts, logs }) {
  const findings = [
    ...verdict.lost,
    ...verdict.doubled,
    ...verdict.unexplained,
    ...verdict.veryLate,
  ];
  for (const finding of findings.slice(0, 50)) {
    const { conversationId } = finding;
    const timeline = conversationId === null ? null : await facts.timeline(conversationId);
    const file = join(logs, `${finding.lead.replaceAll(/\W+/g, '-')}.json`);
    writeFileSync(file, JSON.stringify({ finding, timeline }, null, 2));
  }
}

/** Lets leads write and processes die, and waits until all is at rest; gives what is open then. */
async function disturb(context, mode) {
  const { options, phone, leads, seeded, note, progress, toll } = context;
  await untilFirstAnswer(context);
  const onError = (error) => context.crashes.push(`the leads: ${error.message}`);
  const parts = [startWriting({ leads, seeded: seeded(2), ratePerSecond: options.rate, onError })];
  if (options.faults) {
    parts.push(startFaults({ phone, seeded: seeded(3), everyMs: FAULT_EVERY_MS, note, onError }));
  }
  progress(options.points ? 'every named point once' : `${options.kills} kills`);
  await mode.run({ ...context, seeded: seeded(5) });
  progress(`${toll.count()} kills; the leads fall silent`);
  for (const part of parts) await part.stop();
  await phone.clearFaults();
  await mode.disarm(context);
  await untilDelivered(() => readWritten(context));
  return untilAtRest(context);
}

/** What does not hold, in lines. */
async function problemsOf({ options, points, mode, facts, open, verdict }) {
  const { failures } = load('test/chaos/judge');
  const unreached = options.points ? points.filter((it) => !mode.results.get(it)?.reached) : [];
  return [
    ...failures(verdict, options.points),
    ...(await facts.violations()),
    ...unreached.map((point) => `the failpoint ${point} was never reached`),
    ...(open.sends + open.due > 0 ? [`it did not come to rest: ${JSON.stringify(open)}`] : []),
  ];
}

function startContext({ options, run, environment, toll, crashes, logs }) {
  const { makeSeeded } = load('test/chaos/seeded');
  const seeded = (stream) => makeSeeded(options.seed, stream);
  const facts = run.add(openFacts(environment.databaseUrl));
  const phone = makePhone(environment.sandboxUrl);
  const disturbances = [];
  const note = (disturbance) => disturbances.push(disturbance);
  const leads = makeLeads({ phone, seeded: seeded(4) });
  const { apiUrl } = environment;
  const common = { options, environment, apiUrl, facts, phone, leads, toll, crashes, logs, note };
  return { ...common, disturbances, seeded };
}

/** Prints the report, keeps what a failed run left, and gives the exit code. */
async function conclude(context, { verdict, evidence, problems, mode, startedAt }) {
  const { options, facts, toll, crashes, logs } = context;
  const seconds = (performance.now() - startedAt) / 1000;
  const { text, json } = describe({
    ...{ options, verdict, evidence, toll, crashes, problems, seconds, mode },
  });
  console.log(text);
  if (options.json) writeFileSync(options.json, `${JSON.stringify(json, null, 2)}\n`);
  writeFileSync(join(logs, 'report.txt'), text);
  if (problems.length > 0) await keepEvidence({ verdict, facts, logs });
  return problems.length > 0 ? 1 : 0;
}

/** Runs what the options ask for, prints the report, and gives the exit code. */
export async function runChaos(options) {
  const run = startedThings();
  const stopOnSignal = () => void run.stopAll().then(() => process.exit(130));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stopOnSignal);
  const { makeSeeded } = load('test/chaos/seeded');
  const { judge } = load('test/chaos/judge');
  const points = options.only ?? load('config/failpoints').FAILPOINTS;
  const toll = makeToll();
  const crashes = [];
  const mode = options.points
    ? makeTour({ points, toll, crashes })
    : makeKiller({ points, seeded: makeSeeded(options.seed, 1), toll, options, crashes });
  const logs = makeLogFolder(options.seed);
  const progress = makeProgress();
  const startedAt = performance.now();
  let code = 1;
  try {
    progress('starting PostgreSQL, Temporal, the sandbox and the product');
    const environment = await startEnvironment({ run, logs, mode });
    const started = startContext({ options, run, environment, toll, crashes, logs });
    const context = { ...started, progress };
    const open = await disturb(context, mode);
    progress('comparing the ledgers');
    const evidence = await readEvidence(context);
    const verdict = judge(evidence);
    const { facts } = context;
    const problems = await problemsOf({ options, points, mode, facts, open, verdict });
    code = await conclude(context, { verdict, evidence, problems, mode, startedAt });
  } finally {
    await run.stopAll();
    if (code === 0 && !options.keep) rmSync(logs, { recursive: true, force: true });
    else console.log(`The logs and the facts of the leads are in ${relative(ROOT, logs)}.`);
  }
  return code;
}
