/** `npm run orders`: every possible order of events over the simulator's model. */
import { checkNode, endWith, ensureInstalled } from '../../dev/machine.mjs';
import { loadProgram } from './start.mjs';

async function main() {
  checkNode();
  await ensureInstalled();
  const { runOrders } = await loadProgram('orders-main.js');
  const { claims } = runOrders(process.argv.slice(2));
  process.exitCode = claims.every(({ holds }) => holds) ? 0 : 1;
}

await main().catch(endWith);
