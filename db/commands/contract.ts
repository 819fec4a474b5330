import type { Channel } from '../../domain/inbound';
import type { StaffRole } from '../../domain/staff-decisions';
import type { WakeTarget } from '../due';

/** Commands on a conversation that say nothing but themselves. */
export const PLAIN_COMMANDS = ['claim', 'release', 'book', 'opt-out', 'pause', 'resume'] as const;
export type PlainCommand = (typeof PLAIN_COMMANDS)[number];

/** Every staff command on a conversation (contract.md, "Staff API"). */
export const STAFF_COMMANDS = [
  ...PLAIN_COMMANDS,
  'reply',
  'note',
  'approve',
  'reject',
  'send-now',
  'postpone',
  'opt-in',
  'assign',
  'close',
] as const;
export type StaffCommand = (typeof STAFF_COMMANDS)[number];

/** What a person asks for, with what they say to it. Texts are content: they go to notes only. */
export type ConversationCommand =
  | { readonly command: PlainCommand | 'close' }
  | { readonly command: 'reply'; readonly text: string }
  | { readonly command: 'note'; readonly text: string }
  /** Null keeps the draft's own wording. */
  | { readonly command: 'approve'; readonly text: string | null }
  | { readonly command: 'reject'; readonly reason: string }
  /** Without an id, the only send that waits. */
  | {
      readonly command: 'send-now';
      readonly sendId: string | null;
      readonly reason: string | null;
    }
  | {
      readonly command: 'postpone';
      readonly sendId: string | null;
      readonly reason: string | null;
      /** ISO 8601 with a zone. */
      readonly until: string;
    }
  /** The lead's own consent: where, when and in which words (S1). */
  | {
      readonly command: 'opt-in';
      readonly source: string;
      readonly at: string;
      readonly words: string;
    }
  | { readonly command: 'assign'; readonly queue: string };

export type WorkItemCommand =
  | { readonly command: 'claim-item' }
  /** How it ended, in the person's words; null where they said nothing. */
  | { readonly command: 'resolve-item'; readonly resolution: string | null };

interface Envelope {
  readonly businessId: string;
  /** A company role, never a person (H1). */
  readonly role: StaffRole;
  /** The client's key: the same key gets the same answer and acts once. */
  readonly idempotencyKey: string;
  /** The newest message that the person saw; what hands back or ends requires it (T6). */
  readonly seenSeq: number | null;
}

export type ConversationRequest = Envelope & {
  readonly conversationId: string;
} & ConversationCommand;
export type WorkItemRequest = Envelope & { readonly workItemId: string } & WorkItemCommand;
export type SettleRequest = Envelope & {
  readonly command: 'settle';
  readonly sendId: string;
  /** Whether the lead has the message; a person looked. */
  readonly arrived: boolean;
};

/** One write of staff. */
export type StaffCommandRequest = ConversationRequest | WorkItemRequest | SettleRequest;

export interface ConversationResponse {
  readonly conversationId: string;
  readonly state: string;
  readonly owner: string;
  readonly version: number;
}

export interface WorkItemResponse {
  readonly workItemId: string;
  readonly conversationId: string | null;
  readonly queue: string;
  readonly claimedAt: string | null;
  readonly claimedBy: string | null;
  readonly resolvedAt: string | null;
  readonly resolution: string | null;
}

export type RefusalCode =
  | 'not_found'
  /** A newer message came than the person saw; look at it first. */
  | 'newer_message'
  | 'seen_seq_required'
  /** The command does not apply in the present state. */
  | 'not_applicable'
  /** Nothing is sent to somebody who opted out, by nobody (INV-13). */
  | 'opted_out'
  /** The channel takes no free text any more. */
  | 'window_closed'
  /** The text is empty or longer than one message of the channel. */
  | 'text_does_not_fit'
  /** Several sends wait, or none: say which. */
  | 'send_not_named'
  /** An answer would leave after its end. */
  | 'beyond_expiry'
  /** The instant lies on the wrong side of now. */
  | 'wrong_time'
  /** The key was used for another command. */
  | 'key_reused';

export interface Refusal {
  readonly kind: 'refused';
  readonly code: RefusalCode;
  /** What the person can do about it; no personal data. */
  readonly detail: string;
  readonly newestSeq?: number;
}

export type StaffCommandResult =
  | {
      readonly kind: 'done';
      readonly response: ConversationResponse | WorkItemResponse;
      /** Null where the key was seen before, or where no conversation is concerned. */
      readonly wake: WakeTarget | null;
    }
  | Refusal;

/** What the channels allow; the api passes it in, because the database does not know channels. */
export interface ChannelRules {
  /** Says whether `text` fits one message. */
  fits(channel: Channel, text: string): boolean;
  /** How long after the lead's last message free text may leave; null where there is no window. */
  replyWindowMs(channel: Channel): number | null;
}
