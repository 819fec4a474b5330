/** CPU seconds by process, from `/proc`; on systems without it there are no such figures. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { cpus } from 'node:os';

/** Linux counts in hundredths of a second wherever Node runs. */
const TICKS_PER_SECOND = 100;

export const CAN_MEASURE_CPU = existsSync('/proc/self/stat');

/** The fields of `/proc/<pid>/stat` behind the name, or null where there is no such process. */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [parent, own, reaped] = [
      Number(fields[1]),
      Number(fields[11]) + Number(fields[12]),
      Number(fields[13]) + Number(fields[14]),
    ];
    return { parent, own, reaped };
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return null;
    throw error;
  }
}

/** A process with the children that live, and those that it has seen end. */
function treeSeconds(root) {
  const stats = new Map();
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : null;
    if (stat) stats.set(Number(name), stat);
  }
  const children = [...stats.values()].filter(({ parent }) => parent === root);
  const top = stats.get(root);
  const ticks = (top?.own ?? 0) + (top?.reaped ?? 0);
  return children.reduce((sum, child) => sum + child.own + child.reaped, ticks) / TICKS_PER_SECOND;
}

function machineSeconds() {
  const [first] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [user, nice, system, , , irq, soft] = first.trim().split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + soft) / TICKS_PER_SECOND;
}

/**
 * Starts measuring. `processes` maps a name to `{pid}` or `{pid, tree: true}`; the function that
 * comes back gives the seconds since, by name, and what everything else on the machine used, as a
 * share of all its cores.
 */
export function startCpu(processes) {
  if (!CAN_MEASURE_CPU) return () => null;
  const read = () =>
    Object.fromEntries(
      Object.entries(processes).map(([name, { pid, tree }]) => {
        const stat = statOf(pid);
        const seconds = tree ? treeSeconds(pid) : (stat?.own ?? 0) / TICKS_PER_SECOND;
        return [name, seconds];
      }),
    );
  const before = read();
  const machineBefore = machineSeconds();
  const startedAt = performance.now();
  return () => {
    const after = read();
    const seconds = Object.fromEntries(
      Object.keys(after).map((name) => [name, after[name] - before[name]]),
    );
    const ours = Object.values(seconds).reduce((sum, value) => sum + value, 0);
    const elapsed = (performance.now() - startedAt) / 1000;
    const machine = machineSeconds() - machineBefore;
    const othersShare = Math.max(machine - ours, 0) / (elapsed * cpus().length);
    return { seconds, othersShare, elapsedSeconds: elapsed };
  };
}
