import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { createServer } from 'node:net';
import { join } from 'node:path';

export const ROOT = join(__dirname, '..', '..');
const PRELOAD = join(ROOT, 'dev', 'die-with-parent.cjs');

/** A real process of the product or of a server, which ends with this one. */
export interface Running {
  readonly name: string;
  readonly output: string[];
  readonly ended: Promise<string>;
  isRunning(): boolean;
  stop(): Promise<void>;
  kill(signal?: NodeJS.Signals): Promise<void>;
}

function watch(name: string, child: ChildProcess): Running {
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on('line', (line) => output.push(line));
  }
  child.stdin?.on('error', () => undefined);
  let how: string | null = null;
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      how = signal ?? `code ${code ?? 'unknown'}`;
      resolve(how);
    });
  });
  return {
    name,
    output,
    ended,
    isRunning: () => how === null,
    stop: async () => {
      child.kill('SIGTERM');
      const hard = setTimeout(() => child.kill('SIGKILL'), 20_000);
      await ended;
      clearTimeout(hard);
    },
    kill: async (signal = 'SIGKILL') => {
      child.kill(signal);
      await ended;
    },
  };
}

/** Starts a compiled program of the product, as `npm start` does. */
export function startProgram(
  name: string,
  program: string,
  env: NodeJS.ProcessEnv,
  args: readonly string[] = [],
): Running {
  const flags = ['--enable-source-maps', '--require', PRELOAD];
  const child = spawn(process.execPath, [...flags, join(ROOT, 'dist', program), ...args], {
    cwd: ROOT,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  return watch(name, child);
}

/** Postgres or Temporal of its own, which a test may kill and start again. */
export interface TestServer {
  readonly address: string;
  command(order: 'stop' | 'kill' | 'start'): Promise<void>;
  close(): Promise<void>;
}

/** Starts a server in a process of its own and waits until it serves. */
export async function startServer(kind: 'postgres' | 'temporal'): Promise<TestServer> {
  const script = join(ROOT, 'test', 'support', 'server-process.mjs');
  const child = spawn(process.execPath, [script, kind], {
    cwd: ROOT,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => {
    const line = await lines.next();
    if (line.done === true) throw new Error(`the ${kind} server of the test ended`);
    return line.value;
  };
  const { address } = JSON.parse(await nextLine()) as { address: string };
  return {
    address,
    command: async (order) => {
      child.stdin.write(`${order}\n`);
      await nextLine();
    },
    close: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.stdin.end();
      await ended;
    },
  };
}

/** A port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return address.port;
}

/** Asks again until `check` gives something, in real time: what is waited for is real. */
export async function waitUntil<Result>(
  what: string,
  check: () => Promise<Result | null | undefined | false>,
  limitMs = 45_000,
): Promise<Result> {
  const endsAt = Date.now() + limitMs;
  for (;;) {
    const result = await check().catch(() => null);
    if (result !== null && result !== undefined && result !== false) return result;
    if (Date.now() > endsAt)
      throw new Error(`within ${limitMs} ms it never came true that ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
