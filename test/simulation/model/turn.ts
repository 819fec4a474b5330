import type { Agenda } from '../../../domain/agenda';
import { replySourceEvent } from '../../../domain/keys';
import { THREAD_MESSAGES_MAX } from '../../../domain/limits';
import { findLoop } from '../../../domain/loops';
import { answerAtOnce, confirmAtOnce } from '../../../domain/policy';
import { courseOfTurn, fateOfDraft } from '../../../domain/turn';
import { readAgenda, refreshAgenda } from './agenda';
import { settleDebt } from './debt';
import { at, isOpen, unsettled, type Conversation, type Facts, type Send } from './facts';
import { handOver } from './hand-over';
import { endOpenSend, queueSend } from './outbox';

export interface RaisedTurn {
  readonly token: number;
  readonly attempt: number;
}

/** `raiseTurn` of db/turns: null where nothing is owed. */
export function raiseTurn(conversation: Conversation, nowMs: number): RaisedTurn | null {
  const { owedSince: token, marker } = conversation;
  if (token === null) return null;
  const attempt = (marker?.attempt ?? 0) + 1;
  const startedAtMs = marker?.token === token ? marker.startedAtMs : nowMs;
  conversation.marker = { token, attempt, startedAtMs, thrown: false };
  return { token, attempt };
}

/** The transaction of `takeTurn`: decides and writes, if the raised attempt is still current. */
export function writeTurn(
  facts: Facts,
  conversation: Conversation,
  raised: RaisedTurn,
  nowMs: number,
): Agenda {
  const { owedSince, turnDueAtMs, marker } = conversation;
  if (owedSince === null) conversation.marker = null;
  const due = owedSince === raised.token && (turnDueAtMs === null || turnDueAtMs <= nowMs);
  const current = marker?.attempt === raised.attempt;
  if (due && current) decide({ facts, conversation, token: owedSince, nowMs });
  return refreshAgenda(facts, conversation, nowMs);
}

/** What `takeTurn` returns where nothing is owed. */
export function lookOnly(facts: Facts, conversation: Conversation, nowMs: number): Agenda {
  return readAgenda(facts, conversation, nowMs);
}

interface Turn {
  readonly facts: Facts;
  readonly conversation: Conversation;
  readonly token: number;
  readonly nowMs: number;
}

function decide(turn: Turn): void {
  if (!clearTheWay(turn)) return;
  const { facts, conversation, nowMs } = turn;
  const course = courseOfTurn({
    nowMs,
    state: conversation.state,
    overdueFromMs: conversation.overdueFromMs ?? nowMs,
    optOutConfirmed: conversation.optOutConfirmedAtMs !== null,
    addressOptedOut: at(facts.addresses, conversation.address).optedOutAtMs !== null,
    lastAnswerAtMs: lastAnswerAtMs(conversation),
    loop: loopOf(facts, conversation, nowMs),
    owed: unsettled(conversation).map(({ seq, text, optOut }) => ({
      seq,
      text: text === 'media' ? null : text,
      optOut,
    })),
  });
  switch (course.kind) {
    case 'draft':
      draftReply(turn);
      break;
    case 'confirm-opt-out':
      conversation.optOutConfirmedAtMs = nowMs;
      queueAnswer(turn, 'opt-out-confirmation');
      break;
    case 'no-answer':
      settleWithoutAnswer(turn, course.reason);
      break;
    case 'hand-over':
      handOver(facts, conversation, course.reason, nowMs);
  }
}

/** `findLoop` over what `read-turn` counts (INV-17). */
function loopOf(facts: Facts, conversation: Conversation, nowMs: number) {
  const turns = facts.attempts.filter(({ conversation: index, purpose, number }) => {
    return index === conversation.index && purpose === 'answer' && number === 1;
  });
  const since = (ms: number): number =>
    turns.filter(({ startedAtMs }) => startedAtMs > nowMs - ms).length;
  return findLoop({
    thread: conversation.messages.slice(-THREAD_MESSAGES_MAX).map((message) => ({
      from: message.author === 'lead' ? 'lead' : 'business',
      text: message.text === 'media' ? null : message.text,
      atMs: message.receivedAtMs,
    })),
    turnsLastHour: since(3_600_000),
    turnsLastDay: since(24 * 3_600_000),
  });
}

