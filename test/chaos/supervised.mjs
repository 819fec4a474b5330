/** A process of the product under a supervisor: killed at any moment, started again at once. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '../../dev/machine.mjs';

const PRELOAD = join(ROOT, 'dev', 'die-with-parent.cjs');
/** As systemd's RestartSec, and longer where it ends by itself again and again. */
const RESTART_MS = 100;
const RESTART_MS_MAX = 2_000;
const GRACE_MS = 25_000;

function start({ program, args, env, armed, log }) {
  const flags = ['--enable-source-maps', '--require', PRELOAD];
  const child = spawn(process.execPath, [...flags, program, ...args], {
    cwd: ROOT,
    env: armed === null ? env : { ...env, UNSILENT_FAILPOINT: armed },
    detached: true,
    stdio: ['pipe', log, log],
  });
  child.stdin.on('error', () => undefined);
  const end = new Promise((fulfil) => {
    child.on('error', (error) => fulfil(error.message));
    child.on('exit', (code, signal) => fulfil(signal ?? `code ${code}`));
  });
  return { child, end };
}

function reachedPoint(logFile, from) {
  const text = readFileSync(logFile, 'utf8').slice(from);
  return [...text.matchAll(/failpoint (\S+) reached/g)].map((match) => match[1]);
}

/**
 * Starts the program and starts it again whenever it ends. `arm()` gives the failpoint text for
 * the next start, or null; `ended({name, how, points, killed})` hears of each end.
 */
export function supervise({ name, program, args = [], env, folder, arm, ended }) {
  const logFile = join(folder, `${name}.log`);
  let child = null;
  let stopping = false;
  let held = false;
  let killed = false;
  let earlyEnds = 0;
  let running = Promise.resolve();
  let wake = () => undefined;

  async function runOnce() {
    const log = openSync(logFile, 'a', 0o600);
    const from = readFileSync(logFile, 'utf8').length;
    const startedAt = performance.now();
    killed = false;
    const started = start({ program, args, env, armed: arm(name), log });
    closeSync(log);
    child = started.child;
    const how = await started.end;
    child = null;
    const points = reachedPoint(logFile, from);
    const byItself = !killed && points.length === 0;
    earlyEnds = byItself && performance.now() - startedAt < 5_000 ? earlyEnds + 1 : 0;
    ended({ name, how, points, killed, byItself: byItself && !stopping, atMs: Date.now() });
  }

  async function loop() {
    while (!stopping) {
      if (held) await new Promise((fulfil) => (wake = fulfil));
      if (stopping) break;
      await runOnce();
      if (!stopping) await sleep(Math.min(RESTART_MS * 2 ** earlyEnds, RESTART_MS_MAX));
    }
  }
  running = loop();
  return {
    name,
    logFile,
    isUp: () => child !== null,
    pid: () => child?.pid ?? null,
    /** Ends it as a crash of its machine would; false where it is down already. */
    kill() {
      if (child === null) return false;
      killed = true;
      child.kill('SIGKILL');
      return true;
    },
    /** Keeps it down after its next end, until `release`. */
    hold() {
      held = true;
    },
    release() {
      held = false;
      wake();
    },
    async stop() {
      stopping = true;
      wake();
      const ending = child;
      ending?.kill('SIGTERM');
      const hard = setTimeout(() => ending?.kill('SIGKILL'), GRACE_MS);
      await running;
      clearTimeout(hard);
    },
  };
}
