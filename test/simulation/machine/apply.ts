import { at } from '../model/facts';
import { runCommand } from '../model/staff';
import type { Action, Deed, Effect } from './actions';
import { applyFault } from './faults';
import { leadWrites, nativeWrites, redeliver, repeat, report } from './intake';
import { relayOnce } from './relay';
import { sweepOnce } from './sweeper';
import { advance } from './task';
import { nextInstantMs } from './time';
import { transact } from './transact';
import { fail, isReady, settleRun, signal, succeed, takeTask } from './workflow';
import { noteSometimes, type Progress, type Task, type World } from './world';

type Of<Name extends Deed> = Extract<Action, { do: Name }>;

/**
 * Does one step. Returns false, with nothing changed, where it cannot happen in this state.
 * Whatever waits behind it is settled: runs end or set their alarms.
 */
export function applyAction(world: World, action: Action): boolean {
  world.lastEffect = null;
  if (!perform(world, action)) return false;
  world.events += 1;
  for (const run of world.runs) settleRun(world, run);
  return true;
}

function perform(world: World, action: Action): boolean {
  switch (action.do) {
    case 'staff':
      return staffActs(world, action);
    case 'run':
      return runEffect(world, action);
    case 'late-worker':
      return lateEffect(world, action);
    case 'relay':
      return relayOnce(world);
    case 'sweep':
      return sweepOnce(world);
    case 'wait':
    case 'next':
      return passTime(world, action);
    default:
      return isArrival(action) ? arrive(world, action) : applyFault(world, action);
  }
}

type Arrival = Of<'lead' | 'redeliver' | 'repeat' | 'native' | 'status' | 'echo'>;
const ARRIVALS: readonly Deed[] = ['lead', 'redeliver', 'repeat', 'native', 'status', 'echo'];

function isArrival(action: Action): action is Arrival {
  return ARRIVALS.includes(action.do);
}

/** What comes from outside over webhooks. */
function arrive(world: World, action: Arrival): boolean {
  switch (action.do) {
    case 'lead':
      return leadWrites(world, action);
    case 'redeliver':
      return redeliver(world, action);
    case 'repeat':
      return repeat(world, action);
    case 'native':
      return nativeWrites(world, action);
    case 'status':
    case 'echo':
      return report(world, action);
  }
}

function passTime(world: World, action: Of<'wait'> | Of<'next'>): boolean {
  const toMs = action.do === 'wait' ? world.nowMs + action.ms : nextInstantMs(world);
  if (toMs === null || toMs <= world.nowMs) return false;
  world.nowMs = toMs;
  return true;
}

function staffActs(world: World, action: Of<'staff'>): boolean {
  const conversation = at(world.facts.conversations, action.c);
  if (!conversation.born || world.postgresUpAtMs > world.nowMs) return false;
  const inFlight = conversation.sends.some(({ state }) => state === 'sending');
  const done = transact(world, undefined, (nowMs) =>
    runCommand(world.facts, conversation, action.command, nowMs),
  );
  if (!done) return false;
  if (inFlight && action.command === 'claim') {
    noteSometimes(world, 'takeover during a send in flight');
  }
  if (action.unsignalled !== true) signal(world, action.c);
  return true;
}

/** The next effect of a conversation's run. */
function runEffect(world: World, action: Of<'run'>): boolean {
  if (!isReady(world, action.c)) return false;
  const run = at(world.runs, action.c);
  const task = takeTask(world, action.c);
  const progress = effectOf(world, task, action);
  switch (progress.kind) {
    case 'going':
      return true;
    case 'done':
      succeed(world, run, task, progress.agenda);
      return true;
    case 'unrecorded':
      run.task = null;
      run.unrecorded = progress.acceptance;
      run.sleepsUntilMs = 0;
      noteSometimes(world, 'acceptance that Postgres refused');
      return true;
    case 'failed':
      fail(world, run, task);
      return true;
  }
}

function effectOf(world: World, task: Task, effect: Effect): Progress {
  const { phase } = task;
  const progress = advance(world, task, effect);
  const agenda = progress.kind === 'done' ? progress.agenda : null;
  world.lastEffect = { task, phase, agenda };
  return progress;
}

/** A worker that was frozen goes on with what Temporal has long given to another. */
function lateEffect(world: World, effect: Of<'late-worker'> & Effect): boolean {
  const index = world.lateTasks.findIndex(({ worker }) => {
    return at(world.workers, worker).thawsAtMs <= world.nowMs;
  });
  const task = world.lateTasks[index];
  if (task === undefined) return false;
  const progress = effectOf(world, task, effect);
  noteSometimes(world, 'a frozen worker went on');
  if (progress.kind !== 'going') world.lateTasks.splice(index, 1);
  return true;
}
