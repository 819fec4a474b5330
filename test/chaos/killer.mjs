/** The random mode: at random moments and at the named failpoints, drawn from the seed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../../dev/machine.mjs';
import { armingOf, isStaged, provoke } from './recipes.mjs';
import { pointsOf, withoutWorkers } from './toll.mjs';

const PROCESSES = ['api', 'conversations', 'upkeep'];

/** What dies, and how often. The product's own processes also die at the points. */
const TARGETS = [
  ['conversations', 30],
  ['api', 25],
  ['upkeep', 12],
  ['postgres immediate', 8],
  ['postgres backend', 5],
  ['postgres postmaster', 4],
  ['temporal restart', 5],
  ['temporal wipe', 2],
];
/** How many of the restarts arm the next point. */
const ARMED_SHARE = 0.6;
/** So long a point may wait for its moment before its process may be killed at random again. */
const PATIENCE_MS = 25_000;
const PROVOKE_EVERY_MS = 1_500;
/** A process is up, and the sweeper's first round over, within it. */
const STAGED_MS = 12_000;

/** Which point each process is armed with, drawn anew at each of its starts. */
function makeArming({ points, seeded }) {
  const queues = Object.fromEntries(
    Object.entries(pointsOf(PROCESSES, points)).map(([name, own]) => [name, seeded.shuffled(own)]),
  );
  const turns = new Map(PROCESSES.map((name) => [name, 0]));
  const pending = new Map();
  const kept = new Map();
  let isOn = true;
  const set = (name, point) => {
    pending.set(name, { point, sinceMs: Date.now() });
    return armingOf(point);
  };
  return {
    pending,
    off: () => (isOn = false),
    /** The next start of the process is armed with this point too. */
    keep: (name, point) => kept.set(name, point),
    arm(name) {
      pending.delete(name);
      const again = kept.get(name);
      kept.delete(name);
      if (isOn && again !== undefined) return set(name, again);
      const own = queues[name];
      if (!isOn || own.length === 0 || seeded.random() > ARMED_SHARE) return null;
      const turn = turns.get(name);
      turns.set(name, turn + 1);
      return set(name, own[turn % own.length]);
    },
  };
}

/** Kills what the seed says, unless that process still waits for its point. */
async function killOne(environment, { seeded, toll, pending }) {
  const target = seeded.weighted(TARGETS);
  const [name, manner] = target.split(' ');
  if (manner !== undefined) {
    toll.note(target);
    await environment[name].kill(manner, seeded.pick);
    return;
  }
  const waiting = pending.get(name);
  if (waiting !== undefined && Date.now() - waiting.sinceMs < PATIENCE_MS) return;
  environment.lanes[name].kill();
}

/**
 * Kills until the count or the time is up. `arm` and `ended` are the supervisor's questions and
 * news, `disarm` ends it all.
 */
export function makeKiller({ points, seeded, toll, options, crashes }) {
  const arming = makeArming({ points, seeded });
  const { pending } = arming;

  function ended({ name, how, points: reached, killed, byItself }) {
    const point = pending.get(name)?.point;
    pending.delete(name);
    if (reached.includes(point)) toll.note(point);
    else if (killed) toll.note(name);
    if (byItself) crashes.push(`${name} ended by itself with ${how}`);
  }

  async function provokeOne([name, { point }], context) {
    if (!isStaged(point)) return provoke(point, context);
    // The first round of the sweeper follows its start: it starts again once the debt stands.
    return withoutWorkers(context.environment, async () => {
      await provoke(point, context);
      if (pending.get(name)?.point !== point) return;
      arming.keep(name, point);
      context.environment.lanes[name].kill();
      await sleep(1_000);
      await waitFor(() => !pending.has(name), { timeoutMs: STAGED_MS, everyMs: 50 });
    });
  }

  async function provokeAll(context) {
    const tasks = [...pending].map((entry) => provokeOne(entry, context));
    for (const { status, reason } of await Promise.allSettled(tasks)) {
      if (status === 'rejected') crashes.push(`a recipe: ${reason.message}`);
    }
  }

  async function run(context) {
    const { environment, progress } = context;
    const endsAt = Date.now() + options.minutes * 60_000;
    let provoking = true;
    const provoker = (async () => {
      while (provoking) {
        await sleep(PROVOKE_EVERY_MS);
        if (provoking) await provokeAll(context);
      }
    })();
    let told = 0;
    while (toll.count() < options.kills && Date.now() < endsAt) {
      await sleep(options.everyMs * (0.6 + seeded.random() * 0.8));
      await killOne(environment, { seeded, toll, pending });
      if (toll.count() - told >= 25) {
        told = toll.count();
        progress(`${told} of ${options.kills} kills`);
      }
    }
    provoking = false;
    arming.off();
    await provoker;
  }

  /** Nothing is armed any more; a process that still waits for its point is started again. */
  async function disarm({ environment }) {
    arming.off();
    for (const name of pending.keys()) environment.lanes[name].kill();
    await waitFor(() => pending.size === 0, { timeoutMs: 30_000 });
  }

  return { processes: PROCESSES, arm: arming.arm, ended, run, disarm };
}
