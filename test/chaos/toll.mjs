/** Who died when, and what killers of both modes share. */
import { waitFor } from '../../dev/machine.mjs';
import { homeOf, programOf } from './environment.mjs';

/** Keeps who died when. */
export function makeToll() {
  const deaths = [];
  return {
    deaths,
    count: () => deaths.length,
    note: (what) => deaths.push({ atMs: Date.now(), what }),
  };
}

/** The points of each process; processes of one program share theirs. */
export function pointsOf(processes, points) {
  const entries = processes.map((name) => {
    const same = processes.filter((other) => programOf(other) === programOf(name));
    const own = points.filter((point) => homeOf(point) === programOf(name));
    return [name, own.filter((_point, index) => index % same.length === same.indexOf(name))];
  });
  return Object.fromEntries(entries);
}

/** Keeps the workers of the conversations down while `work` runs. */
export async function withoutWorkers({ lanes }, work) {
  const workers = Object.values(lanes).filter(({ name }) => programOf(name) === 'conversations');
  for (const worker of workers) {
    worker.hold();
    worker.kill();
  }
  await waitFor(() => workers.every((worker) => !worker.isUp()), { timeoutMs: 10_000 });
  try {
    await work();
  } finally {
    for (const worker of workers) worker.release();
  }
}
