import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../dev/machine.mjs';

const JEST = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');

/** The tests of one mutant may take so long; a mutant that hangs has been noticed. */
const RUN_LIMIT_MS = 300_000;

/**
 * Runs tests of one tier in the copy, all of them or those with `title` in their name; `failed`
 * names those that failed, `hung` says that none came back. Throws where a file could not even be
 * loaded: that is a broken mutant, not a killed one.
 */
export async function runTests(copy, { tier, tests, title }, limitMs = RUN_LIMIT_MS) {
  const output = join(copy, 'mutant-results.json');
  rmSync(output, { force: true });
  const args = [
    ...[JEST, '--config', join(copy, 'jest.config.cjs'), '--selectProjects', tier],
    ...['--testPathPatterns', ...tests, '--silent', '--json', '--outputFile', output],
    // A test that fails may leave a socket open, for which jest would wait for ever.
    '--forceExit',
    ...(title === undefined ? [] : ['--testNamePattern', asPattern(title)]),
  ];
  if (await hangs(args, copy, limitMs)) return { failed: [], hung: true };
  if (!existsSync(output)) throw new Error(`jest left no results for ${tests.join(' ')}`);
  const { testResults, numTotalTests, numPendingTests } = JSON.parse(readFileSync(output, 'utf8'));
  const files = testResults.map(({ name, ...file }) => {
    return { ...file, path: name.slice(copy.length + 1) };
  });
  const failed = files.flatMap(failuresOf);
  if (numTotalTests === numPendingTests) throw new Error(`no test matches ${tests.join(' ')}`);
  return { failed, hung: false };
}

/** The regular expression that matches `text` as it stands. */
function asPattern(text) {
  return text.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&');
}

function failuresOf({ path, status, message, assertionResults: tests }) {
  if (status !== 'failed') return [];
  if (tests.length === 0) throw new Error(`${path} could not run:\n${message.slice(0, 2000)}`);
  const failed = tests.filter((test) => test.status === 'failed');
  // What the audit finds after the last test fails the file and no test.
  if (failed.length === 0) return [`the audit after a test of ${path}`];
  return failed.map((test) => test.fullName);
}

function hangs(args, cwd, limitMs) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, stdio: 'ignore' });
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      resolve(true);
    }, limitMs);
    child.once('error', reject);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}
