import { parseArgs } from 'node:util';
import { tryOrders } from './orders';
import type { Claim } from './report';

export const DEFAULT_DEPTH = 6;
const FAILURES_SHOWN_MAX = 3;

/** `npm run orders`: every possible order up to a length, with its counts (LV-2). */
export function runOrders(args: readonly string[]): { readonly claims: readonly Claim[] } {
  const { values } = parseArgs({ args: [...args], options: { depth: { type: 'string' } } });
  const wanted = Number(values.depth ?? DEFAULT_DEPTH);
  if (!Number.isInteger(wanted) || wanted < 1) throw new RangeError('--depth is a whole number');
  const claims: Claim[] = [];
  for (let depth = 1; depth <= wanted; depth += 1) {
    const startedMs = performance.now();
    const { orders, states, steps, broken } = tryOrders(depth, null);
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
    const figures = `${orders} orders, ${states} states, ${steps} steps, ${seconds} s`;
    console.log(`depth ${depth}: ${figures}, violations ${broken.length}`);
    for (const { events, violations } of broken.slice(0, FAILURES_SHOWN_MAX)) {
      console.log([...violations, ...events.map((event) => `  ${event}`)].join('\n'));
    }
    const says = `every possible order of ${depth} events keeps the invariants`;
    claims.push({ says, holds: broken.length === 0, detail: figures });
  }
  return { claims };
}
