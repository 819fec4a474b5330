import { MARKER_UNRECORDED_MS, SWEEP_AFTER_MS } from '../../../domain/sweep';
import { refreshAgenda } from '../model/agenda';
import { isOpen, type Conversation } from '../model/facts';
import { escalateItem } from '../model/items';
import {
  sweepConversation,
  sweepExpired,
  sweepLateSend,
  sweepMarker,
  type Swept,
} from '../model/sweep';
import { PostgresError, transact } from './transact';
import { signal } from './workflow';
import { noteSometimes, type World } from './world';

const SWEEP_EVERY_MS = 60_000;
const ESCALATES_AFTER_MS = 60_000;

/** The instants, by the database's clock, at which a sweep would first look at a conversation. */
function suspicions(conversation: Conversation): number[] {
  const { owedSince, overdueFromMs } = conversation;
  const instants: number[] = [];
  if (owedSince !== null && overdueFromMs !== null) instants.push(overdueFromMs + SWEEP_AFTER_MS);
  for (const send of conversation.sends) {
    if (!isOpen(send)) continue;
    if (send.token === null || owedSince === null) instants.push(send.notBeforeMs + SWEEP_AFTER_MS);
    if (send.state !== 'sending' && send.expiresAtMs !== null) {
      instants.push(send.expiresAtMs + SWEEP_EVERY_MS);
    }
  }
  for (const { nextEscalationAtMs, resolution } of conversation.items) {
    if (nextEscalationAtMs !== null && resolution === null) {
      instants.push(nextEscalationAtMs + ESCALATES_AFTER_MS);
    }
  }
  return instants;
}

/** When the next round of the sweeper finds something, by true time; null where it would not. */
export function sweepDueMs(world: World): number | null {
  if (world.facts.mutant === 'no-rescue') return null;
  const instants = world.facts.conversations.flatMap(suspicions);
  for (const { marker, outcomes } of world.facts.attempts) {
    const recorded = outcomes.some(({ outcome }) => outcome === 'accepted');
    if (marker !== null && !recorded) instants.push(marker.acceptedAtMs + MARKER_UNRECORDED_MS + 1);
  }
  if (instants.length === 0) return null;
  const foundMs = Math.min(...instants) + 1 - world.clockErrorMs;
  return Math.max(world.nextSweepAtMs, world.postgresUpAtMs, foundMs);
}

/** One round of the sweeper (T4): each conversation in a transaction of its own. */
export function sweepOnce(world: World): boolean {
  const dueMs = sweepDueMs(world);
  if (dueMs === null || dueMs > world.nowMs) return false;
  world.nextSweepAtMs = world.nowMs + SWEEP_EVERY_MS;
  const { facts } = world;
  const alone = <Result>(work: (nowMs: number) => Result): Result =>
    transact(world, undefined, work);
  try {
    for (const attempt of facts.attempts) alone((nowMs) => sweepMarker(facts, attempt, nowMs));
    for (const conversation of facts.conversations) sweepOne(world, conversation);
  } catch (error) {
    if (!(error instanceof PostgresError)) throw error;
  }
  return true;
}

function sweepOne(world: World, conversation: Conversation): void {
  const { facts } = world;
  if (!conversation.born) return;
  transact(world, undefined, (nowMs) => {
    for (const send of conversation.sends) sweepExpired(facts, conversation, send, nowMs);
  });
  const swept = transact(world, undefined, (nowMs) =>
    sweepConversation(facts, conversation, nowMs),
  );
  wake(world, conversation, swept);
  for (const send of conversation.sends) {
    const late = transact(world, undefined, (nowMs) =>
      sweepLateSend(facts, conversation, send, nowMs),
    );
    wake(world, conversation, late);
  }
  transact(world, undefined, (nowMs) => escalateOverdue(world, conversation, nowMs));
}

function wake(world: World, conversation: Conversation, { did }: Swept): void {
  if (did !== 'passed') noteSometimes(world, `the sweeper: ${did}`);
  if (did !== 'wake' && did !== 'replay') return;
  if (world.runs[conversation.index]?.dirty === true) {
    noteSometimes(world, 'sweep and signal repair the same debt');
  }
  const accepted = signal(world, conversation.index);
  // A wake-up that Temporal refused is no replay (T4).
  if (!accepted && did === 'replay') conversation.replayAttempt = null;
}

function escalateOverdue(world: World, conversation: Conversation, nowMs: number): void {
  for (const { id, nextEscalationAtMs } of conversation.items) {
    if (nextEscalationAtMs === null || nextEscalationAtMs > nowMs - ESCALATES_AFTER_MS) continue;
    if (escalateItem(conversation, id, nowMs)) refreshAgenda(world.facts, conversation, nowMs);
  }
}

/** True where a round would find something now. */
export function isSweepDue(world: World): boolean {
  const dueMs = sweepDueMs(world);
  return dueMs !== null && dueMs <= world.nowMs;
}
