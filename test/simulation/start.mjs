/** `npm run simulate`: the deterministic simulation, compiled as the other programs are. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compile } from '../../dev/compile.mjs';
import { ROOT, checkNode, endWith, ensureInstalled } from '../../dev/machine.mjs';

/** Compiles what changed and loads a program of this folder. */
export async function loadProgram(name) {
  await compile(join(ROOT, 'dist'));
  return createRequire(import.meta.url)(join(ROOT, 'dist', 'test', 'simulation', name));
}

/** Counts claims as tests, for `npm test`. */
export function countClaims(claims) {
  const failed = claims.filter(({ holds }) => !holds).length;
  return { passed: claims.length - failed, failed, skipped: 0 };
}

async function main() {
  checkNode();
  await ensureInstalled();
  const { runSimulation } = await loadProgram('main.js');
  const { claims } = await runSimulation(process.argv.slice(2));
  process.exitCode = claims.every(({ holds }) => holds) ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main().catch(endWith);
