import { nextMove, type Agenda, type Step } from '../../../domain/agenda';
import { at } from '../model/facts';
import { makeTask } from './task';
import { noteSometimes, type Run, type Task, type World } from './world';

/** As workflows/conversation and the server's time-outs have them. */
const FAILURE_WAIT_MS_MIN = 5_000;
const FAILURE_WAIT_MS_MAX = 60_000;
const WAIT_MS_MIN = 1_000;
const DEATH_NOTICED_MS = 3_000;
const LOCAL_TRIES_MAX = 3;
/** Short runs, so that many roll (continue-as-new). */
const STEPS_PER_RUN = 12;

/** `signalWithStart`: false where Temporal does not take it. */
export function signal(world: World, conversation: number): boolean {
  if (world.temporalUpAtMs > world.nowMs) return false;
  const run = at(world.runs, conversation);
  run.stuck = false;
  if (!run.open) startRun(run);
  run.dirty = true;
  return true;
}

function startRun(run: Run): void {
  run.open = true;
  run.agenda = null;
  run.failures = 0;
  run.tries = 0;
  run.ringsAtMs = null;
  run.sleepsUntilMs = 0;
  run.unrecorded = null;
  run.steps = 0;
}

/** True where the run has an effect to do now, on a worker that lives. */
export function isReady(world: World, conversation: number): boolean {
  const run = at(world.runs, conversation);
  const { nowMs } = world;
  if (!run.open || run.stuck || world.temporalUpAtMs > nowMs || run.blockedUntilMs > nowMs) {
    return false;
  }
  if (run.task !== null) return isUsable(world, run.task.worker);
  return freeWorker(world, run) !== null && nextStep(world, run) !== null;
}

function isUsable(world: World, worker: number): boolean {
  const { upAtMs, thawsAtMs } = at(world.workers, worker);
  return upAtMs <= world.nowMs && thawsAtMs <= world.nowMs;
}

function freeWorker(world: World, run: Run): number | null {
  for (let offset = 0; offset < world.workers.length; offset += 1) {
    const worker = (run.steps + offset) % world.workers.length;
    if (isUsable(world, worker)) return worker;
  }
  return null;
}

const LOOK: Step = { kind: 'take-turn' };

/** What the loop of the workflow does next; null while it waits. */
function nextStep(world: World, run: Run): Step | 'record' | null {
  const { nowMs } = world;
  if (run.unrecorded !== null) return nowMs >= run.sleepsUntilMs ? 'record' : null;
  if (run.dirty) return LOOK;
  if (run.agenda === null) return nowMs >= run.sleepsUntilMs ? LOOK : null;
  const move = nextMove(run.agenda, nowMs - run.readAtMs);
  return move.kind === 'do' ? move.step : null;
}

/** Gives the run's task under way, or begins its next one. Call it only where the run is ready. */
export function takeTask(world: World, conversation: number): Task {
  const run = at(world.runs, conversation);
  if (run.task !== null) return run.task;
  roll(world, run);
  const step = nextStep(world, run);
  const worker = freeWorker(world, run);
  if (step === null || worker === null) throw new Error('a run that is not ready was asked');
  run.steps += 1;
  run.dirty = false;
  const task = makeTask(step === 'record' ? LOOK : step, conversation, worker);
  if (step === 'record') {
    task.phase = 'record-held';
    task.acceptance = run.unrecorded;
  }
  run.task = task;
  return task;
}

/** Continue-as-new: nothing is carried over, the new run looks for itself. */
function roll(world: World, run: Run): void {
  if (run.steps < STEPS_PER_RUN || run.unrecorded !== null) return;
  if (run.dirty) noteSometimes(world, 'continue-as-new with a waiting signal');
  startRun(run);
  run.dirty = true;
}

/** The task ended with a fresh agenda. */
export function succeed(world: World, run: Run, task: Task, agenda: Agenda): void {
  run.task = null;
  run.unrecorded = null;
  run.agenda = agenda;
  run.readAtMs = world.nowMs;
  run.tries = 0;
  if (task.step.kind !== 'take-turn') run.failures = 0;
}

/** The activity threw. Local ones are tried three times, provider ones never again. */
export function fail(world: World, run: Run, task: Task): void {
  run.task = null;
  run.tries += 1;
  if (task.phase === 'record-held') {
    run.sleepsUntilMs = world.nowMs + FAILURE_WAIT_MS_MIN;
    return;
  }
  if (!isProviderStep(task.step) && run.tries < LOCAL_TRIES_MAX) {
    run.dirty = true;
    return;
  }
  giveUpStep(world, run, task, 0);
}

function giveUpStep(world: World, run: Run, task: Task, noticedInMs: number): void {
  run.agenda = null;
  run.tries = 0;
  const died = isProviderStep(task.step) && run.failures === 0;
  const waitMs = died ? 0 : Math.min(FAILURE_WAIT_MS_MIN * 2 ** run.failures, FAILURE_WAIT_MS_MAX);
  run.failures += 1;
  run.sleepsUntilMs = world.nowMs + noticedInMs + waitMs;
}

function isProviderStep(step: Step): boolean {
  return step.kind === 'deliver' || step.kind === 'resolve';
}

/** The worker of the run's task is dead or frozen: Temporal notices after a while. */
export function loseTask(world: World, conversation: number): Task | null {
  const run = at(world.runs, conversation);
  const { task } = run;
  if (task === null) return null;
  run.task = null;
  run.blockedUntilMs = world.nowMs + DEATH_NOTICED_MS;
  if (isProviderStep(task.step)) giveUpStep(world, run, task, DEATH_NOTICED_MS);
  // A local activity runs again from its beginning, as part of its workflow task.
  else if (task.phase !== 'record-held') run.dirty = true;
  return task;
}

/** Temporal's store is lost (R6): no run is left, and what it held is gone. */
export function forgetRun(run: Run): void {
  startRun(run);
  run.open = false;
  run.dirty = false;
  run.task = null;
  run.stuck = false;
}

/** Ends the run where nothing is due, or sets its alarm for what is due later. */
export function settleRun(world: World, run: Run): void {
  if (!run.open || run.task !== null || run.dirty || run.unrecorded !== null) return;
  if (run.agenda === null) return;
  if (run.ringsAtMs !== null && run.ringsAtMs <= world.nowMs) run.ringsAtMs = null;
  const move = nextMove(run.agenda, world.nowMs - run.readAtMs);
  if (move.kind === 'complete') run.open = false;
  if (move.kind !== 'wait') return;
  const ringsAtMs = world.nowMs + Math.max(WAIT_MS_MIN, Math.ceil(move.waitMs));
  run.ringsAtMs = Math.min(run.ringsAtMs ?? ringsAtMs, ringsAtMs);
}

/** When the run has something to do by itself; null where only a signal helps. */
export function wakesAtMs(world: World, run: Run): number | null {
  if (!run.open || run.stuck) return null;
  const free = Math.max(run.blockedUntilMs, world.temporalUpAtMs);
  if (run.task !== null || run.dirty) return free;
  if (run.unrecorded !== null || run.agenda === null) return Math.max(free, run.sleepsUntilMs);
  return run.ringsAtMs === null ? null : Math.max(free, run.ringsAtMs);
}
