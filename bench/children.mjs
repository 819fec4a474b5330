/** The processes that a benchmark measures or measures with; all end with this one. */
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { lastLines } from '../dev/keep.mjs';
import { ROOT, Refusal } from '../dev/machine.mjs';

const PRELOAD = join(ROOT, 'dev', 'die-with-parent.cjs');
const GRACE_MS = 20_000;

function watchEnd(child, name, logFile) {
  let ended = null;
  const end = new Promise((fulfil) => {
    child.on('error', (error) => fulfil((ended = error.message)));
    child.on('exit', (code, signal) => fulfil((ended = signal ?? `code ${code}`)));
  });
  return {
    name,
    pid: child.pid,
    end,
    /** Throws, with the end of its log, if the program has ended. */
    check() {
      if (ended === null) return;
      throw new Refusal(`${name} ended with ${ended}; its log ends with:\n${lastLines(logFile)}`);
    },
    async stop() {
      if (ended !== null) return;
      child.kill('SIGTERM');
      const hard = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
      await end;
      clearTimeout(hard);
    },
    /** Ends it as a crash of its machine would. */
    async kill() {
      child.kill('SIGKILL');
      await end;
    },
  };
}

function spawnLogged(program, { logFile, env, args = [], stdin, ipc }) {
  const log = openSync(logFile, 'w', 0o600);
  const preload = stdin === 'pipe' ? ['--require', PRELOAD] : [];
  const child = spawn(process.execPath, ['--enable-source-maps', ...preload, program, ...args], {
    cwd: ROOT,
    env,
    detached: true,
    stdio: [stdin, log, log, ...(ipc ? ['ipc'] : [])],
  });
  closeSync(log);
  return child;
}

/** Starts a program of the product, exactly as `npm start` does, but with its log in a file. */
export function startProduct({ name, program, args, env, logFile }) {
  const child = spawnLogged(program, { logFile, env, args, stdin: 'pipe', ipc: false });
  child.stdin.on('error', () => undefined);
  return watchEnd(child, name, logFile);
}

/**
 * Starts a program of the benchmark's own and resolves when it is ready. `ask` puts a question to
 * it and resolves with the answer; `ready` is what it said of itself.
 */
export async function startHelper({ name, program, env, logFile }) {
  const child = spawnLogged(program, { logFile, env, stdin: 'ignore', ipc: true });
  const watched = watchEnd(child, name, logFile);
  const waiting = new Map();
  const answered = (id) => new Promise((fulfil, reject) => waiting.set(id, { fulfil, reject }));
  child.on('message', ({ id, result, error }) => {
    const asker = waiting.get(id);
    waiting.delete(id);
    if (error) asker?.reject(new Error(`${name}: ${error}`));
    else asker?.fulfil(result);
  });
  const failIfEnded = watched.end.then(() => watched.check());
  failIfEnded.catch(() => undefined);
  const ready = await Promise.race([answered(0), failIfEnded]);
  let questions = 0;
  return {
    ...watched,
    ready,
    ask(kind, argument) {
      const id = (questions += 1);
      child.send({ id, kind, argument });
      return Promise.race([answered(id), failIfEnded]);
    },
  };
}
