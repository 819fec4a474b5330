/** `npm run build`: everything that the programs in `dist/` and the console need. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compile } from './compile.mjs';
import { digestOf, isMadeFrom, rememberInputs } from './inputs.mjs';
import { ROOT, Refusal, endWith, npm } from './machine.mjs';
import { buildWorkflowBundle } from './workflow-bundle.mjs';

const DIST = join(ROOT, 'dist');
const WEB_INPUTS = ['web', 'node_modules/.package-lock.json'];

async function buildWeb() {
  if (!existsSync(join(ROOT, 'web', 'src'))) return false;
  const page = join(ROOT, 'web', 'dist', 'index.html');
  const digest = digestOf(WEB_INPUTS);
  if (isMadeFrom(page, digest)) return false;
  await npm(['run', 'build', '--silent', '-w', 'web'], 'Building the console');
  if (!existsSync(page)) throw new Refusal('Building the console made no web/dist/index.html.');
  rememberInputs(page, digest);
  return true;
}

/** Brings `dist/`, the workflow bundle and, unless `web` is false, the console up to date. */
export async function build({ web = true } = {}) {
  const started = performance.now();
  const done = [`${await compile(DIST)} files compiled`];
  if (!existsSync(join(ROOT, 'workflows', 'index.ts'))) {
    done.push('no workflow bundle, because workflows/index.ts does not exist');
  } else if (await buildWorkflowBundle(join(DIST, 'workflow-bundle.js'))) {
    done.push('workflow bundle built');
  }
  if (web && (await buildWeb())) done.push('console built');
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`Build: ${done.join(', ')} (${seconds} s)`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await build({ web: !process.argv.includes('--no-web') }).catch(endWith);
}
