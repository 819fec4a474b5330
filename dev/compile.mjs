import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { digestOf, filesUnder, isMadeFrom, rememberInputs, writeInOneStep } from './inputs.mjs';
import { ROOT } from './machine.mjs';

const FOLDERS = [
  ...['activities', 'ai', 'api', 'bench', 'channels', 'cli', 'config', 'db', 'dev', 'domain'],
  ...['sandbox', 'upkeep', 'workers', 'workflows', 'test/chaos', 'test/simulation'],
];
const ASSETS = /\.(sql|json|html|css|js|svg|ico|png)$/;
const BATCH = 16;

const SWC_OPTIONS = {
  configFile: false,
  swcrc: false,
  sourceMaps: true,
  jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
  // `import()` stays as it is, so that packages which are ES modules only can be loaded.
  module: { type: 'commonjs', ignoreDynamic: true },
};

function isCompiled(path) {
  return path.endsWith('.ts') && !path.endsWith('.d.ts');
}

function outputOf(path) {
  return isCompiled(path) ? path.replace(/\.ts$/, '.js') : path;
}

/** An output carries the time of its source; copying a time between files rounds it a little. */
function isOfSameTime(source, output) {
  const made = statSync(output, { throwIfNoEntry: false });
  return made !== undefined && Math.abs(made.mtimeMs - statSync(source).mtimeMs) < 2;
}

async function compileFile(swc, path, output) {
  const source = join(ROOT, path);
  mkdirSync(dirname(output), { recursive: true });
  if (isCompiled(path)) {
    const { code, map } = await swc.transform(readFileSync(source, 'utf8'), {
      ...SWC_OPTIONS,
      filename: source,
      sourceFileName: relative(dirname(output), source),
    });
    const name = output.slice(output.lastIndexOf('/') + 1);
    writeInOneStep(`${output}.map`, map);
    writeInOneStep(output, `${code}\n//# sourceMappingURL=${name}.map\n`);
  } else {
    writeInOneStep(output, readFileSync(source));
  }
  const { atimeMs, mtimeMs } = statSync(source);
  utimesSync(output, atimeMs / 1000, mtimeMs / 1000);
}

/** Outputs whose sources are gone would still be found by `require`. */
function removeLeftovers(folder, wanted) {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeLeftovers(path, wanted);
    else if (!wanted.has(path.replace(/\.map$/, ''))) rmSync(path, { force: true });
  }
}

/**
 * Compiles the TypeScript of all folders to CommonJS in `dist`, copies the files they read at run
 * time, and gives the number of files that had changed. Types are not checked here.
 */
export async function compile(dist) {
  const swc = createRequire(import.meta.url)('@swc/core');
  const compiler = digestOf(['dev/compile.mjs']) + swc.version;
  const everything = !isMadeFrom(join(dist, 'domain'), compiler);
  const sources = FOLDERS.flatMap(filesUnder).filter(
    (path) => isCompiled(path) || ASSETS.test(path),
  );
  const changed = sources.filter(
    (path) => everything || !isOfSameTime(join(ROOT, path), join(dist, outputOf(path))),
  );
  for (let start = 0; start < changed.length; start += BATCH) {
    await Promise.all(
      changed
        .slice(start, start + BATCH)
        .map((path) => compileFile(swc, path, join(dist, outputOf(path)))),
    );
  }
  const wanted = new Set(sources.map((path) => join(dist, outputOf(path))));
  for (const folder of FOLDERS) removeLeftovers(join(dist, folder), wanted);
  rememberInputs(join(dist, 'domain'), compiler);
  return changed.length;
}
