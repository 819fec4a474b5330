import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../dev/machine.mjs';
import { ensurePostgres, release } from '../setup/environment.mjs';
import { runTests } from './jest.mjs';
import { MUTANTS } from './mutants.mjs';
import { applyMutant, checkTexts, copyTree, removeTree } from './tree.mjs';

/** What became of each mutant of the last run, and how long its tests took to notice. */
const RESULTS = join(ROOT, '.tmp', 'results', 'mutants.json');

/** All tests that any mutant names, on the unchanged copy. */
const UNCHANGED_LIMIT_MS = 3_600_000;

/**
 * Runs the chosen mutants one after the other and prints what became of each. First the tests run
 * on the unchanged copy: a test that fails anyway kills nothing, and fails the run. Returns how
 * many were killed, how many survived, and how many tests failed without any mutant.
 */
export async function runMutants({ only, short, list }) {
  const chosen = MUTANTS.filter(
    (mutant) =>
      (!short || mutant.short === true) && (only === undefined || mutant.name.includes(only)),
  );
  if (list) {
    for (const { name, file } of chosen) console.log(`${name}  (${file})`);
    return { killed: 0, survived: 0, broken: 0 };
  }
  if (chosen.length === 0) throw new Error('no mutant has such a name');
  const copy = copyTree();
  try {
    checkTexts(copy, MUTANTS);
    if (chosen.some(({ tier }) => tier === 'db')) await ensurePostgres();
    const broken = await findBroken(copy, chosen);
    for (const name of broken) console.log(`fails without any mutant, and kills none: ${name}`);
    const results = [];
    for (const mutant of chosen) {
      const result = await judge(copy, mutant, broken);
      results.push(result);
      console.log(line(result));
    }
    keep(results);
    const killed = results.filter(({ killedBy }) => killedBy !== null).length;
    console.log(`\n${killed} of ${results.length} mutants killed.`);
    return { killed, survived: results.length - killed, broken: broken.size };
  } finally {
    await release();
    removeTree();
  }
}

/** The tests that fail on the unchanged copy. */
async function findBroken(copy, chosen) {
  const broken = new Set();
  for (const tier of ['unit', 'db']) {
    const tests = [...new Set(chosen.filter((m) => m.tier === tier).flatMap((m) => m.tests))];
    if (tests.length === 0) continue;
    const { failed, hung } = await runTests(copy, { tier, tests }, UNCHANGED_LIMIT_MS);
    if (hung) throw new Error('without any mutant the tests never end');
    for (const name of failed) broken.add(name);
  }
  return broken;
}

async function judge(copy, mutant, broken) {
  const { name, file } = mutant;
  const takeBack = applyMutant(copy, mutant);
  const startedMs = performance.now();
  try {
    const { failed, hung } = await runTests(copy, mutant);
    const killer = failed.find((test) => !broken.has(test)) ?? null;
    const seconds = (performance.now() - startedMs) / 1000;
    return { name, file, killedBy: hung ? 'it never ended' : killer, seconds };
  } finally {
    takeBack();
  }
}

function keep(results) {
  mkdirSync(join(ROOT, '.tmp', 'results'), { recursive: true });
  writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
}

function line({ name, killedBy, seconds }) {
  const time = `${seconds.toFixed(1)} s`.padStart(8);
  return killedBy === null
    ? `SURVIVED ${time}  ${name}`
    : `killed   ${time}  ${name}\n                   by: ${killedBy}`;
}
