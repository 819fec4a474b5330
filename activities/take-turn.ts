import type { PoolClient } from 'pg';
import { refreshAgenda, readAgenda } from '../db/agenda';
import { lockConversation, type Locked } from '../db/conversations';
import { inTransaction } from '../db/database';
import { settleDebt } from '../db/debt';
import { queueDraft } from '../db/drafts';
import { handOver, type Handover } from '../db/handover';
import { endOpenSend, letSendStand, queueSend } from '../db/outbox';
import { readPolicy } from '../db/policies';
import {
  countDraftWithdrawal,
  dropStaleMarker,
  endTraces,
  markOptOutConfirmed,
  markTurnThrown,
  raiseTurn,
  readTurn,
  storeUnderstanding,
  type OpenDraft,
  type RaisedTurn,
  type TurnReading,
} from '../db/turns';
import type { Agenda } from '../domain/agenda';
import { replySourceEvent } from '../domain/keys';
import { findLoop } from '../domain/loops';
import { THREAD_MESSAGES_MAX } from '../domain/limits';
import { confirmAtOnce, decideAnswer, type PolicyDecision } from '../domain/policy';
import type { Purpose } from '../domain/sending';
import { courseOfTurn, fateOfDraft, optOutConfirmation } from '../domain/turn';
import type { FirstResponseVerdict, HandoffReason } from '../domain/understanding';
import type { ConversationRef } from './contract';
import type { ActivityDependencies } from './dependencies';

const NOTHING_DUE: Agenda = {
  state: 'closed',
  owner: 'automation',
  owed: false,
  escalated: false,
  items: [],
};

/** One turn while its transaction runs. */
interface Turn {
  readonly client: PoolClient;
  readonly locked: Locked;
  readonly owedSince: string;
  readonly reading: TurnReading;
  /** When the turn began: wall clock to correlate, monotonic to measure (C1). */
  readonly clock: { readonly raisedAt: string; readonly startedMonotonicMs: number };
  readonly dependencies: ActivityDependencies;
}

/**
 * Takes the owed turn (T2, T3): raises the marker, then decides and writes in one transaction
 * under the conversation's lock. The debt itself is cleared by what settles it: the acceptance of
 * the reply, a handoff, or a recorded no-answer.
 */
export async function takeTurn(
  dependencies: ActivityDependencies,
  { conversationId }: ConversationRef,
): Promise<Agenda> {
  const startedMonotonicMs = performance.now();
  const now = await dependencies.clock.now();
  const raised = await raiseTurn(dependencies.pool, conversationId, now);
  if (raised === null) {
    return (await readAgenda(dependencies.pool, conversationId, now)) ?? NOTHING_DUE;
  }
  try {
    await dependencies.reach('turn:begun', conversationId);
    const agenda = await inTransaction(dependencies.pool, (client) =>
      takeUnderLock(client, dependencies, { conversationId, now, raised, startedMonotonicMs }),
    );
    await dependencies.reach('turn:committed', conversationId);
    return agenda;
  } catch (error) {
    await noteThrown(dependencies, conversationId, raised.attempt);
    throw error;
  }
}

interface Begun {
  readonly conversationId: string;
  readonly now: string | null;
  readonly raised: RaisedTurn;
  readonly startedMonotonicMs: number;
}

async function takeUnderLock(
  client: PoolClient,
  dependencies: ActivityDependencies,
  { conversationId, now, raised, startedMonotonicMs }: Begun,
): Promise<Agenda> {
  const locked = await lockConversation(client, conversationId, now);
  if (locked === null) return NOTHING_DUE;
  const { owedSince } = locked.conversation;
  if (owedSince === null) await dropStaleMarker(client, conversationId);
  // A stale token exits before any engine is asked: the debt was settled, or is another one (T2).
  if (owedSince !== null && owedSince === raised.token && isDue(locked)) {
    const reading = await readTurn(client, conversationId, locked.now, THREAD_MESSAGES_MAX);
    // A newer attempt has begun this turn again: it writes, we do not (T4).
    if (reading.currentAttempt === raised.attempt) {
      const clock = { raisedAt: raised.raisedAt, startedMonotonicMs };
      await decide({ client, locked, owedSince, reading, clock, dependencies });
      await dependencies.reach('turn:drafted', conversationId);
    }
  }
  return refreshAgenda(client, conversationId, now);
}

