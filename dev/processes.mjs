/** Child programs of `npm start`: prefixed output, orderly ends, no orphans. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { Refusal, ROOT } from './machine.mjs';

const PRELOAD = join(ROOT, 'dev', 'die-with-parent.cjs');
const NAME_WIDTH = 8;

function print(name, stream, target) {
  createInterface({ input: stream }).on('line', (line) => {
    target.write(`${name.padEnd(NAME_WIDTH)}| ${line}\n`);
  });
}

/**
 * Starts a Node program whose output lines appear under its name. It ends with this process, even
 * by `kill -9`; Ctrl-C in the terminal does not reach it, so that the order of stopping is ours.
 */
export function startProcess({ name, program, args = [], env }) {
  if (!existsSync(program)) {
    throw new Refusal(`${relative(ROOT, program)} does not exist, so ${name} cannot start.`);
  }
  const flags = ['--enable-source-maps', '--require', PRELOAD];
  const child = spawn(process.execPath, [...flags, program, ...args], {
    cwd: ROOT,
    env,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  print(name, child.stdout, process.stdout);
  print(name, child.stderr, process.stderr);
  // The child may be gone before the pipe is; its exit tells all there is to tell.
  child.stdin.on('error', () => undefined);
  const ended = new Promise((fulfil) => {
    child.on('error', (error) => fulfil({ name, how: error.message }));
    child.on('exit', (code, signal) =>
      fulfil({ name, code, how: signal ? `was ended by ${signal}` : `ended with code ${code}` }),
    );
  });
  return { name, pid: child.pid, ended, stop: (graceMs) => stopProcess(child, ended, graceMs) };
}

async function stopProcess(child, ended, graceMs) {
  child.kill('SIGTERM');
  const hard = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await ended;
  clearTimeout(hard);
}

async function stopOne(thing, graceMs) {
  try {
    await thing.stop(graceMs);
  } catch (error) {
    console.error(`Stopping ${thing.name} failed:`, error);
  }
}

/** A list of started things that are stopped in the reverse order of their start. */
export function stopList() {
  const started = [];
  let stopping = false;
  return {
    /** What is added once the stopping has begun is stopped at once. */
    add(thing) {
      if (stopping) void stopOne(thing, 0);
      else started.push(thing);
    },
    /** Stops each; a failure is reported and does not keep the others running. */
    async stopAll(graceMs) {
      stopping = true;
      if (started.length === 0) return;
      console.log('\nStopping …');
      while (started.length > 0) await stopOne(started.pop(), graceMs);
      console.log('Stopped.');
    },
  };
}
