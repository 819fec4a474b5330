import { readAgenda, refreshAgenda } from '../model/agenda';
import { findOverdueAttempt, giveToReview } from '../model/attempts';
import { at, findAttempt } from '../model/facts';
import { fileAcceptance } from '../model/record';
import type { Effect } from './actions';
import { transact } from './transact';
import { databaseNowMs, noteSometimes, type Progress, type Task, type World } from './world';

/** The first effect of `resolve`: is there an attempt to judge, and is it proven already? */
export function find(world: World, task: Task, { fault }: Effect): Progress {
  const { facts } = world;
  const conversation = at(facts.conversations, task.conversation);
  const { step } = task;
  if (step.kind !== 'resolve') throw new Error('only resolve looks for an attempt');
  const overdue = transact(world, fault, (nowMs) =>
    findOverdueAttempt(facts, conversation, step.sendId, nowMs),
  );
  if (overdue === null) {
    return { kind: 'done', agenda: readAgenda(facts, conversation, databaseNowMs(world)) };
  }
  const { attempt, proof } = overdue;
  task.attemptId = attempt.id;
  if (proof !== null) {
    task.acceptance = { sendId: attempt.sendId, attemptId: attempt.id, ...proof };
    return { kind: 'going', phase: 'file' };
  }
  if (world.options.canReadBack) return { kind: 'going', phase: 'read-back' };
  task.reviewCode = 'no_read_back';
  return { kind: 'going', phase: 'review' };
}

/** The provider's list is asked; it may lag behind or not answer. */
export function readBack(
  world: World,
  task: Task,
  { readBack: answer = 'truth' }: Effect,
): Progress {
  const found = world.accepted.find(({ attemptId }) => attemptId === task.attemptId);
  if (answer === 'truth' && found !== undefined) {
    const { sendId, attemptId, providerMessageId } = found;
    const { startedAtMs: acceptedAtMs } = findAttempt(world.facts, attemptId);
    task.acceptance = { sendId, attemptId, providerMessageId, evidence: 'read-back', acceptedAtMs };
    return { kind: 'going', phase: 'file' };
  }
  if (answer === 'lagging' && found !== undefined) noteSometimes(world, 'read-back lags behind');
  task.reviewCode = answer === 'unavailable' ? 'list_unavailable' : 'absent_on_read_back';
  return { kind: 'going', phase: 'review' };
}

/** Records what was proven. */
export function file(world: World, task: Task, { fault }: Effect): Progress {
  const { facts } = world;
  const conversation = at(facts.conversations, task.conversation);
  const { acceptance } = task;
  if (acceptance === null) throw new Error('nothing was proven');
  const agenda = transact(world, fault, (nowMs) => {
    fileAcceptance(facts, conversation, acceptance, nowMs);
    return refreshAgenda(facts, conversation, nowMs);
  });
  return { kind: 'done', agenda };
}

/** Gives what nobody can prove to a person. */
export function review(world: World, task: Task, { fault }: Effect): Progress {
  if (task.attemptId === null) throw new Error('a review has no attempt');
  const attempt = findAttempt(world.facts, task.attemptId);
  const { reviewCode } = task;
  const agenda = transact(world, fault, (nowMs) =>
    giveToReview(world.facts, attempt, reviewCode, nowMs),
  );
  return { kind: 'done', agenda };
}
