import type { DeliveryStatus } from '../../../domain/delivery-status';
import { refreshAgenda } from './agenda';
import { oweAnswer, settleDebt } from './debt';
import { readEcho, type NativeEcho } from './echo';
import {
  at,
  findAttempt,
  findSend,
  unsettled,
  writtenAtMs,
  type Conversation,
  type Facts,
  type LeadText,
  type Message,
  type ProviderMessage,
} from './facts';
import { joinItem, openHandoff, openItem, resolveHandoffs } from './items';
import { applyDeliveryStatus, fileAcceptance, noteProviderMessage, reportStatus } from './record';
import { applyStateEvent } from './state';
import { optIn, optOut, stopPlansOfPerson, stopSends } from './stops';

export interface LeadElement {
  readonly type: 'message';
  readonly id: string;
  readonly text: LeadText;
  readonly sourceAtMs: number | null;
}

export type ThreadElement = LeadElement | NativeEcho;

export interface EvidenceElement {
  readonly type: 'status' | 'echo';
  readonly id: string;
  readonly providerMessageId: string;
  /** Our attempt, where the provider gives our metadata back. */
  readonly attemptRef: string | null;
  readonly status: DeliveryStatus | null;
}

/** Takes the receipt of an element; false where the same event came before (IN1, INV-2). */
function isNew(facts: Facts, account: number, id: string): boolean {
  const key = `${account}/${id}`;
  const known = facts.receipts[key] === true && facts.mutant !== 'no-unique-receipt';
  facts.receipts[key] = true;
  return !known;
}

/**
 * One request with elements of one conversation, as `ingest` and `applyThread` of db/ingest store
 * it. Returns whether somebody has to be woken.
 */
export function ingestThread(
  facts: Facts,
  conversation: Conversation,
  elements: readonly ThreadElement[],
  nowMs: number,
): boolean {
  const fresh = elements.filter(({ id }) => isNew(facts, conversation.account, id));
  if (fresh.length === 0) return false;
  conversation.born = true;
  const readings = fresh.map((element) => {
    const reading: Reading =
      element.type === 'message' ? 'lead' : readEcho(facts, conversation, element, nowMs);
    return { element, reading };
  });
  const proved = readings.some(({ reading }) => reading === 'proven');
  const entries = writeMessages(facts, conversation, readings, nowMs);
  if (entries.length === 0) {
    if (proved) refreshAgenda(facts, conversation, nowMs);
    return proved;
  }
  const owing = applyStates(facts, conversation, entries, nowMs);
  if (owing.length > 0) {
    oweAnswer(facts, conversation, owing, nowMs);
    return true;
  }
  refreshAgenda(facts, conversation, nowMs);
  return true;
}

interface Entry {
  readonly message: Message;
  readonly mayWait: boolean;
}

type Reading = 'lead' | 'confirmed' | 'proven' | 'foreign';

function writeMessages(
  facts: Facts,
  conversation: Conversation,
  readings: readonly { readonly element: ThreadElement; readonly reading: Reading }[],
  nowMs: number,
): Entry[] {
  let item = openHandoff(conversation);
  const entries: Entry[] = [];
  for (const { element, reading } of readings) {
    if (reading === 'confirmed' || reading === 'proven') continue;
    const message = toMessage(facts, conversation, element, nowMs);
    if (message.author === 'native') item = undefined;
    if (message.owes && item !== undefined) {
      Object.assign(message, {
        settlement: 'work-item',
        settledBy: item.id,
        reason: 'joined_open_handoff',
      });
      joinItem(item, message.seq, nowMs);
    }
    conversation.messages.push(message);
    entries.push({ message, mayWait: message.text === 'opener' || message.text === 'media' });
  }
  advanceCounters(
    conversation,
    entries.map(({ message }) => message),
    nowMs,
  );
  return entries;
}

function toMessage(
  facts: Facts,
  conversation: Conversation,
  element: ThreadElement,
  nowMs: number,
): Message {
  conversation.lastSeq += 1;
  const lead = element.type === 'message';
  const words = lead ? element.text : null;
  return {
    seq: conversation.lastSeq,
    author: lead ? 'lead' : 'native',
    providerMessageId: element.id,
    text: words,
    optOut: words === 'stop' || words === 'start' ? words : null,
    sourceAtMs: lead ? element.sourceAtMs : null,
    receivedAtMs: nowMs,
    owes: lead,
    commit: facts.commits,
    settlement: null,
    settledBy: null,
    reason: null,
  };
}

function advanceCounters(
  conversation: Conversation,
  messages: readonly Message[],
  nowMs: number,
): void {
  const inbound = messages.filter(({ author }) => author === 'lead');
  const newest = inbound.at(-1);
  if (newest === undefined) return;
  conversation.lastInboundSeq = Math.max(conversation.lastInboundSeq, newest.seq);
  const written = Math.max(...inbound.map(writtenAtMs));
  conversation.lastInboundAtMs = Math.max(conversation.lastInboundAtMs ?? written, written);
  conversation.lastInboundReceivedAtMs = nowMs;
}

