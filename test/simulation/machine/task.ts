import type { Agenda, Step } from '../../../domain/agenda';
import { CALL_START_LIMIT_MS, CALL_TIMEOUT_MS } from '../../../domain/limits';
import { readAgenda, refreshAgenda } from '../model/agenda';
import { recordNotAccepted, recordUnknown } from '../model/attempts';
import { at, findAttempt, findSend, type Conversation } from '../model/facts';
import { expireSend, writeFollowUp } from '../model/follow-up';
import { passGate } from '../model/gate';
import { isClockChange } from '../model/hours';
import { escalateItem } from '../model/items';
import { claimSend } from '../model/outbox';
import { fileAcceptance, type Acceptance } from '../model/record';
import { lookOnly, noteThrown, raiseTurn, writeTurn } from '../model/turn';
import type { Effect, TransactionFault } from './actions';
import { callProvider, NOT_STARTED } from './provider';
import { file, find, readBack, review } from './resolve';
import { PostgresError, transact } from './transact';
import {
  databaseNowMs,
  noteSometimes,
  type Phase,
  type Progress,
  type Task,
  type World,
} from './world';

const FIRST_PHASE: Record<Step['kind'], Phase> = {
  'take-turn': 'raise',
  deliver: 'claim',
  resolve: 'find',
  expire: 'expire',
  escalate: 'escalate',
  'follow-up': 'write-follow-up',
};

export function makeTask(step: Step, conversation: number, worker: number): Task {
  return {
    step,
    conversation,
    worker,
    phase: FIRST_PHASE[step.kind],
    raised: null,
    attemptId: null,
    permittedAtMs: 0,
    outcome: null,
    acceptance: null,
    reviewCode: '',
  };
}

/** One activity's effect after another, each in a transaction or call of its own. */
const PHASES: Record<Phase, (world: World, task: Task, effect: Effect) => Progress> = {
  raise,
  write,
  'write-follow-up': followUp,
  expire,
  escalate,
  claim,
  gate,
  'check-window': checkWindow,
  call,
  answer,
  record,
  find,
  'read-back': readBack,
  file,
  review,
  'record-held': record,
};

/** Does the task's next effect, with what the step says of it. */
export function advance(world: World, task: Task, effect: Effect): Progress {
  try {
    const progress = PHASES[task.phase](world, task, effect);
    if (progress.kind === 'going') task.phase = progress.phase;
    return progress;
  } catch (error) {
    if (error instanceof PostgresError) return { kind: 'failed' };
    throw error;
  }
}

function conversationOf(world: World, task: Task): Conversation {
  return at(world.facts.conversations, task.conversation);
}

function sendIdOf({ step }: Task): string {
  if (!('sendId' in step)) throw new Error(`a step ${step.kind} has no send`);
  return step.sendId;
}

function done(agenda: Agenda): Progress {
  return { kind: 'done', agenda };
}

function raise(world: World, task: Task, { fault }: Effect): Progress {
  const conversation = conversationOf(world, task);
  const raised = transact(world, fault, (nowMs) => raiseTurn(conversation, nowMs));
  if (raised === null) return done(lookOnly(world.facts, conversation, databaseNowMs(world)));
  task.raised = raised;
  return { kind: 'going', phase: 'write' };
}

function write(world: World, task: Task, { fault }: Effect): Progress {
  const { raised } = task;
  if (raised === null) throw new Error('a turn that was not begun writes nothing');
  const conversation = conversationOf(world, task);
  try {
    return done(
      transact(world, fault, (nowMs) => writeTurn(world.facts, conversation, raised, nowMs)),
    );
  } catch (error) {
    if (world.postgresUpAtMs <= world.nowMs) noteThrown(conversation, raised.attempt);
    throw error;
  }
}

function followUp(world: World, task: Task, { fault }: Effect): Progress {
  const { step } = task;
  if (step.kind !== 'follow-up') throw new Error('a follow-up is a step of its own');
  const conversation = conversationOf(world, task);
  if (isClockChange(databaseNowMs(world))) {
    noteSometimes(world, 'day of a clock change with a due follow-up');
  }
  return done(
    transact(world, fault, (nowMs) => writeFollowUp(world.facts, conversation, step, nowMs)),
  );
}

function expire(world: World, task: Task, { fault }: Effect): Progress {
  const conversation = conversationOf(world, task);
  const sendId = sendIdOf(task);
  return done(
    transact(world, fault, (nowMs) => expireSend(world.facts, conversation, sendId, nowMs)),
  );
}

function escalate(world: World, task: Task, { fault }: Effect): Progress {
  const { step } = task;
  if (step.kind !== 'escalate') throw new Error('a deadline is a step of its own');
  const conversation = conversationOf(world, task);
  return done(
    transact(world, fault, (nowMs) => {
      if (isProviderDown(conversation)) {
        noteSometimes(world, 'escalation while the provider is down');
      }
      escalateItem(conversation, step.workItemId, nowMs);
      return refreshAgenda(world.facts, conversation, nowMs);
    }),
  );
}