/** `markTurnThrown` of db/turns: no turn is in flight, and the attempts stay counted. */
export function noteThrown(conversation: Conversation, attempt: number): void {
  const { marker } = conversation;
  if (marker?.attempt === attempt) marker.thrown = true;
}

function lastAnswerAtMs(conversation: Conversation): number | null {
  const ended = conversation.sends
    .filter(({ purpose, state }) => {
      return purpose === 'answer' && (state === 'accepted' || state === 'delivered');
    })
    .map(({ endedAtMs }) => endedAtMs ?? 0);
  return ended.length === 0 ? null : Math.max(...ended);
}

/** What an earlier draft means for this turn (P4b); false where it answers or stands. */
function clearTheWay({ conversation, token, nowMs }: Turn): boolean {
  const answers = conversation.sends.filter((send) => send.purpose === 'answer' && isOpen(send));
  const open = answers.findLast((send) => send.token === token) ?? answers.at(-1);
  if (open === undefined || (open.state === 'sending' && open.token !== token)) return true;
  if (open.token === token) return false;
  const { oldestOwedAtMs, draftWithdrawals } = conversation;
  const fate = fateOfDraft({
    draftWithdrawals,
    oldestOwedAgeMs: oldestOwedAtMs === null ? null : nowMs - oldestOwedAtMs,
    oldestMissedAgeMs: oldestMissedAgeMs(conversation, open, nowMs),
    mayLeaveNow: open.notBeforeMs <= nowMs,
  });
  if (fate === 'stand') {
    open.stands = true;
    return false;
  }
  endOpenSend(open, 'cancelled', 'newer_inbound', nowMs);
  conversation.draftWithdrawals += 1;
  return true;
}

/** The age of the oldest inbound that the draft did not see. */
export function oldestMissedAgeMs(
  conversation: Conversation,
  send: Send,
  nowMs: number,
): number | null {
  const missed = conversation.messages
    .filter(({ author, seq }) => author === 'lead' && seq > send.coversSeq)
    .map(({ receivedAtMs }) => receivedAtMs);
  return missed.length === 0 ? null : nowMs - Math.min(...missed);
}

/** The engine of the simulation: the lead's newest words say what it proposes. */
function draftReply(turn: Turn): void {
  const { facts, conversation, nowMs } = turn;
  const thread = conversation.messages.slice(-THREAD_MESSAGES_MAX);
  const newest = thread.findLast(({ author }) => author === 'lead');
  if (newest?.text === 'person') handOver(facts, conversation, 'lead_requested_human', nowMs);
  else if (newest?.text === 'thanks') settleWithoutAnswer(turn, 'thanks');
  else queueAnswer(turn, 'answer');
}

function queueAnswer(turn: Turn, purpose: 'answer' | 'opt-out-confirmation'): void {
  const { facts, conversation, token, nowMs } = turn;
  const overdueFromMs = conversation.overdueFromMs ?? nowMs;
  const decide = purpose === 'answer' ? answerAtOnce : confirmAtOnce;
  const queued = queueSend(facts, conversation, {
    purpose,
    sourceEvent: replySourceEvent(conversation.lastInboundSeq, String(token)),
    coversSeq: conversation.lastInboundSeq,
    token,
    decision: decide(nowMs, overdueFromMs),
  });
  // This very answer was refused before; making it again would loop, so a person decides.
  if (queued === null) handOver(facts, conversation, 'policy_requires_human', nowMs);
}

function settleWithoutAnswer({ facts, conversation, token }: Turn, reason: string): void {
  settleDebt(facts, conversation, {
    throughSeq: conversation.lastInboundSeq,
    token,
    settlement: { kind: 'no-answer', ref: null, reason },
  });
}
