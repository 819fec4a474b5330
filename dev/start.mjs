/** `npm start`: from a fresh clone to a running system, and back by Ctrl-C. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { ROOT, Refusal, checkNode, endWith, ensureInstalled, waitFor } from './machine.mjs';
import { stopOrphanedPostgres, stopOrphanedTemporal } from './orphans.mjs';
import { childEnvironment, describe, readPlan } from './plan.mjs';
import { checkPorts } from './ports.mjs';
import { startProcess, stopList } from './processes.mjs';
import { claimHome } from './run-file.mjs';
import { loadSecrets } from './secrets.mjs';
import { findTemporalCli } from './tools.mjs';

const CHILDREN = ['sandbox', 'api', 'workers'];
/** The children of a killed run get ten seconds to end; then their ports are free. */
const LEFTOVER_MS = 15_000;
const READY_MS = 60_000;
const GRACE_MS = 20_000;

/** What ends a run: a signal (`asked`), or the end of something that should still run. */
class Ending extends Error {
  constructor(message, { asked }) {
    super(message);
    this.asked = asked;
  }
}

/** Rejects when the run must end; every wait of this program races with it. */
function endings() {
  let end;
  const promise = new Promise((_, reject) => (end = reject));
  promise.catch(() => undefined);
  const ask = () => end(new Ending('', { asked: true }));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, ask);
  return {
    ask,
    race: (work) => Promise.race([promise, work]),
    forever: () => promise,
    watch: (name, ended) =>
      void ended.then(({ how }) => {
        end(new Ending(`${name} ${how ?? 'stopped'}, so everything stops.`, { asked: false }));
      }),
  };
}

async function startServers(plan, secrets, run) {
  const { home, ports } = plan;
  let databaseUrl = process.env.DATABASE_URL;
  if (plan.embedsPostgres) {
    const { ensureDatabase, startPostgres } = await import('./postgres.mjs');
    const postgres = await startPostgres({
      folder: join(home, 'postgres'),
      port: ports.DATABASE_PORT,
      password: secrets.POSTGRES_PASSWORD,
      logFile: join(home, 'postgres.log'),
    });
    run.add('PostgreSQL', postgres);
    databaseUrl = await ensureDatabase(postgres.url, 'unsilent');
  }
  const env = childEnvironment(plan, secrets, databaseUrl);
  const prepare = startProcess({ name: 'prepare', program: programOf('dev', 'prepare'), env });
  const { code, how } = await prepare.ended;
  if (code !== 0) throw new Refusal(`Preparing the database failed: it ${how}.`);
  if (plan.embedsTemporal) {
    const { startTemporal } = await import('./temporal.mjs');
    const temporal = await startTemporal({
      port: ports.TEMPORAL_PORT,
      uiPort: ports.TEMPORAL_UI_PORT,
      databaseFile: join(home, 'temporal.db'),
      pidFile: join(home, 'temporal.pid'),
      logFile: join(home, 'temporal.log'),
    });
    run.add('Temporal', temporal);
  }
  return env;
}

function programOf(folder, name) {
  return join(ROOT, 'dist', folder, `${name}.js`);
}

async function answers(url) {
  try {
    const { status } = await fetch(url, { signal: AbortSignal.timeout(5000) });
    return status === 200;
  } catch {
    // Not listening yet, or too busy to answer; it is asked again.
    return false;
  }
}

async function untilReady({ PORT, SANDBOX_PORT }) {
  for (const url of [
    `http://localhost:${PORT}/readyz`,
    `http://localhost:${SANDBOX_PORT}/accounts`,
  ]) {
    if (await waitFor(() => answers(url), { timeoutMs: READY_MS })) continue;
    throw new Refusal(`${url} did not answer within a minute; the lines above may say why.`);
  }
}

async function startAll(plan, claim, run) {
  if (plan.embedsPostgres) await stopOrphanedPostgres(join(plan.home, 'postgres'));
  if (plan.embedsTemporal) await stopOrphanedTemporal(join(plan.home, 'temporal.pid'));
  await checkPorts(plan.ports, claim.afterKill ? LEFTOVER_MS : 0);
  if (plan.embedsTemporal) await findTemporalCli();
  await ensureInstalled();
  await build();
  const secrets = loadSecrets(plan.home);
  const env = await startServers(plan, secrets, run);
  for (const name of CHILDREN) {
    run.add(name, startProcess({ name, program: programOf(name, 'main'), env }));
  }
  await untilReady(plan.ports);
  console.log(describe(plan, env));
  console.log('unsilent ready');
}

async function main() {
  checkNode();
  const plan = readPlan();
  mkdirSync(plan.home, { recursive: true });
  const claim = await claimHome(plan.home);
  const started = stopList();
  const ending = endings();
  claim.watch(ending.ask);
  const run = {
    add(name, thing) {
      started.add({ ...thing, name });
      ending.watch(name, thing.ended);
    },
  };
  try {
    await ending.race(startAll(plan, claim, run));
    await ending.forever();
  } catch (error) {
    if (!(error instanceof Ending && error.asked)) endWith(asRefusal(error));
  }
  process.once('SIGINT', () => process.exit(130));
  await started.stopAll(GRACE_MS);
  claim.release();
}

function asRefusal(error) {
  return error instanceof Ending ? new Refusal(error.message) : error;
}

process.stdout.on('error', () => undefined);
await main().catch(endWith);
process.exit();
