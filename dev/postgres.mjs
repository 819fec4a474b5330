/** Starts and stops the embedded PostgreSQL, for `npm start` and for tests. */
import { randomUUID } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { keep, lastLines } from './keep.mjs';
import { Refusal, runQuietly, waitFor } from './machine.mjs';
import { stopOrphanedPostgres } from './orphans.mjs';
import { dataPlace, postgresIdentity, postgresPrograms } from './postgres-place.mjs';

const MAJOR = '18';
/** Long enough for crash recovery after a killed run. */
const READY_MS = 60_000;

/**
 * Starts Postgres on 127.0.0.1 with its data in `folder`, which is made if it does not exist, and
 * resolves when it accepts connections. A server that a killed run left behind is stopped first.
 * `settings` are server parameters; `fresh` ones are written only when the data is made, so that
 * `ALTER SYSTEM` can change them later. `temporary` removes the folder that holds `folder` as soon
 * as the server has stopped, even if this process was killed.
 */
export async function startPostgres({ folder, port, password, logFile, ...options }) {
  const identity = await postgresIdentity();
  const programs = postgresPrograms(identity);
  mkdirSync(dirname(folder), { recursive: true });
  const place = dataPlace(folder, identity);
  await stopOrphanedPostgres(place);
  if (!existsSync(join(place, 'PG_VERSION'))) {
    await initialise({ place, programs, identity, password, fresh: options.fresh ?? {} });
  }
  checkVersion(place);
  writeFileSync(logFile, '', { mode: 0o600 });
  const server = await keep({
    command: join(programs, 'postgres'),
    args: ['-D', place, '-p', String(port), ...parameters(options.settings ?? {})],
    identity,
    cwd: '/',
    env: { PATH: process.env.PATH, TZ: 'UTC', LC_ALL: 'C' },
    logFile,
    removeAfter: options.temporary ? [place, dirname(folder)] : [],
  });
  const url = `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;
  try {
    await untilReady({ url, server, logFile, folder });
  } catch (error) {
    await server.stop();
    throw error;
  }
  return { url, pid: server.pid, ended: server.ended, stop: server.stop };
}

/** Makes a database if the server has none of that name, and gives its address. */
export async function ensureDatabase(adminUrl, name) {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.href;
}

function parameters(settings) {
  const all = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 200,
    ...settings,
  };
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

function checkVersion(place) {
  const version = readFileSync(join(place, 'PG_VERSION'), 'utf8').trim();
  if (version === MAJOR) return;
  throw new Refusal(
    `The database files in ${place} were made by PostgreSQL ${version} and this is PostgreSQL ${MAJOR}; move that folder away to start with an empty database.`,
  );
}

/** Made beside its place and moved there when whole, so that a killed run leaves no half cluster. */
async function initialise({ place, programs, identity, password, fresh }) {
  const unfinished = `${place}.new`;
  const passwordFile = join(tmpdir(), `unsilent-${randomUUID()}`);
  rmSync(unfinished, { recursive: true, force: true });
  rmSync(place, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (identity.uid !== undefined) {
    for (const path of [unfinished, passwordFile]) chownSync(path, identity.uid, identity.gid);
  }
  try {
    const settings = { timezone: 'UTC', log_timezone: 'UTC', ...fresh };
    const { code, output } = await runQuietly(
      join(programs, 'initdb'),
      [
        ...['--pgdata', unfinished, '--username', 'postgres', '--pwfile', passwordFile],
        ...['--auth', 'scram-sha-256', '--encoding', 'UTF8', '--locale', 'C'],
        ...['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8', '--no-instructions'],
        ...Object.entries(settings).flatMap(([name, value]) => ['--set', `${name}=${value}`]),
        ...(fresh.fsync === 'off' ? ['--no-sync'] : []),
      ],
      { ...identity, cwd: '/', env: { PATH: process.env.PATH, TZ: 'UTC', LC_ALL: 'C' } },
    );
    if (code !== 0) throw new Refusal(`PostgreSQL could not make its files:\n${output.trim()}`);
    renameSync(unfinished, place);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(unfinished, { recursive: true, force: true });
  }
}

async function canConnect(url) {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return { kind: 'yes' };
  } catch (error) {
    return { kind: 'no', code: error.code };
  } finally {
    await client.end();
  }
}

async function untilReady({ url, server, logFile, folder }) {
  const result = await waitFor(
    async () => {
      if (server.ending()) return { kind: 'ended' };
      const answer = await canConnect(url);
      return answer.kind === 'yes' || answer.code === '28P01' ? answer : null;
    },
    { timeoutMs: READY_MS, everyMs: 50 },
  );
  if (result?.kind === 'yes') return;
  if (result?.code === '28P01') {
    throw new Refusal(
      `The database files in ${folder} were made with another password than secrets.json holds; bring that file back, or delete ${folder} to start with an empty database.`,
    );
  }
  throw new Refusal(`PostgreSQL did not start; ${logFile} ends with:\n${lastLines(logFile)}`);
}
