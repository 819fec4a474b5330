import type { Agenda, Step } from '../../../domain/agenda';
import type { SendOutcome } from '../../../domain/sending';
import { makeFacts, type Facts, type Home } from '../model/facts';
import type { ThreadElement } from '../model/ingest';
import type { Mutant } from '../model/mutants';
import type { Acceptance } from '../model/record';
import type { RaisedTurn } from '../model/turn';
import { makeShadow, type Shadow } from '../check/shadow';

/** What differs between two simulated businesses; drawn from the seed. */
export interface WorldOptions {
  readonly homes: readonly Home[];
  readonly startsAtMs: number;
  readonly workers: number;
  readonly replyWindowMs: number | null;
  /** Whether the channel shows what it accepted (C6). */
  readonly canReadBack: boolean;
  readonly jitter: number;
  /** How far the workers' own clocks are off; it shows only in what no database stamped. */
  readonly workerClockErrorMs: number;
  readonly mutant: Mutant | null;
}

/** A lead's message as the provider knows it: what was written, and whether we answered 2xx. */
export interface Written {
  readonly conversation: number;
  readonly element: ThreadElement;
  acknowledged: boolean;
}

export interface AcceptedSend {
  readonly sendId: string;
  readonly attemptId: string;
  readonly conversation: number;
  readonly account: number;
  readonly providerMessageId: string;
}

export type Phase =
  | 'raise'
  | 'write'
  | 'write-follow-up'
  | 'expire'
  | 'escalate'
  | 'claim'
  | 'gate'
  | 'check-window'
  | 'call'
  | 'answer'
  | 'record'
  | 'find'
  | 'read-back'
  | 'file'
  | 'review'
  | 'record-held';

/** What a step's effect leads to. */
export type Progress =
  | { readonly kind: 'going'; readonly phase: Phase }
  | { readonly kind: 'done'; readonly agenda: Agenda }
  | { readonly kind: 'unrecorded'; readonly acceptance: Acceptance }
  | { readonly kind: 'failed' };

/** An activity under way on a worker: where it stands, and what it holds in its memory. */
export interface Task {
  readonly step: Step;
  readonly conversation: number;
  readonly worker: number;
  phase: Phase;
  raised: RaisedTurn | null;
  attemptId: string | null;
  permittedAtMs: number;
  outcome: SendOutcome | null;
  acceptance: Acceptance | null;
  reviewCode: string;
}

/** The workflow of one conversation. Runs come and go under one id. */
export interface Run {
  open: boolean;
  dirty: boolean;
  agenda: Agenda | null;
  readAtMs: number;
  failures: number;
  /** A failed local activity is tried again before the step counts as failed. */
  tries: number;
  sleepsUntilMs: number;
  ringsAtMs: number | null;
  /** Until the server notices that a worker died. */
  blockedUntilMs: number;
  /** Its workflow task was lost; only a new signal makes another. */
  stuck: boolean;
  task: Task | null;
  /** An acceptance that Postgres refused; recorded before any other step (T8). */
  unrecorded: Acceptance | null;
  steps: number;
}

/** An activity's effect, for whoever does the same on the real database. */
export interface LastEffect {
  readonly task: Task;
  readonly phase: Phase;
  /** The agenda with which the activity ended; null where it goes on. */
  readonly agenda: Agenda | null;
}

export interface World {
  readonly options: WorldOptions;
  readonly facts: Facts;
  readonly runs: Run[];
  readonly workers: { upAtMs: number; thawsAtMs: number }[];
  /** What frozen workers hold; Temporal has given it up. */
  readonly lateTasks: Task[];
  readonly written: Written[];
  /** Places in `written` that wait for another delivery, and when. */
  readonly redeliveries: { readonly n: number; readonly dueAtMs: number }[];
  readonly accepted: AcceptedSend[];
  readonly shadow: Shadow;
  /** How often each fault and each rare state occurred. */
  readonly faults: Record<string, number>;
  readonly sometimes: Record<string, number>;
  /** True time: what Temporal's timers and monotonic clocks measure. */
  nowMs: number;
  /** How far the database's clock is off. */
  clockErrorMs: number;
  temporalUpAtMs: number;
  postgresUpAtMs: number;
  nextSweepAtMs: number;
  events: number;
  nativeCount: number;
  /** What the last step did of an activity; null where it was none. */
  lastEffect: LastEffect | null;
}

export function makeWorld(options: WorldOptions): World {
  return {
    options,
    facts: makeFacts(options),
    runs: options.homes.map(makeRun),
    workers: Array.from({ length: options.workers }, () => ({ upAtMs: 0, thawsAtMs: 0 })),
    lateTasks: [],
    written: [],
    redeliveries: [],
    accepted: [],
    shadow: makeShadow(options.homes.length),
    faults: {},
    sometimes: {},
    nowMs: options.startsAtMs,
    clockErrorMs: 0,
    temporalUpAtMs: 0,
    postgresUpAtMs: 0,
    nextSweepAtMs: options.startsAtMs,
    events: 0,
    nativeCount: 0,
    lastEffect: null,
  };
}

function makeRun(): Run {
  return {
    open: false,
    dirty: false,
    agenda: null,
    readAtMs: 0,
    failures: 0,
    tries: 0,
    sleepsUntilMs: 0,
    ringsAtMs: null,
    blockedUntilMs: 0,
    stuck: false,
    task: null,
    unrecorded: null,
    steps: 0,
  };
}

/** The database's clock, which every rule reads. */
export function databaseNowMs(world: World): number {
  return world.nowMs + world.clockErrorMs;
}

export function countFault(world: World, fault: string): void {
  world.faults[fault] = (world.faults[fault] ?? 0) + 1;
}

export function noteSometimes(world: World, state: string): void {
  world.sometimes[state] = (world.sometimes[state] ?? 0) + 1;
}
