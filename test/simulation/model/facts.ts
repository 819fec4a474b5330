import type { ConversationState } from '../../../domain/conversation-state';
import type { DeliveryStatus } from '../../../domain/delivery-status';
import type { Purpose, SendState } from '../../../domain/sending';
import type { WorkItemKind } from '../../../domain/work-items';
import type { Mutant } from './mutants';

/**
 * The committed facts, in memory: what the tables of Postgres hold, as far as the decision core
 * depends on it. Plain data, so that a state can be copied. Instants are epoch ms by the
 * database's clock, tokens are epoch microseconds.
 */
export interface Facts {
  readonly mutant: Mutant | null;
  readonly replyWindowMs: number | null;
  /** In [0, 1): what a worker draws for the jitter of a back-off. */
  readonly jitter: number;
  readonly accounts: Account[];
  readonly addresses: Address[];
  readonly conversations: Conversation[];
  readonly attempts: Attempt[];
  readonly receipts: Record<string, true>;
  readonly providerMessages: Record<string, ProviderMessage>;
  /** Items that belong to no conversation. */
  readonly operatorItems: WorkItem[];
  /** Counts the transactions that changed something: the order of commits. */
  commits: number;
  sendCount: number;
  itemCount: number;
}

export interface Account {
  pausedAtMs: number | null;
}

/** One person is one address here; the conversations of a person share it. */
export interface Address {
  optedOutAtMs: number | null;
}

export type LeadText = 'text' | 'opener' | 'media' | 'stop' | 'start' | 'person' | 'thanks';

export interface Message {
  readonly seq: number;
  readonly author: 'lead' | 'automation' | 'staff' | 'native';
  readonly providerMessageId: string | null;
  readonly text: LeadText | null;
  readonly optOut: 'stop' | 'start' | null;
  readonly sourceAtMs: number | null;
  readonly receivedAtMs: number;
  readonly owes: boolean;
  /** The commit that stored it. */
  readonly commit: number;
  settlement: 'reply' | 'person' | 'no-answer' | 'work-item' | null;
  settledBy: string | null;
  reason: string | null;
}

export interface Send {
  readonly id: string;
  readonly conversation: number;
  readonly purpose: Purpose;
  readonly sourceEvent: string;
  readonly coversSeq: number;
  readonly episode: number;
  readonly cancelOnInbound: boolean;
  /** The rule of its decision; null where the reason says it all. */
  readonly rule: string | null;
  expiresAtMs: number | null;
  state: SendState;
  token: number | null;
  notBeforeMs: number;
  stands: boolean;
  leaseOwner: string | null;
  leaseUntilMs: number | null;
  attemptId: string | null;
  attemptedAtMs: number | null;
  attempts: number;
  stopRequestedAtMs: number | null;
  stopVerdict: 'before' | 'after' | null;
  endReason: string | null;
  endedAtMs: number | null;
  providerMessageId: string | null;
}

export interface Outcome {
  readonly outcome: 'accepted' | 'not-accepted' | 'unknown';
  readonly evidence: string;
  /** False where it moved nothing any more and is only kept. */
  readonly filed: boolean;
}

export interface SentMarker {
  readonly providerMessageId: string;
  readonly acceptedAtMs: number;
  readonly commit: number;
}

export interface Attempt {
  readonly id: string;
  readonly sendId: string;
  readonly conversation: number;
  readonly address: number;
  readonly purpose: Purpose;
  readonly number: number;
  readonly startedAtMs: number;
  readonly sawSeq: number;
  readonly outcomes: Outcome[];
  /** The sent marker (T8). */
  marker: SentMarker | null;
}

export interface ProviderMessage {
  attemptId: string | null;
  status: DeliveryStatus | null;
  errorCode: string | null;
  echoedAtMs: number | null;
  readonly firstSeenAtMs: number;
}

export interface WorkItem {
  readonly id: string;
  readonly kind: WorkItemKind;
  readonly reason: string;
  readonly sendId: string | null;
  readonly openedAtMs: number;
  readonly commit: number;
  newestSeq: number | null;
  level: number;
  clockFromLevel: number;
  nextEscalationAtMs: number | null;
  resolution: string | null;
}

export interface Plan {
  readonly id: string;
  readonly episode: number;
  readonly anchorAtMs: number;
  readonly commit: number;
  readonly steps: PlanStep[];
  stopReason: string | null;
}

export interface PlanStep {
  readonly step: number;
  readonly day: number;
  readonly dueAtMs: number;
  written: boolean;
}

export interface TakeoverEvent {
  readonly type: 'takeover.requested' | 'takeover.claimed' | 'takeover.released';
  readonly reason: string;
}

