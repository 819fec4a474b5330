/** Postgres and Temporal, which are killed and started again with what is on their disks. */
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { commandLineOf, isAlive, waitFor } from '../../dev/machine.mjs';
import { startPostgres } from '../../dev/postgres.mjs';
import { startTemporal } from '../../dev/temporal.mjs';

const START_MS = 90_000;
const CHILDREN_MS = 20_000;

/** Tries until it starts, as a supervisor would. */
async function untilStarted(start) {
  let failure = null;
  const server = await waitFor(
    () =>
      start().catch((error) => {
        failure = error;
        return null;
      }),
    { timeoutMs: START_MS, everyMs: 250 },
  );
  if (server === null) throw failure;
  return server;
}

function childrenOf(pid) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => {
      try {
        const stat = readFileSync(`/proc/${candidate}/stat`, 'utf8');
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === pid;
      } catch {
        // It ended while the list was read.
        return false;
      }
    });
}

/** The backends that serve the product. */
async function backendsOf(pid) {
  const lines = await Promise.all(
    childrenOf(pid).map(async (child) => [child, await commandLineOf(child)]),
  );
  return lines.filter(([, line]) => line.includes('unsilent_')).map(([child]) => child);
}

/** Starts Postgres with durable commits. `kill` takes `immediate`, `postmaster` or `backend`. */
export async function startKillablePostgres({ folder, logs, port, password }) {
  let starts = 0;
  const start = () =>
    startPostgres({
      folder: join(folder, 'postgres'),
      port,
      password,
      logFile: join(logs, `postgres-${(starts += 1)}.log`),
      settings: { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' },
    });
  let server = await untilStarted(start);
  return {
    url: server.url,
    pid: () => server.pid,
    async kill(manner, pick) {
      if (manner === 'backend') {
        const backends = await backendsOf(server.pid);
        // The postmaster ends all others too and recovers by itself.
        if (backends.length > 0) process.kill(pick(backends), 'SIGKILL');
        return;
      }
      const children = childrenOf(server.pid);
      process.kill(server.pid, manner === 'postmaster' ? 'SIGKILL' : 'SIGQUIT');
      await server.ended;
      await waitFor(() => !children.some(isAlive), { timeoutMs: CHILDREN_MS });
      server = await untilStarted(start);
    },
    stop: () => server.stop(),
  };
}

/** Starts Temporal with its store in a file. `kill` takes `restart` or `wipe`. */
export async function startKillableTemporal({ folder, logs, port }) {
  const databaseFile = join(folder, 'temporal.db');
  let starts = 0;
  const start = () =>
    startTemporal({
      port,
      uiPort: null,
      databaseFile,
      logFile: join(logs, `temporal-${(starts += 1)}.log`),
    });
  let server = await untilStarted(start);
  return {
    address: server.address,
    pid: () => server.pid,
    async kill(manner) {
      process.kill(server.pid, 'SIGKILL');
      await server.ended;
      if (manner === 'wipe') {
        for (const ending of ['', '-wal', '-shm', '-journal']) {
          rmSync(databaseFile + ending, { force: true });
        }
      }
      server = await untilStarted(start);
    },
    stop: () => server.stop(),
  };
}
