import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './machine.mjs';

/**
 * Starts a server under a keeper, which stops it when this process ends, even by `kill -9`.
 * `order` names `command`, `args`, `logFile`, and where wanted `env`, `cwd`, `identity`
 * (`{uid, gid}`), `umask`, and `removeAfter`, folders to delete once the server has stopped.
 */
export async function keep(order) {
  const keeper = spawn(process.execPath, [join(ROOT, 'dev', 'keeper.mjs')], {
    detached: true,
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  let ending = null;
  const ended = new Promise((fulfil) => {
    keeper.on('message', (message) => {
      if (message.kind !== 'started') ending = message;
    });
    keeper.on('exit', () => fulfil(ending ?? { kind: 'failed', reason: 'its keeper was killed' }));
  });
  const started = new Promise((fulfil) => {
    keeper.on('message', (message) => message.kind === 'started' && fulfil(message));
  });
  keeper.send({ kind: 'start', ...order });
  const first = await Promise.race([started, ended]);
  // A server must not keep its test run or script alive; `stop` and `ended` still work.
  keeper.unref();
  keeper.channel?.unref();
  return {
    pid: first.pid ?? null,
    ended,
    /** Null while the server runs. */
    ending: () => ending,
    /** Stops the server and resolves when it, and its keeper, have ended. */
    async stop() {
      keeper.ref();
      if (keeper.connected) keeper.send({ kind: 'stop' });
      await ended;
    },
  };
}

/** The last lines of a server's log, for a message that says why it did not start. */
export function lastLines(logFile, count = 8) {
  return readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-count).join('\n');
}