/** A turn that threw leaves no marker that the sweeper would take for a turn in flight (T3, T4). */
async function noteThrown(
  { pool, clock, log }: ActivityDependencies,
  conversationId: string,
  attempt: number,
): Promise<void> {
  try {
    await markTurnThrown(pool, conversationId, attempt, await clock.now());
  } catch (error) {
    // The marker then ages by itself; the sweeper waits ten minutes instead of three (T4).
    log.warn({ conversationId, error: String(error) }, 'a thrown turn could not be noted');
  }
}

function isDue({ conversation, nowMs }: Locked): boolean {
  return conversation.turnDueAt === null || Date.parse(conversation.turnDueAt) <= nowMs;
}

async function decide(turn: Turn): Promise<void> {
  if (!(await clearTheWay(turn))) return;
  const { locked, reading } = turn;
  const { conversation, nowMs } = locked;
  const course = courseOfTurn({
    nowMs,
    state: conversation.state,
    overdueFromMs: overdueFromMs(locked),
    optOutConfirmed: conversation.optOutConfirmedAt !== null,
    addressOptedOut: reading.addressOptedOut,
    lastAnswerAtMs: reading.lastAnswerAtMs,
    owed: reading.owed,
    loop: findLoop(reading),
  });
  switch (course.kind) {
    case 'draft':
      return draftReply(turn);
    case 'confirm-opt-out':
      return confirmOptOut(turn);
    case 'no-answer':
      return settleWithoutAnswer(turn, course.reason);
    case 'hand-over':
      return giveToPerson(turn, course);
  }
}

/**
 * What an earlier draft means for this turn (P4b). Returns false where it answers the debt already
 * or stands before it.
 */
async function clearTheWay({ client, locked, owedSince, reading }: Turn): Promise<boolean> {
  const { openAnswer: open } = reading;
  // What is being sent stays with its attempt; the newer messages get a turn of their own.
  if (open === null || (open.state === 'sending' && open.token !== owedSince)) return true;
  if (open.token === owedSince) return false;
  if (fateOfDraft(draftFacts(locked, open)) === 'stand') {
    await letSendStand(client, open.sendId);
    return false;
  }
  const end = { state: 'cancelled', reason: 'newer_inbound', at: locked.now } as const;
  await endOpenSend(client, open.sendId, end);
  await countDraftWithdrawal(client, locked.conversation.id);
  return true;
}

function draftFacts({ conversation, nowMs }: Locked, open: OpenDraft) {
  const { oldestOwedAt, draftWithdrawals } = conversation;
  return {
    draftWithdrawals,
    oldestOwedAgeMs: oldestOwedAt === null ? null : nowMs - Date.parse(oldestOwedAt),
    oldestMissedAgeMs: open.oldestMissedAgeMs,
    mayLeaveNow: open.mayLeaveNow,
  };
}

function overdueFromMs({ conversation, nowMs }: Locked): number {
  return conversation.overdueFrom === null ? nowMs : Date.parse(conversation.overdueFrom);
}

const HANDOFF_WORDS: Record<HandoffReason, string> = {
  lead_requested_human: 'The lead asked to talk to a person.',
  complaint: 'The lead complains; a person should answer.',
  quote_requires_human: 'The lead insists on a price that only a person may give.',
};

