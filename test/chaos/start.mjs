/** `npm run chaos`: real processes are killed while leads arrive; nobody may be lost. */
import { build } from '../../dev/build.mjs';
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
  if (options.build) await build({ web: false });
  // Loaded only now: it uses what was installed and built.
  const { runChaos } = await import('./run.mjs');
  process.exitCode = await runChaos(options);
}

await main().catch(endWith);
process.exit();
