import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { digestOf, isMadeFrom, rememberInputs, writeInOneStep } from './inputs.mjs';
import { ROOT, Refusal } from './machine.mjs';

const INPUTS = [
  'workflows',
  'domain',
  'activities/contract.ts',
  'dev/workflow-bundle.mjs',
  'node_modules/.package-lock.json',
];

/**
 * Builds the bundle of all workflows into the file `output`, if its inputs changed, and says
 * whether it did. Workers, tests and replays use the same bundle. A module that cannot run in the
 * workflow sandbox, or that cannot be found, fails the build with its name.
 */
export async function buildWorkflowBundle(output) {
  const digest = digestOf(INPUTS);
  if (isMadeFrom(output, digest)) return false;
  const require = createRequire(import.meta.url);
  const { bundleWorkflowCode, DefaultLogger } = require('@temporalio/worker');
  const complaints = [];
  const logger = new DefaultLogger('WARN', ({ level, message }) => {
    complaints.push(`${level}: ${message}`);
  });
  let code;
  try {
    ({ code } = await bundleWorkflowCode({
      workflowsPath: join(ROOT, 'workflows', 'index.ts'),
      logger,
    }));
  } catch (error) {
    const details = complaints.map(withoutListing).join('\n');
    throw new Refusal(`The workflow bundle failed: ${error.message}\n${details}`);
  }
  if (complaints.length > 0) {
    throw new Refusal(['The workflow bundle has warnings:', ...complaints].join('\n'));
  }
  mkdirSync(dirname(output), { recursive: true });
  writeInOneStep(output, code);
  rememberInputs(output, digest);
  return true;
}

/** The bundler lists every module before it names the ones that are wrong. */
function withoutListing(text) {
  return text.slice(Math.max(0, text.indexOf('ERROR in')));
}