function applyStates(
  facts: Facts,
  conversation: Conversation,
  entries: readonly Entry[],
  nowMs: number,
): Entry[] {
  let owing: Entry[] = [];
  for (const entry of entries) {
    const { message } = entry;
    if (message.author === 'native') {
      takeOverByNative(facts, conversation, message, nowMs);
      owing = [];
    } else {
      applyLeadMessage(facts, conversation, message, nowMs);
      if (message.settlement === null) owing.push(entry);
    }
  }
  if (owing.length === 0 || conversation.owner !== 'person') return owing;
  joinOwner(facts, conversation, entries.at(-1)?.message.seq ?? conversation.lastSeq, nowMs);
  return [];
}

function applyLeadMessage(
  facts: Facts,
  conversation: Conversation,
  message: Message,
  nowMs: number,
): void {
  if (message.optOut === 'stop') {
    optOut(facts, conversation, nowMs);
    return;
  }
  stopPlansOfPerson(facts, conversation, 'lead_replied', nowMs);
  if (message.optOut === 'start' && optIn(facts, conversation)) return;
  if (conversation.state === 'closed') {
    applyStateEvent(conversation, 'new-episode');
    return;
  }
  if (conversation.contactStartedAtMs === null) return;
  if (facts.mutant === 'reply-stops-nothing') return;
  applyStateEvent(conversation, 'reply');
  stopSends(conversation, 'follow-ups', 'lead_replied', nowMs);
}

/** `takeOverByNative` of db/ingest/effects: a person answered in the provider's own app (IN7). */
function takeOverByNative(
  facts: Facts,
  conversation: Conversation,
  message: Message,
  nowMs: number,
): void {
  applyStateEvent(conversation, 'pause');
  const claimed = conversation.owner !== 'person';
  conversation.owner = 'person';
  stopSends(conversation, 'automatic', 'person_owns', nowMs);
  stopPlansOfPerson(facts, conversation, 'person_owns', nowMs);
  if (claimed) {
    conversation.takeover.push({ type: 'takeover.claimed', reason: 'operator_claimed' });
  }
  const settlement = {
    kind: 'person',
    ref: String(message.seq),
    reason: 'answered_in_provider_app',
  } as const;
  if (conversation.owedSince !== null) {
    const token = conversation.owedSince;
    settleDebt(facts, conversation, { throughSeq: message.seq, token, settlement });
  }
  resolveHandoffs(conversation, 'answered_in_provider_app');
  for (const earlier of unsettled(conversation)) {
    if (earlier.seq >= message.seq) continue;
    earlier.settlement = settlement.kind;
    earlier.settledBy = settlement.ref;
    earlier.reason = settlement.reason;
  }
}

/** A person owns the conversation: its one open item is made and takes the new messages (T6). */
function joinOwner(
  facts: Facts,
  conversation: Conversation,
  newestSeq: number,
  nowMs: number,
): void {
  const reason = 'operator_claimed';
  const item = openItem(facts, conversation, { kind: 'handoff', reason, newestSeq, nowMs });
  const open = openHandoff(conversation);
  if (!item.opened && open !== undefined) joinItem(open, newestSeq, nowMs);
  settleDebt(facts, conversation, {
    throughSeq: newestSeq,
    token: conversation.owedSince ?? nowMs * 1_000,
    settlement: { kind: 'work-item', ref: item.id, reason: 'person_owns' },
  });
}

/**
 * A status or an echo of our own, which stand outside threads (`applyOutside` of db/ingest).
 * Returns the conversation to wake, or null.
 */
export function ingestEvidence(
  facts: Facts,
  account: number,
  element: EvidenceElement,
  nowMs: number,
): Conversation | null {
  if (!isNew(facts, account, element.id)) return null;
  const { providerMessageId } = element;
  const known = facts.providerMessages[`${account}/${providerMessageId}`];
  const attemptId = element.attemptRef ?? known?.attemptId ?? null;
  const seen = { providerMessageId, attemptId, nowMs };
  const message =
    element.status === null
      ? noteProviderMessage(facts, account, seen)
      : reportStatus(facts, account, seen, element.status);
  if (element.type === 'echo') message.echoedAtMs ??= nowMs;
  return attemptId === null ? null : applyEvidence(facts, attemptId, { element, message, nowMs });
}

interface Evidence {
  readonly element: EvidenceElement;
  readonly message: ProviderMessage;
  readonly nowMs: number;
}

function applyEvidence(facts: Facts, attemptId: string, evidence: Evidence): Conversation | null {
  const { element, message, nowMs } = evidence;
  const { providerMessageId, type } = element;
  const attempt = findAttempt(facts, attemptId);
  const { sendId } = attempt;
  const conversation = at(facts.conversations, attempt.conversation);
  const send = findSend(conversation, sendId);
  const proven = send.state === 'delivery_unknown' && send.attemptId === attemptId;
  if (proven) {
    const ids = { sendId, attemptId, providerMessageId };
    const acceptance = { ...ids, evidence: type, acceptedAtMs: nowMs };
    fileAcceptance(facts, conversation, acceptance, nowMs);
  }
  applyDeliveryStatus(facts, conversation, send, { ...message, nowMs });
  if (!proven && message.status !== 'failed') return null;
  refreshAgenda(facts, conversation, nowMs);
  return conversation;
}