async function draftReply(turn: Turn): Promise<void> {
  const { client, locked, reading, dependencies } = turn;
  const { engine } = dependencies;
  const understanding = engine.understand(reading.thread, reading.profile);
  await storeUnderstanding(client, locked.conversation, understanding);
  const draft = engine.draft(reading.thread, understanding, reading.profile);
  switch (draft.kind) {
    case 'reply':
      return answerByPolicy(turn, { body: draft.text, verdict: draft.verdict });
    case 'no-answer':
      return settleWithoutAnswer(turn, draft.reason);
    case 'handoff':
      return giveToPerson(turn, {
        reason: draft.reason === 'complaint' ? 'policy_requires_human' : draft.reason,
        explanation: HANDOFF_WORDS[draft.reason],
      });
  }
}

/** When the answer may leave says the business's policy (C2), and whether a person sees it first. */
async function answerByPolicy(turn: Turn, answer: Pick<Answer, 'body' | 'verdict'>): Promise<void> {
  const { client, locked } = turn;
  const { conversation, nowMs } = locked;
  const { rules, timeZone } = await readPolicy(client, conversation);
  const { oldestOwedAt } = conversation;
  const decision = decideAnswer(rules, {
    nowMs,
    overdueFromMs: overdueFromMs(locked),
    oldestOwedMs: oldestOwedAt === null ? nowMs : Date.parse(oldestOwedAt),
    timeZone,
  });
  await queueAnswer(turn, { ...answer, purpose: 'answer', decision, review: rules.manualReview });
}

async function confirmOptOut(turn: Turn): Promise<void> {
  const { client, locked, reading, dependencies } = turn;
  const { language } = dependencies.engine.understand(reading.thread, reading.profile);
  await markOptOutConfirmed(client, locked.conversation.id, locked.now);
  await queueAnswer(turn, {
    purpose: 'opt-out-confirmation',
    body: optOutConfirmation(language),
    verdict: null,
    decision: confirmAtOnce(locked.nowMs, overdueFromMs(locked)),
  });
}

interface Answer {
  readonly purpose: Purpose;
  readonly body: string;
  readonly verdict: FirstResponseVerdict | null;
  readonly decision: PolicyDecision;
  /** True where a person approves it before it may leave (T3). */
  readonly review?: boolean;
}

async function queueAnswer(turn: Turn, answer: Answer): Promise<void> {
  const { client, locked, owedSince } = turn;
  const { conversation, now } = locked;
  const { purpose, decision, review, ...wording } = answer;
  const draft = {
    ...wording,
    sourceEvent: replySourceEvent(conversation.lastInboundSeq, owedSince),
    coversSeq: conversation.lastInboundSeq,
    token: owedSince,
    turn: {
      startedAt: turn.clock.raisedAt,
      decisionMs: Math.round(performance.now() - turn.clock.startedMonotonicMs),
    },
  };
  const sendId =
    review === true
      ? await queueDraft(client, locked, draft)
      : await queueSend(client, conversation, { ...draft, purpose, decision, at: now });
  if (sendId !== null) return;
  // This very answer was refused before; making it again would loop, so a person decides.
  await giveToPerson(turn, {
    reason: 'policy_requires_human',
    explanation: 'The answer was refused by a rule and is still owed.',
  });
}

async function settleWithoutAnswer(turn: Turn, reason: string): Promise<void> {
  const { client, locked, owedSince } = turn;
  const { conversation, now } = locked;
  await settleDebt(client, {
    conversationId: conversation.id,
    throughSeq: conversation.lastInboundSeq,
    token: owedSince,
    settlement: { kind: 'no-answer', ref: null, reason, at: now },
  });
  await endTraces(client, conversation.id, conversation.lastInboundSeq, 'no-answer');
}

async function giveToPerson(
  { client, locked }: Turn,
  why: Pick<Handover, 'reason' | 'explanation'>,
): Promise<void> {
  const { conversation, now } = locked;
  await handOver(client, conversation, {
    reason: why.reason,
    explanation: why.explanation,
    actor: { kind: 'service', ref: 'conversation-router' },
    at: now,
  });
  await endTraces(client, conversation.id, conversation.lastInboundSeq, 'handed-over');
}
