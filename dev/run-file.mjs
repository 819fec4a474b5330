/** Knows whether this checkout already runs, and notices when whoever started it is gone. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal, commandLineOf, isAlive, waitFor } from './machine.mjs';

const STOP_MS = 60_000;
const WATCH_MS = 1000;

function parentOf(pid) {
  if (process.platform !== 'linux') return null;
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^PPid:\t(\d+)$/m.exec(status)?.[1] ?? 0);
}

/** The processes between npm and this one: npm itself, and the shell that it may use. */
async function launchers() {
  if (!process.env.npm_lifecycle_event || process.platform === 'win32') return [];
  const parent = process.ppid;
  const grandparent = /^\S*sh -c/.test(await commandLineOf(parent)) ? parentOf(parent) : null;
  return [parent, grandparent].filter((pid) => pid > 1);
}

function read(path) {
  if (!existsSync(path)) return null;
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    // A run that was killed while it wrote the file.
    if (error instanceof SyntaxError) return { pid: 0, launchers: [] };
    throw error;
  }
}

/**
 * Marks this process as the one that runs from the folder `home`. Refuses while another does; one
 * whose npm was killed is stopped. `afterKill` tells that the last run did not end by itself, so
 * its children may still be on their way out. `watch` calls back once the launcher is gone.
 */
export async function claimHome(home) {
  const path = join(home, 'run.json');
  const earlier = read(path);
  if (earlier && (await isRunning(earlier.pid))) await replace(earlier, home);
  const ours = { pid: process.pid, launchers: await launchers() };
  writeFileSync(path, JSON.stringify(ours));
  return {
    afterKill: earlier !== null,
    watch(callback) {
      const timer = setInterval(() => {
        if (ours.launchers.every(isAlive)) return;
        clearInterval(timer);
        callback();
      }, WATCH_MS);
      timer.unref();
    },
    release() {
      rmSync(path, { force: true });
    },
  };
}

async function isRunning(pid) {
  return pid !== process.pid && pid > 0 && /start\.mjs/.test(await commandLineOf(pid));
}

async function replace({ pid, launchers: theirs }, home) {
  if (theirs.every(isAlive)) {
    throw new Refusal(
      `Unsilent already runs with the data in ${home} (process ${pid}); stop it first, or set UNSILENT_HOME and the ports for a second one.`,
    );
  }
  console.log(`Stopping an earlier run whose npm is gone (process ${pid}) …`);
  if (isAlive(pid)) process.kill(pid, 'SIGTERM');
  if (await waitFor(() => !isAlive(pid), { timeoutMs: STOP_MS })) return;
  throw new Refusal(`The earlier run (process ${pid}) does not stop; end it first.`);
}