export interface TurnMarker {
  readonly token: number;
  readonly attempt: number;
  readonly startedAtMs: number;
  thrown: boolean;
}

export interface Conversation {
  readonly index: number;
  readonly account: number;
  readonly address: number;
  /** False until the first message makes it. */
  born: boolean;
  state: ConversationState;
  remembered: ConversationState | null;
  version: number;
  episode: number;
  owner: 'automation' | 'person';
  lastSeq: number;
  lastInboundSeq: number;
  lastInboundAtMs: number | null;
  lastInboundReceivedAtMs: number | null;
  owedSince: number | null;
  lastToken: number | null;
  oldestOwedAtMs: number | null;
  overdueFromMs: number | null;
  turnDueAtMs: number | null;
  draftWithdrawals: number;
  contactStartedAtMs: number | null;
  optOutConfirmedAtMs: number | null;
  nextDueAtMs: number | null;
  relayCount: number;
  relayAtMs: number | null;
  marker: TurnMarker | null;
  replays: number;
  replaysForMs: number | null;
  replayAttempt: number | null;
  sweptAtMs: number | null;
  readonly messages: Message[];
  readonly sends: Send[];
  readonly items: WorkItem[];
  readonly plans: Plan[];
  readonly takeover: TakeoverEvent[];
  /** The states that it moved through. */
  readonly transitions: { readonly from: ConversationState; readonly to: ConversationState }[];
}

/** Which account and which person a conversation joins. */
export interface Home {
  readonly account: number;
  readonly address: number;
}

export interface FactsOptions {
  readonly homes: readonly Home[];
  readonly mutant: Mutant | null;
  readonly replyWindowMs: number | null;
  readonly jitter: number;
}

/** Facts of a business on its first day: accounts, and nobody who ever wrote. */
export function makeFacts(options: FactsOptions): Facts {
  const { homes, mutant, replyWindowMs, jitter } = options;
  const accounts = 1 + Math.max(...homes.map((home) => home.account));
  const addresses = 1 + Math.max(...homes.map((home) => home.address));
  return {
    mutant,
    replyWindowMs,
    jitter,
    accounts: Array.from({ length: accounts }, () => ({ pausedAtMs: null })),
    addresses: Array.from({ length: addresses }, () => ({ optedOutAtMs: null })),
    conversations: homes.map(makeConversation),
    attempts: [],
    receipts: {},
    providerMessages: {},
    operatorItems: [],
    commits: 0,
    sendCount: 0,
    itemCount: 0,
  };
}

function makeConversation({ account, address }: Home, index: number): Conversation {
  return {
    index,
    account,
    address,
    born: false,
    state: 'active',
    remembered: null,
    version: 1,
    episode: 1,
    owner: 'automation',
    lastSeq: 0,
    lastInboundSeq: 0,
    lastInboundAtMs: null,
    lastInboundReceivedAtMs: null,
    owedSince: null,
    lastToken: null,
    oldestOwedAtMs: null,
    overdueFromMs: null,
    turnDueAtMs: null,
    draftWithdrawals: 0,
    contactStartedAtMs: null,
    optOutConfirmedAtMs: null,
    nextDueAtMs: null,
    relayCount: 0,
    relayAtMs: null,
    marker: null,
    replays: 0,
    replaysForMs: null,
    replayAttempt: null,
    sweptAtMs: null,
    messages: [],
    sends: [],
    items: [],
    plans: [],
    takeover: [],
    transitions: [],
  };
}

/** Takes a row by its place; a missing one is a mistake of the simulator, never of the product. */
export function at<Row>(rows: readonly Row[], index: number): Row {
  const row = rows[index];
  if (row === undefined) throw new Error(`the model has no row ${index}`);
  return row;
}

export function findSend(conversation: Conversation, sendId: string): Send {
  const send = conversation.sends.find(({ id }) => id === sendId);
  if (send === undefined) throw new Error(`the model has no send ${sendId}`);
  return send;
}

/** Attempts are named by their place. */
export function findAttempt(facts: Facts, attemptId: string): Attempt {
  return at(facts.attempts, Number(attemptId.slice(1)));
}

export function isOpen(send: Send): boolean {
  return send.state === 'queued' || send.state === 'leased' || send.state === 'sending';
}

/** When a message was written: its source time, never later than its arrival. */
export function writtenAtMs(message: Message): number {
  return Math.min(message.sourceAtMs ?? message.receivedAtMs, message.receivedAtMs);
}

export function unsettled(conversation: Conversation): Message[] {
  return conversation.messages.filter((message) => message.owes && message.settlement === null);
}

export function wasNotAccepted(attempt: Attempt): boolean {
  return attempt.outcomes.some(({ outcome }) => outcome === 'not-accepted');
}
