/** Finds the inputs of a build step and tells whether they changed since the last time. */
import { createHash } from 'node:crypto';
import {
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './machine.mjs';

const SKIPPED = new Set(['node_modules', 'dist', '.git']);

/** Every file below the folder or the file itself, as paths relative to the checkout, sorted. */
export function filesUnder(path) {
  const full = join(ROOT, path);
  if (!existsSync(full)) return [];
  if (statSync(full).isFile()) return [path];
  return readdirSync(full, { withFileTypes: true })
    .filter((entry) => !SKIPPED.has(entry.name))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => filesUnder(`${path}/${entry.name}`));
}

/** A digest over the names and contents of the files. */
export function digestOf(paths) {
  const hash = createHash('sha256');
  for (const path of paths.flatMap(filesUnder)) {
    hash.update(`${path}\0`).update(readFileSync(join(ROOT, path)));
  }
  return hash.digest('hex');
}

/** True if `output` exists and was made from inputs of this digest. */
export function isMadeFrom(output, digest) {
  const stamp = `${output}.inputs`;
  return existsSync(output) && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest;
}

/** Remembers what `output` was made from. */
export function rememberInputs(output, digest) {
  writeInOneStep(`${output}.inputs`, digest);
}

/** Writes a file so that nobody ever reads half of it. */
export function writeInOneStep(path, content) {
  const unfinished = `${path}.${process.pid}.new`;
  writeFileSync(unfinished, content);
  renameSync(unfinished, path);
}
