import { mendAccounts } from '../model/accounts';
import { at } from '../model/facts';
import type { Action } from './actions';
import { transact } from './transact';
import { forgetRun, loseTask, signal } from './workflow';
import { countFault, noteSometimes, type World } from './world';

type Fault = Extract<
  Action,
  {
    do:
      | 'kill'
      | 'freeze'
      | 'temporal-down'
      | 'temporal-forgets'
      | 'task-lost'
      | 'postgres-down'
      | 'clock-step'
      | 'mend';
  }
>;

/** A killed worker is started again after so long. */
const RESTART_MS = 2_000;

/** One fault; false where it can hit nothing. */
export function applyFault(world: World, fault: Fault): boolean {
  if (!strike(world, fault)) return false;
  if (fault.do !== 'mend') countFault(world, fault.do);
  return true;
}

function strike(world: World, fault: Fault): boolean {
  switch (fault.do) {
    case 'kill':
    case 'freeze':
      return strikeWorker(world, fault);
    case 'temporal-down':
      world.temporalUpAtMs = Math.max(world.temporalUpAtMs, world.nowMs + fault.ms);
      return true;
    case 'temporal-forgets':
      world.runs.forEach(forgetRun);
      return true;
    case 'task-lost':
      return loseWorkflowTask(world, fault.c);
    case 'postgres-down':
      world.postgresUpAtMs = Math.max(world.postgresUpAtMs, world.nowMs + fault.ms);
      return true;
    case 'clock-step':
      world.clockErrorMs += fault.ms;
      return true;
    case 'mend':
      return mend(world);
  }
}

/** SIGKILL loses what the worker held in memory, SIGSTOP keeps it for later. */
function strikeWorker(world: World, fault: Extract<Fault, { do: 'kill' | 'freeze' }>): boolean {
  const worker = world.workers[fault.w];
  if (worker === undefined || worker.upAtMs > world.nowMs) return false;
  if (fault.do === 'kill') {
    worker.upAtMs = world.nowMs + RESTART_MS;
    worker.thawsAtMs = 0;
    const left = world.lateTasks.filter((task) => task.worker !== fault.w);
    world.lateTasks.splice(0, world.lateTasks.length, ...left);
  } else {
    worker.thawsAtMs = world.nowMs + fault.ms;
  }
  for (const [index, run] of world.runs.entries()) {
    if (run.task?.worker !== fault.w) continue;
    noteSometimes(world, `${fault.do} in ${run.task.phase}`);
    const task = loseTask(world, index);
    if (task !== null && fault.do === 'freeze') world.lateTasks.push(task);
  }
  return true;
}

function loseWorkflowTask(world: World, conversation: number): boolean {
  const run = at(world.runs, conversation);
  if (!run.open || run.task !== null || run.stuck) return false;
  run.stuck = true;
  return true;
}

/** An operator mends the credentials of every paused account. */
function mend(world: World): boolean {
  const paused = world.facts.accounts.some(({ pausedAtMs }) => pausedAtMs !== null);
  if (!paused || world.postgresUpAtMs > world.nowMs) return false;
  const waiting = transact(world, undefined, (nowMs) => mendAccounts(world.facts, nowMs));
  for (const { index } of waiting) signal(world, index);
  return true;
}
