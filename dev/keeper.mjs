/**
 * Holds one server (Postgres, Temporal) for a parent that may be killed at any moment: when the
 * parent ends, however it ends, the channel to it closes, and the server is stopped properly.
 * Started by `keep.mjs` in a session of its own, so that Ctrl-C in the terminal does not reach it.
 */
import { spawn } from 'node:child_process';
import { closeSync, openSync, rmSync } from 'node:fs';

/** Asked to end, then told, then ended: for Postgres these are its fast and immediate shutdown. */
const STOP_STEPS = [
  { signal: 'SIGINT', afterMs: 0 },
  { signal: 'SIGQUIT', afterMs: 20_000 },
  { signal: 'SIGKILL', afterMs: 25_000 },
];

let child = null;
let removeAfter = [];

function tell(message) {
  if (process.connected) process.send(message);
}

function finish(result) {
  for (const path of removeAfter) rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  tell(result);
  if (process.connected) process.disconnect();
}

function start(order) {
  if (order.umask !== undefined) process.umask(order.umask);
  removeAfter = order.removeAfter ?? [];
  const log = openSync(order.logFile, 'a', 0o600);
  child = spawn(order.command, order.args, {
    ...order.identity,
    cwd: order.cwd,
    env: order.env,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  child.on('error', (error) => finish({ kind: 'failed', reason: error.message }));
  child.on('exit', (code, signal) => {
    child = null;
    finish({ kind: 'ended', code, signal });
  });
  if (child.pid) tell({ kind: 'started', pid: child.pid });
}

function stop() {
  for (const { signal, afterMs } of STOP_STEPS) {
    setTimeout(() => child?.kill(signal), afterMs).unref();
  }
}

process.on('message', (message) => (message.kind === 'start' ? start(message) : stop()));
process.on('disconnect', stop);
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
