/** `npm run bench`: measures Unsilent beside two simpler responders, in one run. */
import { build } from '../dev/build.mjs';
import { checkNode, endWith, ensureInstalled } from '../dev/machine.mjs';
import { readOptions, USAGE } from './options.mjs';

async function main() {
  checkNode();
  const options = readOptions(process.argv.slice(2));
  if (options.help) {
    console.log(USAGE);
    return;
  }
  await ensureInstalled();
  await build({ web: false });
  // Loaded only now: it uses what was installed and built.
  const { runBenchmark } = await import('./run.mjs');
  process.exitCode = await runBenchmark(options);
}

await main().catch(endWith);
process.exit();
