/** Everything that a run needs and starts itself: servers, databases, targets, load, provider. */
import { chmodSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, Refusal, waitFor } from '../dev/machine.mjs';
import { freePort } from '../dev/ports.mjs';
import { ensureDatabase, startPostgres } from '../dev/postgres.mjs';
import { startTemporal } from '../dev/temporal.mjs';
import { startHelper, startProduct } from './children.mjs';

export const DIST = join(ROOT, 'dist');
const LOGS = join(ROOT, '.tmp', 'bench');
const PASSWORD = 'bench-password';
const READY_MS = 60_000;

/** The two halves of what the generator signs and the targets check. */
export const META = { appSecret: 'bench-app-secret', appId: '900000000000009' };
export const PAGE_ID = '100000000000001';
export const SMS_NUMBER = '+13125550100';

export function logFileOf(name) {
  mkdirSync(LOGS, { recursive: true });
  return join(LOGS, `${name}.log`);
}

/** The person's environment without what would lead the programs to other servers. */
function plainEnvironment() {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(TEMPORAL_|DATABASE_|META_|TWILIO_|UNSILENT_FAILPOINT)/.test(name),
  );
  return Object.fromEntries(kept);
}

async function prepareDatabase(admin, name, env) {
  const url = await ensureDatabase(admin, name);
  const prepare = startProduct({
    name: `prepare ${name}`,
    program: join(DIST, 'dev', 'prepare.js'),
    env: { ...env, DATABASE_URL: url, DATABASE_ROLE_PASSWORD: PASSWORD, DEMO_TOKEN: 'bench-token' },
    logFile: logFileOf(`prepare-${name}`),
  });
  const how = await prepare.end;
  if (how !== 'code 0') prepare.check();
  return url;
}

/** A Postgres whose commits reach the disk, in a folder that goes when it stops. */
async function startDatabaseServer() {
  const folder = mkdtempSync(join(tmpdir(), `unsilent-bench-${process.pid}-`));
  chmodSync(folder, 0o755);
  return startPostgres({
    folder: join(folder, 'postgres'),
    port: await freePort(),
    password: PASSWORD,
    logFile: logFileOf('postgres'),
    settings: { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' },
    temporary: true,
  });
}

/** The address of a database for a role that the product runs as. */
export function asRole(ownerUrl, role) {
  const url = new URL(ownerUrl);
  url.username = role;
  url.password = encodeURIComponent(PASSWORD);
  return url.href;
}

/** Starts the servers, the provider and the load generator, and makes the databases. */
export async function startEnvironment(run) {
  const env = { ...plainEnvironment(), TZ: 'UTC', NODE_ENV: 'production' };
  const postgres = run.add(await startDatabaseServer());
  const databases = {};
  for (const name of ['unsilent', 'bench_floor', 'bench_conversations']) {
    databases[name] = await prepareDatabase(postgres.url, name, env);
  }
  databases.bench_graphile = await ensureDatabase(postgres.url, 'bench_graphile');
  const temporal = run.add(
    await startTemporal({ port: await freePort(), uiPort: null, logFile: logFileOf('temporal') }),
  );
  const helper = async (name, more = {}) =>
    run.add(
      await startHelper({
        name,
        program: join(DIST, 'bench', `${name}.js`),
        env: { ...env, ...more },
        logFile: logFileOf(name),
      }),
    );
  const provider = await helper('provider');
  const load = await helper('load');
  const origin = `http://127.0.0.1:${provider.ready.port}`;
  const wire = { META_APP_SECRET: META.appSecret, META_GRAPH_URL: `${origin}/graph` };
  return { env, postgres, temporal, databases, provider, load, helper, origin, wire };
}

function webhookUrl(port) {
  return `http://127.0.0.1:${port}/webhooks/meta`;
}

export async function startFloor({ helper, databases, wire }) {
  const url = asRole(databases.bench_floor, 'unsilent_service');
  const floor = await helper('floor', { ...wire, BENCH_DATABASE_URL: url });
  return {
    title: 'floor F (no queue)',
    url: webhookUrl(floor.ready.port),
    processes: { responder: { pid: floor.pid } },
    children: [floor],
  };
}

export async function startGraphile({ helper, databases, wire }) {
  const more = { ...wire, BENCH_DATABASE_URL: databases.bench_graphile };
  const worker = await helper('graphile-worker', more);
  const web = await helper('graphile-web', more);
  return {
    title: 'graphile-worker',
    url: webhookUrl(web.ready.port),
    processes: { web: { pid: web.pid }, worker: { pid: worker.pid } },
    children: [worker, web],
  };
}

/** What the product's programs are told, as `npm start` would tell them. */
export function productEnvironment({ env, databases, temporal, origin, wire }, port) {
  return {
    ...env,
    ...wire,
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    DATABASE_URL: databases.unsilent,
    DATABASE_ROLE_PASSWORD: PASSWORD,
    HASH_KEY: 'a key of the benchmark, not of anybody',
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: 'default',
    META_APP_ID: META.appId,
    META_VERIFY_TOKEN: 'bench',
    TWILIO_ACCOUNT_SID: 'AC00000000000000000000000000000001',
    TWILIO_AUTH_TOKEN: 'bench-twilio-token',
    TWILIO_API_URL: `${origin}/twilio`,
  };
}

/** Starts one more worker process of the product, under a name that its leases carry. */
export function startWorker(env, name) {
  return startProduct({
    name,
    program: join(DIST, 'workers', 'main.js'),
    env: { ...env, WORKER_ID: name },
    logFile: logFileOf(name),
  });
}

export async function startOurs(environment, run) {
  const port = await freePort();
  const env = productEnvironment(environment, port);
  const program = join(DIST, 'api', 'main.js');
  const api = run.add(startProduct({ name: 'api', program, env, logFile: logFileOf('api') }));
  const worker = run.add(startWorker(env, 'worker'));
  const ready = await waitFor(
    async () => {
      api.check();
      worker.check();
      return answers(`http://127.0.0.1:${port}/readyz`);
    },
    { timeoutMs: READY_MS },
  );
  if (!ready) throw new Refusal(`The api was not ready within a minute; see ${logFileOf('api')}.`);
  return {
    title: 'Unsilent',
    url: webhookUrl(port),
    env,
    processes: {
      api: { pid: api.pid },
      worker: { pid: worker.pid },
      temporal: { pid: environment.temporal.pid },
    },
    children: [api, worker],
    worker,
  };
}

async function answers(url) {
  try {
    const { status } = await fetch(url, { signal: AbortSignal.timeout(5000) });
    return status === 200;
  } catch {
    // Not listening yet; it is asked again.
    return false;
  }
}
