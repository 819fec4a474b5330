/**
 * The proofs of this checkout, from the results that `npm test` left. `node test/proofs/coverage.mjs`
 * checks them, ids, traps, pages and the table of README.md; `--write` first writes the table.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../../dev/machine.mjs';
import { judge } from './judge.mjs';
import { TIERS } from './results.mjs';

const README = join(ROOT, 'README.md');
const PAGES = ['spec', 'invariants', 'traps'];

function textOf(...path) {
  return readFileSync(join(ROOT, ...path), 'utf8');
}

function texts(names, folder, parse = (text) => text) {
  const found = names.filter((name) => existsSync(join(ROOT, ...folder, name)));
  return Object.fromEntries(
    found.map((name) => [name.split('.')[0], parse(textOf(...folder, name))]),
  );
}

function inputs() {
  const pages = PAGES.map((name) => `${name}.md`);
  const results = TIERS.map((tier) => `${tier}.json`);
  return {
    pages: texts(pages, ['docs']),
    shared: texts(pages, ['..', 'shared']),
    plan: textOf('test', 'proofs.yml'),
    map: textOf('test', 'traps.md'),
    readme: existsSync(README) ? readFileSync(README, 'utf8') : '',
    results: texts(results, ['.tmp', 'results'], JSON.parse),
  };
}

function print({ failures, notes }) {
  for (const note of notes) console.log(note);
  for (const failure of failures) console.error(`✗ ${failure}`);
  if (failures.length === 0) console.log('Every id and every trap stands as written.');
}

/** The step of `npm test` behind the tiers; it counts as one. */
export function checkProofs() {
  const verdict = judge(inputs());
  print(verdict);
  const good = verdict.failures.length === 0;
  return { passed: good ? 1 : 0, failed: good ? 0 : 1, skipped: 0 };
}

function main(args) {
  const before = inputs();
  const { readme } = judge(before);
  if (args.includes('--write') && readme !== before.readme) writeFileSync(README, readme);
  const verdict = judge(args.includes('--write') ? { ...before, readme } : before);
  print(verdict);
  process.exitCode = verdict.failures.length === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
