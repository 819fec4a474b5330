/** Ends the servers that a killed run left behind. Needs no installed package. */
import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal, commandLineOf, isAlive, waitFor } from './machine.mjs';

const STEP_MS = 20_000;

async function end(pid, title, signals) {
  console.log(`Stopping the ${title} that an earlier run left behind (process ${pid}) …`);
  for (const signal of signals) {
    if (isAlive(pid)) process.kill(pid, signal);
    if (await waitFor(() => !isAlive(pid), { timeoutMs: STEP_MS })) return;
  }
  throw new Refusal(`The ${title} of an earlier run (process ${pid}) does not stop; end it first.`);
}

/**
 * Stops the Postgres whose data lie in `folder`, if one runs. Its pid file is believed only if
 * that process is this Postgres; otherwise the number belongs to another program by now, and the
 * file is removed, because it would keep Postgres from starting.
 */
export async function stopOrphanedPostgres(folder) {
  const file = join(folder, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  const commandLine = pid > 0 ? await commandLineOf(pid) : '';
  const isOurs = [folder, realpathSync(folder)].some((path) => commandLine.includes(path));
  if (isOurs && commandLine.includes('postgres')) {
    await end(pid, 'PostgreSQL', ['SIGINT', 'SIGQUIT', 'SIGKILL']);
  }
  rmSync(file, { force: true });
}

/** Stops the Temporal server of the pid file, if the process of that number still is one. */
export async function stopOrphanedTemporal(pidFile) {
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8'));
  if (pid > 0 && (await commandLineOf(pid)).includes('server start-dev')) {
    await end(pid, 'Temporal server', ['SIGINT', 'SIGKILL']);
  }
  rmSync(pidFile, { force: true });
}
