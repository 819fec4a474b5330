/** The steps of `npm test`, in their order. Each gives `{passed, failed, skipped}`. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from '../dev/build.mjs';
import { ROOT, npm, runVisibly } from '../dev/machine.mjs';

/** Where the results of a tier lie afterwards, as jest writes them. */
function resultsOf(tier) {
  return join(ROOT, '.tmp', 'results', `${tier}.json`);
}

const PASSED = { passed: 1, failed: 0, skipped: 0 };
const FAILED = { passed: 0, failed: 1, skipped: 0 };

/** A step that either holds or throws its reason; it counts as one. */
function check(name, work) {
  return {
    name,
    async run() {
      await work();
      return PASSED;
    },
  };
}

function script(name) {
  return check(name, () => npm(['run', '--silent', name], `npm run ${name}`));
}

function tier(name) {
  return {
    name,
    async run() {
      const results = resultsOf(name);
      mkdirSync(join(ROOT, '.tmp', 'results'), { recursive: true });
      rmSync(results, { force: true });
      const jest = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
      const code = await runVisibly(process.execPath, [
        ...[jest, '--config', join(ROOT, 'jest.config.cjs'), '--selectProjects', name],
        ...['--passWithNoTests', '--json', '--outputFile', results],
      ]);
      return existsSync(results) ? count(results, code) : FAILED;
    },
  };
}

/** A file that could not run at all fails as one test; so does a run that failed without one. */
function count(results, code) {
  const json = JSON.parse(readFileSync(results, 'utf8'));
  const failed = json.numFailedTests + json.numRuntimeErrorTestSuites;
  return {
    passed: json.numPassedTests,
    failed: code !== 0 && failed === 0 ? 1 : failed,
    skipped: json.numPendingTests + json.numTodoTests,
  };
}

/** A program of test/simulation; each claim that it makes counts as one test. */
function simulation(name, program, run) {
  return {
    name,
    async run() {
      const { loadProgram, countClaims } = await import('./simulation/start.mjs');
      const { claims } = await run(await loadProgram(program));
      return countClaims(claims);
    },
  };
}

export const STEPS = [
  check('build', () => build()),
  script('types'),
  script('lint'),
  script('format:check'),
  script('borders'),
  script('unused'),
  tier('unit'),
  simulation('simulate', 'main.js', ({ runSimulation }) => runSimulation([])),
  simulation('orders', 'orders-main.js', ({ runOrders }) => runOrders([])),
  tier('db'),
  {
    name: 'mutants',
    async run() {
      // Loaded only now: on a fresh clone its packages are installed by then, and not before.
      const { runMutants } = await import('./mutants/run.mjs');
      const { killed, survived, broken } = await runMutants({ short: true });
      return { passed: killed, failed: survived + broken, skipped: 0 };
    },
  },
  tier('workflow'),
  tier('process'),
  tier('browser'),
  {
    name: 'proofs',
    async run() {
      // Loaded only now: on a fresh clone its packages are installed by then, and not before.
      const { checkProofs } = await import('./proofs/coverage.mjs');
      return checkProofs();
    },
  },
];
