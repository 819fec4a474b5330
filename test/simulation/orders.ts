import { checkWorld } from './check/check';
import { checkRest } from './check/liveness';
import { describeAction, type Action } from './machine/actions';
import { applyAction } from './machine/apply';
import { cloneData } from './machine/clone';
import { sweepDueMs } from './machine/sweeper';
import { isReady } from './machine/workflow';
import { makeWorld, type World, type WorldOptions } from './machine/world';
import type { Mutant } from './model/mutants';
import { settleDown } from './simulate';

/** What may come next in an order. Each is one or a few steps of the same machine. */
export const ORDER_EVENTS = [
  'inbound',
  'second inbound',
  'timer due',
  'claim',
  'provider accept',
  'answer lost',
  'status',
  'takeover',
  'hand-back',
  'opt-out',
  'kill',
  'sweep',
] as const;
export type OrderEvent = (typeof ORDER_EVENTS)[number];

/** A worker's way from one event to the next is short; more would be a circle. */
const EFFECTS_MAX = 8;

function phaseOf(world: World) {
  return world.runs[0]?.task?.phase ?? null;
}

/** Lets the run go on until `stop` holds; the steps that it took. */
function runUntil(world: World, last: Action, stop: () => boolean): Action[] {
  const done: Action[] = [];
  while (done.length < EFFECTS_MAX && isReady(world, 0) && !stop()) {
    const action: Action = phaseOf(world) === 'call' ? last : { do: 'run', c: 0 };
    if (!applyAction(world, action)) break;
    done.push(action);
  }
  return done;
}

const AT_PROVIDER = ['gate', 'check-window', 'call'];

/** From the claim to the provider's decision; whether the worker hears of it is `answer`. */
function call(world: World, answer: 'accept' | 'accept-unheard'): Action[] {
  if (!AT_PROVIDER.includes(phaseOf(world) ?? '')) return [];
  return runUntil(world, { do: 'run', c: 0, answer }, () => {
    return !AT_PROVIDER.includes(phaseOf(world) ?? '');
  });
}

function one(world: World, action: Action): Action[] {
  return applyAction(world, action) ? [action] : [];
}

function leadMessages(world: World): number {
  return world.written.filter(
    ({ element }) => element.type === 'message' && element.text === 'text',
  ).length;
}

/** Each event changes the world where it can occur, and returns the steps; none where it cannot. */
const EVENTS: Record<OrderEvent, (world: World) => Action[]> = {
  inbound: (world) =>
    leadMessages(world) === 0 ? one(world, { do: 'lead', c: 0, text: 'text' }) : [],
  'second inbound': (world) =>
    leadMessages(world) === 1 ? one(world, { do: 'lead', c: 0, text: 'text' }) : [],
  // The machine goes on by itself: it finishes what it has in hand, or does what is due next.
  'timer due': (world) => {
    const done = isReady(world, 0) ? one(world, { do: 'run', c: 0 }) : one(world, { do: 'next' });
    if (done.length === 0) return done;
    return [...done, ...runUntil(world, { do: 'run', c: 0 }, () => phaseOf(world) === null)];
  },
  claim: (world) => {
    if (phaseOf(world) !== null) return [];
    return runUntil(world, { do: 'run', c: 0 }, () => phaseOf(world) === 'gate');
  },
  'provider accept': (world) => call(world, 'accept'),
  'answer lost': (world) => call(world, 'accept-unheard'),
  status: (world) => {
    const n = world.accepted.length - 1;
    const id = `status-provider-${n}-delivered`;
    if (n < 0 || world.facts.receipts[`0/${id}`] === true) return [];
    return one(world, { do: 'status', n, status: 'delivered', named: true });
  },
  takeover: (world) => one(world, { do: 'staff', c: 0, command: 'claim' }),
  'hand-back': (world) => one(world, { do: 'staff', c: 0, command: 'release' }),
  'opt-out': (world) => {
    const [conversation] = world.facts.conversations;
    if (conversation?.born !== true || conversation.state === 'opted_out') return [];
    return one(world, { do: 'lead', c: 0, text: 'stop' });
  },
  kill: (world) => (phaseOf(world) === null ? [] : one(world, { do: 'kill', w: 0 })),
  sweep: (world) => {
    const dueMs = sweepDueMs(world);
    if (dueMs === null) return [];
    const waited = dueMs > world.nowMs ? one(world, { do: 'wait', ms: dueMs - world.nowMs }) : [];
    return [...waited, ...one(world, { do: 'sweep' })];
  },
};

export interface Orders {
  /** Orders of the wanted length, the shared ones counted each. */
  orders: number;
  /** States that were looked at, each once per length that was left. */
  states: number;
  steps: number;
  readonly broken: { readonly events: readonly string[]; readonly violations: readonly string[] }[];
}

const WORLD: WorldOptions = {
  homes: [{ account: 0, address: 0 }],
  startsAtMs: Date.parse('2026-11-30T18:00:00Z'),
  workers: 2,
  replyWindowMs: null,
  canReadBack: true,
  jitter: 0.5,
  workerClockErrorMs: 0,
  mutant: null,
};

interface Search {
  readonly result: Orders;
  readonly known: Map<string, number>;
  readonly path: string[];
}

/**
 * Tries every possible order of `depth` events: an event only where it can occur, common
 * beginnings once, and what two orders lead to alike once. Invariants are checked after every
 * event, and at the end the machine has to come to rest without faults.
 */
export function tryOrders(depth: number, mutant: Mutant | null): Orders {
  const result: Orders = { orders: 0, states: 0, steps: 0, broken: [] };
  const search = { result, known: new Map<string, number>(), path: [] };
  result.orders = explore(search, makeWorld({ ...WORLD, mutant }), depth);
  return result;
}

function explore(search: Search, world: World, left: number): number {
  const key = `${left}|${stateKey(world)}`;
  const known = search.known.get(key);
  if (known !== undefined) return known;
  search.result.states += 1;
  const orders = left === 0 ? endOrder(search, world) : goOn(search, world, left);
  search.known.set(key, orders);
  return orders;
}

function goOn(search: Search, world: World, left: number): number {
  let orders = 0;
  for (const event of ORDER_EVENTS) {
    const next = cloneData(world);
    const steps = EVENTS[event](next);
    if (steps.length === 0) continue;
    search.result.steps += steps.length;
    search.path.push(`${event}: ${steps.map(describeAction).join(', ')}`);
    const violations = checkWorld(next);
    if (violations.length > 0) note(search, violations);
    else orders += explore(search, next, left - 1);
    search.path.pop();
  }
  // An order that nothing can follow is an order all the same.
  return orders === 0 ? endOrder(search, world) : orders;
}

function endOrder(search: Search, world: World): number {
  const rest = cloneData(world);
  const violations = [...settleDown(rest), ...checkRest(rest)];
  search.result.steps += rest.events - world.events;
  if (violations.length > 0) note(search, violations);
  return 1;
}

function note({ result, path }: Search, violations: readonly string[]): void {
  result.broken.push({ events: [...path], violations });
}

/** Two worlds with this text go on alike. */
function stateKey(world: World): string {
  const { events: _events, faults: _faults, sometimes: _rare, lastEffect: _last, ...rest } = world;
  return JSON.stringify(rest);
}
