/** What the tiers share: it is made once per run of jest, by whichever tier needs it first. */
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import pg from 'pg';
import { ROOT, isAlive } from '../../dev/machine.mjs';
import { stopOrphanedPostgres } from '../../dev/orphans.mjs';
import { freePort } from '../../dev/ports.mjs';
import { startPostgres } from '../../dev/postgres.mjs';
import { findTemporalCli, findTestServer } from '../../dev/tools.mjs';
import { buildWorkflowBundle } from '../../dev/workflow-bundle.mjs';

const PREFIX = 'unsilent-test-';
const ABANDONED_MS = 10 * 60_000;
const PASSWORD = 'test';

let postgres = null;

/** Starts Postgres unless `TEST_DATABASE_URL` names one; sets that variable to its admin address. */
export async function ensurePostgres() {
  if (process.env.TEST_DATABASE_URL) return;
  await removeAbandoned();
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  chmodSync(folder, 0o755);
  try {
    postgres = await startPostgres({
      folder: join(folder, 'postgres'),
      port: await freePort(),
      password: PASSWORD,
      logFile: join(folder, 'postgres.log'),
      settings: { synchronous_commit: 'on' },
      fresh: { fsync: 'off', full_page_writes: 'off' },
      temporary: true,
    });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  process.env.TEST_DATABASE_URL = postgres.url;
}

/** A run whose keeper was killed too leaves its server and its folder; the next run ends both. */
async function removeAbandoned() {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(PREFIX))) {
    const folder = join(tmpdir(), name);
    const owner = Number(name.slice(PREFIX.length).split('-')[0]);
    const changedAt = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (isAlive(owner) || Date.now() - changedAt < ABANDONED_MS) continue;
    await stopOrphanedPostgres(join(folder, 'postgres'));
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes commits survive a crash of the machine, as in production; only on a server of our own. */
export async function makeDurable() {
  if (!postgres) return;
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  try {
    await client.query('alter system set fsync = on');
    await client.query('alter system set full_page_writes = on');
    await client.query('select pg_reload_conf()');
  } finally {
    await client.end();
  }
}

/** Sets the variables that name the two Temporal programs. */
export async function ensureTemporalPrograms() {
  process.env.UNSILENT_TEMPORAL_CLI = await findTemporalCli();
  process.env.UNSILENT_TEMPORAL_TEST_SERVER = await findTestServer();
}

/** Builds the workflow bundle and sets `TEST_WORKFLOW_BUNDLE` to its path. */
export async function ensureWorkflowBundle() {
  if (!existsSync(join(ROOT, 'workflows', 'index.ts'))) {
    console.warn('No workflow bundle: workflows/index.ts does not exist yet.');
    return;
  }
  const bundle = join(ROOT, '.tmp', 'workflow-bundle.js');
  await buildWorkflowBundle(bundle);
  process.env.TEST_WORKFLOW_BUNDLE = bundle;
}

/** Sets `UNSILENT_CHROMIUM` to a browser's path, if the machine has one. */
export function findChromium() {
  if (process.env.UNSILENT_CHROMIUM) return;
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  const found = candidates.find((path) => existsSync(path));
  if (found) process.env.UNSILENT_CHROMIUM = found;
  else console.warn('No Chromium on the PATH: the browser tests are skipped.');
}

/** Stops what this run started. */
export async function release() {
  await postgres?.stop();
  if (postgres) delete process.env.TEST_DATABASE_URL;
  postgres = null;
}
