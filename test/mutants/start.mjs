/** `npm run mutants`: breaks the product on purpose and shows that a test notices each time. */
import { checkNode, endWith, ensureInstalled } from '../../dev/machine.mjs';
import { readOptions, USAGE } from './options.mjs';

async function main() {
  checkNode();
  const options = readOptions(process.argv.slice(2));
  if (options.help) {
    console.log(USAGE);
    return;
  }
  await ensureInstalled();
  // Loaded only now: it uses what was installed.
  const { runMutants } = await import('./run.mjs');
  const { survived, broken } = await runMutants(options);
  process.exitCode = survived + broken === 0 ? 0 : 1;
}

await main().catch(endWith);
process.exit();
