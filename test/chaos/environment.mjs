/** Everything that a run starts: servers, the sandbox that is never killed, the product. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Refusal, ROOT, waitFor } from '../../dev/machine.mjs';
import { freePort } from '../../dev/ports.mjs';
import { ensureDatabase } from '../../dev/postgres.mjs';
import { startProduct } from '../../bench/children.mjs';
import { startKillablePostgres, startKillableTemporal } from './servers.mjs';
import { startSink } from './sink.mjs';
import { supervise } from './supervised.mjs';

const require = createRequire(import.meta.url);

export const DIST = join(ROOT, 'dist');
export const STAFF_TOKEN = 'chaos-staff-token';
const PASSWORD = 'chaos-password';
const SINK_SECRET = `whsec_${Buffer.from('secret-of-the-chaos-run').toString('base64')}`;
const READY_MS = 60_000;

/** The three programs of the product; each failpoint is reached in one of them. */
const PROGRAMS = {
  api: { program: join(DIST, 'api', 'main.js'), args: [] },
  conversations: { program: join(DIST, 'workers', 'main.js'), args: ['conversations'] },
  upkeep: { program: join(DIST, 'workers', 'main.js'), args: ['upkeep'] },
};

/** The program of a process: `conversations-2` is a second one of `conversations`. */
export function programOf(process) {
  return process.split('-')[0];
}

const LANE_OF_PREFIX = {
  webhook: 'api',
  ingest: 'api',
  wake: 'api',
  command: 'api',
  relay: 'upkeep',
  sweep: 'upkeep',
  notice: 'upkeep',
  job: 'upkeep',
};

/** The program in which a failpoint is reached. */
export function homeOf(point) {
  return LANE_OF_PREFIX[point.split(':')[0]] ?? 'conversations';
}

/** A folder of this run's own; a later test run removes it should this one be killed. */
function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), `unsilent-test-${process.pid}-chaos-`));
  chmodSync(folder, 0o755);
  return folder;
}

export function makeLogFolder(seed) {
  const name = `${new Date().toISOString().replaceAll(/[:.]/g, '-')}-seed-${seed}`;
  const logs = join(ROOT, '.tmp', 'chaos', name);
  mkdirSync(logs, { recursive: true });
  return logs;
}

function environmentOf({ databaseUrl, temporal, port, sandboxPort }) {
  const sandbox = `http://127.0.0.1:${sandboxPort}`;
  return {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    TZ: 'UTC',
    NODE_ENV: 'test',
    PORT: String(port),
    SANDBOX_PORT: String(sandboxPort),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    DATABASE_URL: databaseUrl,
    DATABASE_ROLE_PASSWORD: PASSWORD,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: 'default',
    META_APP_SECRET: 'chaos-app-secret',
    META_VERIFY_TOKEN: 'chaos-verify-token',
    META_GRAPH_URL: `${sandbox}/graph`,
    TWILIO_ACCOUNT_SID: 'AC00000000000000000000000000000001',
    TWILIO_AUTH_TOKEN: 'chaos-twilio-token',
    TWILIO_API_URL: `${sandbox}/twilio`,
    DEMO_TOKEN: STAFF_TOKEN,
  };
}

async function answers(url) {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(5_000) })).status === 200;
  } catch {
    // Not listening yet; it is asked again.
    return false;
  }
}

/** Its own systems, which the demo business has not: without them no job and no notice leaves. */
async function connectSink(databaseUrl, url) {
  const { Client } = require('pg');
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  for (const [index, kind] of ['crm-webhook', 'audit-webhook', 'notice-webhook'].entries()) {
    await client.query(
      `insert into integrations (id, business_id, kind, settings, secret, created_at)
       select $1, id, $2, $3, $4, now() from businesses`,
      [`int_0000000000007000800000000000000${index}`, kind, { url }, SINK_SECRET],
    );
  }
  await client.end();
}

async function prepare(env, logs) {
  const logFile = join(logs, 'prepare.log');
  const program = join(DIST, 'dev', 'prepare.js');
  const preparing = startProduct({ name: 'prepare', program, env, logFile });
  if ((await preparing.end) !== 'code 0') preparing.check();
}

/**
 * Starts all of it. `mode.arm` and `mode.ended` are the supervisor's questions and news
 * (supervised.mjs), `mode.processes` names the product's processes; `run.add` keeps what has to
 * be stopped.
 */
export async function startEnvironment({ run, logs, mode }) {
  const folder = makeFolder();
  run.add({ stop: async () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }) });
  const ports = [await freePort(), await freePort(), await freePort(), await freePort()];
  const [port, sandboxPort, postgresPort, temporalPort] = ports;
  const place = { folder, logs };
  const postgres = run.add(
    await startKillablePostgres({ ...place, port: postgresPort, password: PASSWORD }),
  );
  const databaseUrl = await ensureDatabase(postgres.url, 'unsilent');
  const temporal = run.add(await startKillableTemporal({ ...place, port: temporalPort }));
  const env = environmentOf({ databaseUrl, temporal, port, sandboxPort });
  await prepare(env, logs);
  const sink = run.add(await startSink());
  await connectSink(databaseUrl, sink.url);
  const sandbox = run.add(
    startProduct({
      name: 'sandbox',
      program: join(DIST, 'sandbox', 'main.js'),
      env,
      logFile: join(logs, 'sandbox.log'),
    }),
  );
  const lanes = {};
  for (const name of mode.processes) {
    const { arm, ended } = mode;
    const program = PROGRAMS[programOf(name)];
    lanes[name] = run.add(supervise({ name, ...program, env, folder: logs, arm, ended }));
  }
  const sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
  const apiUrl = `http://127.0.0.1:${port}`;
  for (const url of [`${sandboxUrl}/accounts`, `${apiUrl}/readyz`]) {
    if (await waitFor(() => answers(url), { timeoutMs: READY_MS })) continue;
    throw new Refusal(`${url} did not answer within a minute; the logs are in ${logs}.`);
  }
  return { env, databaseUrl, postgres, temporal, sandbox, lanes, sandboxUrl, apiUrl };
}
