/**
 * `npm run histories`: runs the workflow tier and keeps every history that it replays in the folder
 * of this version, in place of those that were there. Folders of earlier versions stay for ever.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, endWith, runVisibly } from '../../dev/machine.mjs';

async function main() {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  rmSync(join(import.meta.dirname, version), { recursive: true, force: true });
  process.env.RECORD_HISTORIES = '1';
  const jest = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
  process.exitCode = await runVisibly(process.execPath, [
    ...[jest, '--config', join(ROOT, 'jest.config.cjs'), '--selectProjects', 'workflow'],
    ...['--testPathIgnorePatterns', 'replay.workflow.test'],
  ]);
  console.log(
    `The histories stand in test/replay/${version}; read what changed before you commit.`,
  );
}

await main().catch(endWith);
process.exit();