/** A send of the conversation waits because the provider refused or did not answer. */
function isProviderDown({ sends }: Conversation): boolean {
  return sends.some(({ state, attempts }) => {
    return attempts > 0 && (state === 'queued' || state === 'sending');
  });
}

function workerName(task: Task): string {
  return `worker-${task.worker}`;
}

function claim(world: World, task: Task, { fault }: Effect): Progress {
  const conversation = conversationOf(world, task);
  const send = findSend(conversation, sendIdOf(task));
  const held = transact(world, fault, (nowMs) => {
    return claimSend(send, workerName(task), nowMs);
  });
  if (held) return { kind: 'going', phase: 'gate' };
  return done(readAgenda(world.facts, conversation, databaseNowMs(world)));
}

function gate(world: World, task: Task, { fault }: Effect): Progress {
  const conversation = conversationOf(world, task);
  const sendId = sendIdOf(task);
  const { leaseOwner } = findSend(conversation, sendId);
  if (leaseOwner !== workerName(task)) noteSometimes(world, 'lease lost while alive');
  const held = { sendId, worker: workerName(task) };
  const result = transact(world, fault, (nowMs) =>
    passGate(world.facts, conversation, held, nowMs),
  );
  if (result.kind === 'refused') return done(result.agenda);
  task.attemptId = result.attemptId;
  task.permittedAtMs = world.nowMs;
  return { kind: 'going', phase: 'check-window' };
}

function attemptOf(world: World, task: Task) {
  if (task.attemptId === null) throw new Error('a call has no attempt');
  return findAttempt(world.facts, task.attemptId);
}

/** Too long since the gate's look at the facts: the call is not begun. */
function checkWindow(world: World, task: Task): Progress {
  if (world.nowMs - task.permittedAtMs <= CALL_START_LIMIT_MS) {
    return { kind: 'going', phase: 'call' };
  }
  task.outcome = NOT_STARTED;
  return { kind: 'going', phase: 'answer' };
}

/** The call's own time-out ends it, also where the process slept over it. */
function call(world: World, task: Task, effect: Effect): Progress {
  const late = world.nowMs - task.permittedAtMs > CALL_START_LIMIT_MS + CALL_TIMEOUT_MS;
  task.outcome = callProvider(world, attemptOf(world, task), late ? 'unheard' : effect.answer);
  return { kind: 'going', phase: 'answer' };
}

function answer(world: World, task: Task, { fault }: Effect): Progress {
  const attempt = attemptOf(world, task);
  const { outcome } = task;
  switch (outcome?.kind) {
    case undefined:
      throw new Error('an answer has no outcome');
    case 'accepted':
      task.acceptance = {
        sendId: attempt.sendId,
        attemptId: attempt.id,
        providerMessageId: outcome.providerMessageId ?? '',
        evidence: 'response',
        acceptedAtMs: world.nowMs + world.options.workerClockErrorMs,
      };
      return mark(world, task, fault);
    case 'not-accepted':
      return done(
        transact(world, fault, (nowMs) => recordNotAccepted(world.facts, attempt, outcome, nowMs)),
      );
    case 'unknown':
      return done(transact(world, fault, (nowMs) => recordUnknown(world.facts, attempt, nowMs)));
  }
}

function acceptanceOf({ acceptance }: Task): Acceptance {
  if (acceptance === null) throw new Error('there is no acceptance to record');
  return acceptance;
}

/** The sent marker, the very next statement after the acceptance (T8). */
function mark(world: World, task: Task, fault: TransactionFault | undefined): Progress {
  const attempt = attemptOf(world, task);
  const { providerMessageId } = acceptanceOf(task);
  try {
    transact(world, fault, (nowMs) => {
      attempt.marker ??= { providerMessageId, acceptedAtMs: nowMs, commit: world.facts.commits };
      task.acceptance = { ...acceptanceOf(task), acceptedAtMs: nowMs };
    });
  } catch (error) {
    return unrecorded(error, task);
  }
  return { kind: 'going', phase: 'record' };
}

function record(world: World, task: Task, { fault }: Effect): Progress {
  const conversation = conversationOf(world, task);
  const acceptance = acceptanceOf(task);
  try {
    return done(
      transact(world, fault, (nowMs) => {
        fileAcceptance(world.facts, conversation, acceptance, nowMs);
        return refreshAgenda(world.facts, conversation, nowMs);
      }),
    );
  } catch (error) {
    if (task.phase === 'record-held') throw error;
    return unrecorded(error, task);
  }
}

/** The lead has the message: Temporal holds the acceptance until Postgres takes it. */
function unrecorded(error: unknown, task: Task): Progress {
  if (!(error instanceof PostgresError)) throw error;
  return { kind: 'unrecorded', acceptance: acceptanceOf(task) };
}
