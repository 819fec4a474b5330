import type { Channel, InboundElement, LeadAddress, Provider } from '../domain/inbound';
import type { ReadBack, SendOutcome, SendRequest } from '../domain/sending';

/** A webhook request as it came over the wire, before any parser touched it. */
export interface RawRequest {
  readonly method: string;
  /** The request target exactly as received: path and query, not decoded, not sorted. */
  readonly target: string;
  /** Lower-case names; a header sent twice stays a list. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** From configuration, never from a request header. */
  readonly publicOrigin: string;
}

/** Answers to a provider's subscription handshake. */
export type Handshake =
  { readonly kind: 'accepted'; readonly body: string } | { readonly kind: 'refused' };

/** One webhook address: it proves authenticity over the raw bytes, then reads the elements. */
export interface WebhookEndpoint {
  readonly provider: Provider;
  /** True only for an authentic request (spec IN1). Constant time; never throws. */
  verify(request: RawRequest): boolean;
  /** GET handshake, where the provider has one. */
  handshake?(query: URLSearchParams): Handshake;
  /**
   * Reads every element of an authentic request. Never throws: what cannot be read comes back as
   * a quarantined element, so that one broken element cannot take the others with it.
   */
  parse(request: RawRequest): readonly InboundElement[];
  /** The body and content type of the success answer (Twilio wants empty TwiML). */
  readonly success: { readonly contentType: string; readonly body: string };
}

/** Sending on one channel. One provider call per `send`, no retries inside. */
export interface ChannelSender {
  readonly channel: Channel;
  /** How long after the lead's last message free text may leave; null where there is no window. */
  readonly replyWindowMs: number | null;
  /** True where `readBack` can prove or disprove an attempt. */
  readonly canReadBack: boolean;
  /** Says whether `text` fits one message of the channel. */
  fits(text: string): boolean;
  /** Sends once. Never throws: every ending is an outcome. `timeoutMs` covers the whole call. */
  send(request: SendRequest, options: { readonly timeoutMs: number }): Promise<SendOutcome>;
  /** Looks for an attempt in the provider's own records (spec C6). */
  readBack(request: ReadBackRequest): Promise<ReadBack>;
}

export interface ReadBackRequest {
  readonly accountExternalId: string;
  readonly credentials: Readonly<Record<string, string>>;
  readonly attemptId: string;
  readonly to: readonly LeadAddress[];
  readonly text: string;
  /** ISO 8601; the gate's commit. Look from a little before it: providers round down to seconds. */
  readonly attemptedAt: string;
  readonly timeoutMs: number;
}

/** One message to an endpoint that the business runs itself: its CRM, its audit log, its notices. */
export interface SignedPost {
  readonly url: string;
  /** The signing secret of the endpoint, base64 with or without the prefix `whsec_`. */
  readonly secret: string;
  /**
   * The same for every try of one message. The receiver drops an id that it has seen, so a message
   * whose outcome is unknown may be posted again (Standard Webhooks, "Idempotency").
   */
  readonly id: string;
  /** Written as JSON. */
  readonly body: unknown;
  readonly timeoutMs: number;
}

/** What is known after one post; the words are those of a send's outcome (providers.md 0.2). */
export type PostOutcome =
  | { readonly kind: 'accepted' }
  | {
      readonly kind: 'not-accepted';
      readonly code: string;
      readonly retry: 'back-off' | 'never';
      readonly retryAfterMs: number | null;
      /** The endpoint refuses the signature or the caller: pause this integration alone (IN4). */
      readonly pausesAccount: boolean;
    }
  | { readonly kind: 'unknown'; readonly code: string };

/** Posts once and never throws: every ending is an outcome. */
export type PostSigned = (post: SignedPost) => Promise<PostOutcome>;
