/** The other mode: each named point once, in its own process, the processes side by side. */
import { waitFor } from '../../dev/machine.mjs';
import { homeOf, programOf } from './environment.mjs';
import { armingOf, isRare, isStaged, provoke } from './recipes.mjs';
import { pointsOf, withoutWorkers } from './toll.mjs';

/** Two workers take the conversations, so that two points are on their way at a time. */
const PROCESSES = ['api', 'conversations-1', 'conversations-2', 'upkeep'];
const [, LAST_WORKER, OTHER_WORKER] = PROCESSES;

/** On a machine that others share a point may take long; on a quiet one it takes five seconds. */
const POINT_LIMIT_MS = 120_000;
const PROVOKE_EVERY_MS = 4_000;
/** A process is up, and the sweeper's first round over, within it. */
const STAGED_MS = 12_000;

/** What needs one worker, or none, is kept back for the time after the others. */
function stagesOf(points) {
  const plain = points.filter((point) => !isRare(point) && !isStaged(point));
  const shared = pointsOf(PROCESSES, plain);
  return { shared, alone: points.filter(isRare), staged: points.filter(isStaged) };
}

/** Which points were reached, and how long each took. */
function makeResults(toll) {
  const results = new Map();
  return {
    results,
    begin: (point) => results.set(point, { reached: false, startedAt: Date.now() }),
    isReached: (point) => results.get(point)?.reached === true,
    isOver: (point) => Date.now() > results.get(point).startedAt + POINT_LIMIT_MS,
    reach(point) {
      toll.note(point);
      results.set(point, { ...results.get(point), reached: true });
    },
    end(point, progress) {
      const { reached, startedAt } = results.get(point);
      const tookMs = Date.now() - startedAt;
      results.set(point, { reached, tookMs });
      progress(`${point}: ${reached ? 'killed there' : 'NEVER REACHED'} (${tookMs} ms)`);
    },
  };
}

/** Arms a process with a point and brings the point about until the process has died there. */
async function visit(context, { name, point, tour }) {
  const { armed, begin, isReached, isOver, end, crashes } = tour;
  const process = context.environment.lanes[name];
  begin(point);
  armed.set(name, point);
  process.kill();
  await waitFor(() => process.isUp(), { timeoutMs: 10_000, everyMs: 20 });
  while (!isReached(point) && !isOver(point)) {
    await provoke(point, context).catch((error) => crashes.push(`${point}: ${error.message}`));
    await waitFor(() => isReached(point), { timeoutMs: PROVOKE_EVERY_MS, everyMs: 20 });
  }
  armed.delete(name);
  end(point, context.progress);
}

/** The sweeper's first round follows its start, so the debt stands before it. */
async function visitStaged(context, { point, tour }) {
  const { armed, begin, isReached, isOver, end } = tour;
  const name = homeOf(point);
  begin(point);
  while (!isReached(point) && !isOver(point)) {
    await withoutWorkers(context.environment, async () => {
      await provoke(point, context);
      armed.set(name, point);
      context.environment.lanes[name].kill();
      await waitFor(() => isReached(point), { timeoutMs: STAGED_MS, everyMs: 20 });
    });
  }
  armed.delete(name);
  end(point, context.progress);
}

/** Goes round all points. `arm` and `ended` are the supervisor's questions and news. */
export function makeTour({ points, toll, crashes }) {
  const { shared, alone, staged } = stagesOf(points);
  const armed = new Map();
  const tour = { ...makeResults(toll), armed, crashes };
  const { results, isReached, reach } = tour;

  const arm = (name) => {
    const point = armed.get(name);
    return point === undefined ? null : armingOf(point);
  };

  function ended({ name, how, points: reached, byItself }) {
    const point = armed.get(name);
    if (reached.includes(point)) {
      armed.delete(name);
      reach(point);
    } else if (byItself) crashes.push(`${name} ended by itself with ${how}`);
  }

  async function visitAll(context, name, own) {
    for (const point of own) await visit(context, { name, point, tour });
  }

  /** What another worker might take is visited when the other one is down. */
  async function run(context) {
    const { lanes } = context.environment;
    const visits = Object.entries(shared).map(([name, own]) => [
      name,
      visitAll(context, name, own),
    ]);
    const ofWorkers = visits.filter(([name]) => programOf(name) === 'conversations');
    await Promise.all(ofWorkers.map(([, visiting]) => visiting));
    if (alone.length > 0) {
      lanes[OTHER_WORKER].hold();
      lanes[OTHER_WORKER].kill();
      await visitAll(context, LAST_WORKER, alone);
      lanes[OTHER_WORKER].release();
    }
    await Promise.all(visits.map(([, visiting]) => visiting));
    for (const point of staged) await visitStaged(context, { point, tour });
  }

  /** Nothing is armed any more, and what providers asked to wait for passes at once. */
  async function disarm({ environment, facts }) {
    armed.clear();
    for (const home of new Set(points.filter((point) => !isReached(point)).map(homeOf))) {
      environment.lanes[home === 'conversations' ? LAST_WORKER : home].kill();
    }
    for (const { id, seconds } of await facts.waiting()) await facts.age(id, seconds);
  }

  return { processes: PROCESSES, arm, ended, run, disarm, results };
}
