import type { Channel, LeadAddress } from './inbound';

/** Why a message leaves. It decides in which conversation states it may (spec S1). */
export const PURPOSES = [
  'answer',
  'follow-up',
  'opt-out-confirmation',
  'booking-confirmation',
  'staff',
] as const;
export type Purpose = (typeof PURPOSES)[number];

/** States of an outbox row (spec C3, S3). */
export const SEND_STATES = [
  'queued',
  'leased',
  'sending',
  'accepted',
  'delivered',
  'cancelled',
  'failed',
  'delivery_unknown',
] as const;
export type SendState = (typeof SEND_STATES)[number];

/** One call to a provider, after the gate has committed the intent. */
export interface SendRequest {
  readonly channel: Channel;
  readonly accountExternalId: string;
  /** The account's secrets at the provider; never logged. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Goes out as the provider's correlation token (metadata, callback data, status callback). */
  readonly attemptId: string;
  /** The lead's addresses on this channel, the preferred first. */
  readonly to: readonly LeadAddress[];
  readonly text: string;
  /** Set where it leaves as a text that the provider approved beforehand; `text` is what it says. */
  readonly template?: { readonly name: string; readonly language: string } | null;
}

/**
 * What is known after one call (providers.md 0.2). `unknown` is every answer that proves neither
 * side: read time-outs, resets after the write, 5xx without a guarantee, unreadable 2xx.
 */
export type SendOutcome =
  | { readonly kind: 'accepted'; readonly providerMessageId: string | null }
  | {
      readonly kind: 'not-accepted';
      readonly code: string;
      /** `back-off` is tried again by a superseding decision, `never` fails the send. */
      readonly retry: 'back-off' | 'never';
      readonly retryAfterMs: number | null;
      /** The account's credentials are refused: pause this account alone (spec IN4). */
      readonly pausesAccount: boolean;
      /** The provider says that this recipient opted out. */
      readonly optedOut: boolean;
    }
  | { readonly kind: 'unknown'; readonly code: string };

/** What the channel shows about an attempt whose outcome is unknown (spec C6). */
export type ReadBack =
  | { readonly kind: 'found'; readonly providerMessageId: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unavailable'; readonly code: string };
