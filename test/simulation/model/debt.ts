import { OPENER_WAIT_MS } from '../../../domain/limits';
import {
  isOpen,
  unsettled,
  writtenAtMs,
  type Conversation,
  type Facts,
  type Message,
  type Send,
} from './facts';

export interface Settlement {
  readonly kind: NonNullable<Message['settlement']>;
  readonly ref: string | null;
  readonly reason: string | null;
}

export interface Settling {
  readonly throughSeq: number;
  readonly token: number;
  readonly settlement: Settlement;
}

/** `settleDebt` of db/debt: settles what the outcome covers, and clears by compare (T2, T3). */
export function settleDebt(facts: Facts, conversation: Conversation, settling: Settling): boolean {
  for (const message of unsettled(conversation)) {
    if (message.seq <= settling.throughSeq) settle(message, settling.settlement);
  }
  conversation.marker = null;
  if (conversation.owedSince === null) return true;
  conversation.draftWithdrawals = 0;
  const oldest = oldestUnsettledMs(conversation);
  const compared =
    facts.mutant === 'clear-without-compare' ||
    (oldest === null && conversation.owedSince === settling.token);
  if (compared) {
    clearDebt(conversation);
    return true;
  }
  if (oldest !== null) {
    conversation.oldestOwedAtMs = oldest;
    conversation.overdueFromMs = Math.max(oldest, conversation.overdueFromMs ?? oldest);
  }
  return false;
}

function clearDebt(conversation: Conversation): void {
  conversation.owedSince = null;
  conversation.oldestOwedAtMs = null;
  conversation.overdueFromMs = null;
  conversation.turnDueAtMs = null;
}

function oldestUnsettledMs(conversation: Conversation): number | null {
  const written = unsettled(conversation).map(writtenAtMs);
  return written.length === 0 ? null : Math.min(...written);
}

function settle(message: Message, settlement: Settlement): void {
  message.settlement = settlement.kind;
  message.settledBy = settlement.ref;
  message.reason = settlement.reason;
}

/** `moveSettlement` of db/debt: what one fact settled is settled by another. */
export function moveSettlement(
  conversation: Conversation,
  fromRef: string,
  settlement: Settlement,
): void {
  for (const message of conversation.messages) {
    if (message.settledBy === fromRef) settle(message, settlement);
  }
}

function mintToken(facts: Facts, conversation: Conversation, nowMs: number): number {
  const now = nowMs * 1_000;
  const last = conversation.lastToken;
  if (last === null || facts.mutant === 'token-not-increasing') return now;
  return Math.max(now, last + 1);
}

/** `oweAnswer` of db/ingest/effects: the debt, written with its messages (T1, T5, P4b). */
export function oweAnswer(
  facts: Facts,
  conversation: Conversation,
  owing: readonly { readonly message: Message; readonly mayWait: boolean }[],
  nowMs: number,
): void {
  const oldest = Math.min(...owing.map(({ message }) => writtenAtMs(message)));
  const waits = owing.every(({ mayWait }) => mayWait);
  conversation.turnDueAtMs = turnDueAtMs(conversation, waits, nowMs);
  const token = mintToken(facts, conversation, nowMs);
  const { oldestOwedAtMs: known, overdueFromMs } = conversation;
  conversation.owedSince = token;
  conversation.lastToken = token;
  conversation.oldestOwedAtMs = Math.min(known ?? oldest, oldest);
  conversation.overdueFromMs =
    overdueFromMs !== null && overdueFromMs === known
      ? Math.min(overdueFromMs, oldest)
      : (overdueFromMs ?? oldest);
  conversation.nextDueAtMs = conversation.turnDueAtMs;
  conversation.relayCount = 0;
  conversation.relayAtMs = null;
}

function turnDueAtMs(conversation: Conversation, waits: boolean, nowMs: number): number {
  if (!waits) return nowMs;
  const due = nowMs + OPENER_WAIT_MS;
  if (conversation.owedSince === null) return due;
  return Math.min(conversation.turnDueAtMs ?? due, due);
}

/** `reopenDebt` of db/debt: what nobody answered owes again after a hand-back (T6). */
export function reopenDebt(
  facts: Facts,
  conversation: Conversation,
  itemIds: readonly string[],
  nowMs: number,
): void {
  const waiting = conversation.messages.filter(
    (message) =>
      message.owes &&
      message.settlement === 'work-item' &&
      message.settledBy !== null &&
      itemIds.includes(message.settledBy),
  );
  const reopened = waiting.filter((message) => !settledMeanwhile(conversation, message));
  if (reopened.length > 0) mintDebt(facts, conversation, reopened, nowMs);
  claimInFlight(conversation);
}

/** An answer that left before the takeover did answer, or its review has the debt. */
function settledMeanwhile(conversation: Conversation, message: Message): boolean {
  const covering = conversation.sends.filter(
    (send) => isReply(send) && send.coversSeq >= message.seq,
  );
  const sent = covering.find(({ state }) => state === 'accepted' || state === 'delivered');
  if (sent !== undefined) {
    settle(message, { kind: 'reply', ref: sent.id, reason: sent.purpose });
    return true;
  }
  const reviews = covering.map((send) => reviewOf(conversation, send.id, send.state));
  const review = reviews.find((item) => item !== null);
  if (review === undefined) return false;
  settle(message, { kind: 'work-item', ref: review, reason: 'delivery_unknown' });
  return true;
}

function isReply({ purpose }: Send): boolean {
  return purpose === 'answer' || purpose === 'staff' || purpose === 'opt-out-confirmation';
}

function reviewOf(conversation: Conversation, sendId: string, state: string): string | null {
  if (state !== 'delivery_unknown') return null;
  const item = conversation.items.find(
    ({ kind, sendId: of }) => kind === 'delivery-unknown' && of === sendId,
  );
  return item?.id ?? null;
}

function mintDebt(
  facts: Facts,
  conversation: Conversation,
  reopened: readonly Message[],
  nowMs: number,
): void {
  for (const message of reopened) {
    message.settlement = null;
    message.settledBy = null;
    message.reason = null;
  }
  const token = mintToken(facts, conversation, nowMs);
  conversation.owedSince = token;
  conversation.lastToken = token;
  const oldest = Math.min(...reopened.map(writtenAtMs));
  conversation.oldestOwedAtMs = Math.min(conversation.oldestOwedAtMs ?? oldest, oldest);
  conversation.overdueFromMs = nowMs;
  conversation.turnDueAtMs = nowMs;
  conversation.draftWithdrawals = 0;
}

function claimInFlight(conversation: Conversation): void {
  if (conversation.owedSince === null) return;
  for (const send of conversation.sends) {
    if (!isReply(send)) continue;
    const open = send.purpose === 'answer' ? send.state === 'sending' : isOpen(send);
    if (open && send.coversSeq >= conversation.lastInboundSeq) {
      send.token = conversation.owedSince;
    }
  }
}
