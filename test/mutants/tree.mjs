/** The copy of the working tree in which mutants live; the tree itself is never touched. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT, Refusal, isAlive } from '../../dev/machine.mjs';

/** Inside the project, so that the packages are found where they are. */
const COPY = join(ROOT, '.tmp', 'mutants', 'tree');
/** The process that works in the copy; its place is fixed, so that jest's cache serves every run. */
const OWNER = join(ROOT, '.tmp', 'mutants', 'owner');

/** Copies what git knows or would take, and returns the folder. Throws where a run is at work. */
export function copyTree() {
  const owner = existsSync(OWNER) ? Number(readFileSync(OWNER, 'utf8')) : null;
  if (owner !== null && owner !== process.pid && isAlive(owner)) {
    throw new Refusal(`Process ${owner} runs the mutants already. Wait for it, or end it.`);
  }
  mkdirSync(dirname(OWNER), { recursive: true });
  writeFileSync(OWNER, String(process.pid));
  rmSync(COPY, { recursive: true, force: true });
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  for (const path of listed.split('\0').filter(Boolean)) {
    if (!existsSync(join(ROOT, path))) continue;
    mkdirSync(dirname(join(COPY, path)), { recursive: true });
    cpSync(join(ROOT, path), join(COPY, path));
  }
  return COPY;
}

/** Removes the copy. */
export function removeTree() {
  rmSync(COPY, { recursive: true, force: true });
  rmSync(OWNER, { force: true });
}

/** Throws where a mutant's text does not stand in its file exactly once, and names each of them. */
export function checkTexts(copy, mutants) {
  const lost = mutants.filter(({ file, find }) => {
    return readFileSync(join(copy, file), 'utf8').split(find).length !== 2;
  });
  if (lost.length === 0) return;
  const lines = lost.map(({ name, file }) => `- ${name} (${file})`);
  throw new Refusal(
    `A mutant must keep up with the product. Find the text of these anew:\n${lines.join('\n')}`,
  );
}

/** Writes one mutant into the copy and returns how to take it back. */
export function applyMutant(copy, { file, find, replace }) {
  const path = join(copy, file);
  const original = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    original.replace(find, () => replace),
  );
  return () => writeFileSync(path, original);
}
