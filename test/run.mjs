/**
 * `npm test`: installs what is missing, runs every step, whatever failed before it, and closes
 * with one line, `N passed, N failed, N skipped`. `npm test -- NAME…` runs only those steps.
 */
import { Refusal, checkNode, ensureInstalled } from '../dev/machine.mjs';
import { STEPS } from './steps.mjs';

function chosenSteps(names) {
  const known = STEPS.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown) throw new Refusal(`There is no step "${unknown}"; there are ${known.join(', ')}.`);
  return names.length === 0 ? STEPS : STEPS.filter(({ name }) => names.includes(name));
}

function report(error) {
  console.error(error instanceof Refusal ? error.message : error);
  return { passed: 0, failed: 1, skipped: 0 };
}

async function runStep({ name, run }) {
  console.log(`\n── ${name}`);
  const started = performance.now();
  const result = await run().catch(report);
  return { name, seconds: (performance.now() - started) / 1000, ...result };
}

function sentence({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

function printSummary(results) {
  console.log('');
  for (const result of results) {
    const mark = result.failed > 0 ? '✗' : '✓';
    const seconds = `${result.seconds.toFixed(1)} s`.padStart(8);
    console.log(`${mark} ${result.name.padEnd(14)}${seconds}   ${sentence(result)}`);
  }
}

async function main() {
  const results = [];
  try {
    checkNode();
    const steps = chosenSteps(process.argv.slice(2));
    await ensureInstalled();
    for (const step of steps) results.push(await runStep(step));
  } catch (error) {
    results.push({ name: 'set-up', seconds: 0, ...report(error) });
  }
  printSummary(results);
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const result of results) {
    for (const key of Object.keys(total)) total[key] += result[key];
  }
  console.log(`\n${sentence(total)}`);
  process.exitCode = total.failed > 0 ? 1 : 0;
}

await main();
