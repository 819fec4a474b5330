import { at, isOpen, type Conversation } from '../model/facts';
import { ingestEvidence, ingestThread, type ThreadElement } from '../model/ingest';
import type { Action, Deed, TransactionFault } from './actions';
import { PostgresError, transact } from './transact';
import { signal } from './workflow';
import { countFault, noteSometimes, type World } from './world';

type Of<Name extends Deed> = Extract<Action, { do: Name }>;

/** A provider that got no 2xx tries again after so long. */
const REDELIVERY_MS = 5_000;

/** A lead writes: the provider keeps the message and delivers it. */
export function leadWrites(world: World, action: Of<'lead'>): boolean {
  const conversation = at(world.facts.conversations, action.c);
  const element: ThreadElement = {
    type: 'message',
    id: `written-${world.written.length}`,
    text: action.text,
    sourceAtMs: action.lateMs === undefined ? null : world.nowMs - action.lateMs,
  };
  noteBefore(world, conversation, action);
  if (action.unsignalled === true) countFault(world, 'signal lost');
  world.written.push({ conversation: action.c, element, acknowledged: false });
  deliver(world, world.written.length - 1, action.fault, action.unsignalled !== true);
  return true;
}

function noteBefore(world: World, conversation: Conversation, action: Of<'lead'>): void {
  const open = conversation.sends.filter(isOpen);
  if (action.text === 'stop' && open.some(({ state }) => state !== 'sending')) {
    noteSometimes(world, 'opt-out between draft and intent');
  }
  const [first] = conversation.messages;
  if (first !== undefined && first.receivedAtMs >= world.nowMs - 1 + world.clockErrorMs) {
    noteSometimes(world, 'two first messages within 1 ms');
  }
}

function deliver(
  world: World,
  n: number,
  fault: TransactionFault | undefined,
  signals: boolean,
): void {
  const written = at(world.written, n);
  const conversation = at(world.facts.conversations, written.conversation);
  try {
    const wakes = transact(world, fault, (nowMs) =>
      ingestThread(world.facts, conversation, [written.element], nowMs),
    );
    written.acknowledged = true;
    if (wakes && signals) signal(world, conversation.index);
  } catch (error) {
    if (!(error instanceof PostgresError)) throw error;
    if (world.facts.mutant === 'acknowledge-before-commit') {
      written.acknowledged = true;
      return;
    }
    world.redeliveries.push({ n, dueAtMs: world.nowMs + REDELIVERY_MS });
  }
}

/** The first delivery that waits, whatever the order in which they were written. */
export function redeliver(world: World, action: Of<'redeliver'>): boolean {
  const index = world.redeliveries.findIndex(({ dueAtMs }) => dueAtMs <= world.nowMs);
  const [waiting] = index < 0 ? [] : world.redeliveries.splice(index, 1);
  if (waiting === undefined) return false;
  deliver(world, waiting.n, action.fault, true);
  return true;
}

/** Providers deliver again what we answered already. */
export function repeat(world: World, { n }: Of<'repeat'>): boolean {
  const written = world.written[n];
  if (written === undefined) return false;
  countFault(world, 'webhook repeated');
  deliver(world, n, undefined, true);
  return true;
}

/**
 * Somebody of the business is seen writing in the provider's app. Where the provider never says
 * who wrote, it may be the newest send of ours that is shown.
 */
export function nativeWrites(world: World, action: Of<'native'>): boolean {
  const conversation = at(world.facts.conversations, action.c);
  if (!conversation.born) return false;
  const shown = world.accepted.findLast((send) => send.conversation === action.c);
  const ours = action.author === 'unknown';
  if (ours && shown === undefined) return false;
  if (!ours && conversation.sends.some(({ state }) => state === 'sending')) {
    noteSometimes(world, 'takeover during a send in flight');
  }
  world.nativeCount += 1;
  const id = ours && shown !== undefined ? shown.providerMessageId : `native-${world.nativeCount}`;
  const element = {
    type: 'native',
    id,
    author: action.author,
    repeats: ours ? (shown?.sendId ?? null) : null,
  } as const;
  world.written.push({ conversation: action.c, element, acknowledged: false });
  deliver(world, world.written.length - 1, undefined, true);
  return true;
}

/** A status or echo of something that the provider accepted, perhaps before we know its id. */
export function report(world: World, action: Of<'status'> | Of<'echo'>): boolean {
  const accepted = world.accepted[action.n];
  if (accepted === undefined || world.postgresUpAtMs > world.nowMs) return false;
  const { providerMessageId, attemptId, account } = accepted;
  const status = action.do === 'status' ? action.status : null;
  const { named } = action;
  const known = world.facts.providerMessages[`${account}/${providerMessageId}`];
  if (known === undefined) noteSometimes(world, `${action.do} before id`);
  const element = {
    type: action.do,
    id: `${action.do}-${providerMessageId}-${status ?? 'seen'}`,
    providerMessageId,
    attemptRef: named ? attemptId : null,
    status,
  };
  const woken = transact(world, undefined, (nowMs) =>
    ingestEvidence(world.facts, account, element, nowMs),
  );
  if (woken !== null) signal(world, woken.index);
  return true;
}
