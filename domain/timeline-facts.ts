import type { Channel } from './inbound';

/**
 * The committed facts of one conversation that its timeline is told from. Instants are ISO 8601 in
 * UTC with six decimals, so that comparing the texts compares the instants.
 */
export interface TimelineFacts {
  readonly channel: Channel;
  /** The business's zone, for times of day in the text. */
  readonly timeZone: string;
  readonly messages: readonly MessageFact[];
  readonly transitions: readonly TransitionFact[];
  readonly sends: readonly SendFact[];
  readonly decisions: readonly DecisionFact[];
  readonly attempts: readonly AttemptFact[];
  readonly outcomes: readonly OutcomeFact[];
  readonly workItems: readonly WorkItemFact[];
  readonly takeovers: readonly TakeoverFact[];
  readonly plans: readonly PlanFact[];
  readonly notes: readonly NoteFact[];
  readonly traces: readonly TraceFact[];
}

export interface MessageFact {
  readonly id: string;
  readonly seq: number;
  readonly direction: 'in' | 'out';
  readonly author: 'lead' | 'automation' | 'staff' | 'native' | 'import';
  readonly text: string | null;
  /** The kinds of what came with it: image, audio … */
  readonly media: readonly string[];
  readonly unsupported: boolean;
  readonly optOut: string | null;
  readonly sendId: string | null;
  readonly sourceAt: string | null;
  readonly receivedAt: string;
  readonly owes: boolean;
  readonly settlement: 'reply' | 'person' | 'no-answer' | 'work-item' | null;
  readonly settlementRef: string | null;
  readonly settlementReason: string | null;
  readonly settledAt: string | null;
  readonly editedAt: string | null;
  readonly deletedAt: string | null;
}

export interface TransitionFact {
  readonly ordinal: number;
  readonly fromState: string;
  readonly toState: string;
  readonly cause: string;
  readonly changed: boolean;
  readonly at: string;
}

export interface SendFact {
  readonly id: string;
  readonly purpose: string;
  readonly state: string;
  readonly body: string;
  readonly endReason: string | null;
  readonly endedAt: string | null;
  readonly stopRequestedAt: string | null;
  readonly stopCause: string | null;
  readonly stopVerdict: string | null;
}

export interface DecisionFact {
  readonly id: string;
  readonly sendId: string;
  readonly supersedesId: string | null;
  readonly reason: string;
  readonly rule: string | null;
  readonly notBefore: string;
  readonly expiresAt: string | null;
  readonly evaluatedAt: string;
  readonly policyVersion: string;
  readonly inputs: Readonly<Record<string, string | number | boolean | null>>;
}

export interface AttemptFact {
  readonly id: string;
  readonly sendId: string;
  readonly number: number;
  readonly startedAt: string;
}

export interface OutcomeFact {
  readonly attemptId: string;
  readonly ordinal: number;
  readonly sendId: string;
  readonly outcome: string;
  readonly code: string | null;
  readonly evidence: string;
  readonly recordedAt: string;
}

export interface WorkItemFact {
  readonly id: string;
  readonly kind: string;
  readonly explanation: string;
  readonly openedAt: string;
  readonly resolvedAt: string | null;
  readonly resolvedBy: string | null;
  readonly resolution: string | null;
}

export interface TakeoverFact {
  readonly eventId: string;
  readonly type: string;
  readonly actorRef: string;
  readonly reason: string;
  readonly occurredAt: string;
}

export interface PlanFact {
  readonly id: string;
  readonly anchorAt: string;
  readonly stoppedAt: string | null;
  readonly stopReason: string | null;
  readonly steps: readonly {
    readonly step: number;
    readonly day: number;
    readonly dueAt: string;
    readonly writtenAt: string | null;
  }[];
}

/** What a person wrote for colleagues; the lead never sees it. */
export interface NoteFact {
  readonly id: string;
  readonly role: string;
  readonly text: string;
  readonly at: string;
}

/** The transport stamps of one answered message (L1). */
export interface TraceFact {
  readonly sendId: string;
  readonly ingressAcceptedAt: string;
  readonly providerAcknowledgedAt: string | null;
  readonly visibleAt: string | null;
  readonly decisionMs: number | null;
  readonly sendMs: number | null;
}

export const TIMELINE_KINDS = [
  'message',
  'received',
  'state',
  'decision',
  'attempt',
  'outcome',
  'not-sent',
  'settled',
  'work-item',
  'takeover',
  'note',
  'follow-up',
  'latency',
] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];

/** How an entry should be shown; `quiet` is a step that only whoever looks closely wants to see. */
export const TIMELINE_TONES = ['quiet', 'info', 'good', 'warning', 'bad'] as const;
type TimelineTone = (typeof TIMELINE_TONES)[number];

/** What a message looks like in the thread; the entry's `text` is what it says. */
export interface TimelineMessage {
  readonly direction: 'in' | 'out';
  readonly author: MessageFact['author'];
  readonly seq: number;
  readonly media: readonly string[];
  /** What is known of our own message: null for the lead's, and for what we did not send. */
  readonly delivery: 'sent' | 'delivered' | 'failed' | 'unknown' | null;
  readonly edited: boolean;
  readonly deleted: boolean;
}

/** One line of a conversation's story. */
export interface TimelineEntry {
  /** Stable: the same fact has the same id in every reading. */
  readonly id: string;
  readonly kind: TimelineKind;
  readonly at: string;
  readonly text: string;
  readonly tone: TimelineTone;
  readonly message: TimelineMessage | null;
  /** The wording of a message that did not leave, or may not have arrived. */
  readonly quote: string | null;
  /** True for what is planned and has not happened. */
  readonly upcoming: boolean;
}

/** An entry that is neither a message nor planned. */
export function entry(
  fields: Pick<TimelineEntry, 'id' | 'kind' | 'at' | 'text' | 'tone'> &
    Partial<Pick<TimelineEntry, 'quote' | 'upcoming'>>,
): TimelineEntry {
  return { message: null, quote: null, upcoming: false, ...fields };
}
