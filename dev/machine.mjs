/**
 * What this checkout needs from the machine. Only Node's own modules are imported here, because
 * this runs before anything is installed.
 */
import { spawn } from 'node:child_process';
import { lstatSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The top folder of the checkout. */
export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** A reason to stop that a person can act on: it is printed as one sentence, without a stack. */
export class Refusal extends Error {}

/** The folder that holds the data of the embedded parts. */
export function homeFolder() {
  return resolve(ROOT, process.env.UNSILENT_HOME || '.unsilent');
}

/** Refuses a Node that cannot load this code (`engines` in package.json). */
export function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new Refusal(
    `Unsilent needs Node 20.19 or newer and this is Node ${process.versions.node}; install Node 22 and try again.`,
  );
}

/** Runs a program to its end and gives its exit code and output; it throws only if it cannot start. */
export function runQuietly(command, args, options = {}) {
  return new Promise((fulfil, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('error', reject);
    child.on('close', (code, signal) => fulfil({ code: code ?? signal, output }));
  });
}

/** Runs a program whose output the person at the terminal sees, and gives its exit code. */
export function runVisibly(command, args, options = {}) {
  return new Promise((fulfil, reject) => {
    const child = spawn(command, args, { cwd: ROOT, ...options, stdio: 'inherit' });
    const end = () => child.kill('SIGKILL');
    process.once('exit', end);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      process.off('exit', end);
      fulfil(code ?? signal);
    });
  });
}

function modifiedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function npmCommand(args) {
  // Under `npm start` npm names its own program, which also works where `npm` is a script.
  const own = process.env.npm_execpath;
  if (own && /npm-cli\.c?js$/.test(own)) return [process.execPath, [own, ...args]];
  return [process.platform === 'win32' ? 'npm.cmd' : 'npm', args];
}

/** Runs npm in the checkout, visibly; `what` finishes the sentence "… failed". */
export async function npm(args, what) {
  const [command, all] = npmCommand(args);
  const code = await runVisibly(command, all, { shell: command.endsWith('.cmd') });
  if (code !== 0) throw new Refusal(`${what} failed; the lines above say why.`);
}

/** Installs the packages when they are missing, half installed, or older than the lock file. */
export async function ensureInstalled() {
  const folder = join(ROOT, 'node_modules');
  const installed = modifiedAt(join(folder, '.package-lock.json'));
  if (installed > 0 && installed >= modifiedAt(join(ROOT, 'package-lock.json'))) return;
  if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink()) {
    // npm ci empties the folder that the link leads to, which another checkout may be using.
    throw new Refusal(
      'The packages do not fit package-lock.json, and node_modules is a link; install where it leads to, or remove the link.',
    );
  }
  console.log('Installing packages (npm ci), which takes a minute the first time …');
  await npm(['ci', '--include=dev', '--no-fund', '--no-audit'], 'Installing the packages with npm');
}

/** The state letter of a Linux process, or null if there is none; `Z` is dead and not yet buried. */
function linuxState(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2)[0];
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return null;
    throw error;
  }
}

/** True while a process with this id runs, whoever owns it. */
export function isAlive(pid) {
  if (process.platform === 'linux') return !['Z', 'X', null].includes(linuxState(pid));
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** The command line of a running process; empty where the system does not tell. */
export async function commandLineOf(pid) {
  if (!isAlive(pid) || process.platform === 'win32') return '';
  if (process.platform === 'linux') {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    } catch (error) {
      if (error.code === 'ENOENT' || error.code === 'ESRCH') return '';
      throw error;
    }
  }
  return (await runQuietly('ps', ['-o', 'command=', '-p', String(pid)])).output.trim();
}

/** Waits until `check` gives something true, and gives that; null when `timeoutMs` has passed. */
export async function waitFor(check, { timeoutMs, everyMs = 100 }) {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const result = await check();
    if (result) return result;
    if (performance.now() > deadline) return null;
    await new Promise((fulfil) => setTimeout(fulfil, everyMs));
  }
}

/** Ends a program: prints a refusal as its sentence and anything else with its stack, exit code 1. */
export function endWith(error) {
  console.error(error instanceof Refusal ? `\n${error.message}` : error);
  process.exitCode = 1;
}
