/**
 * What a provider's webhook means, in the words of the product. Channels translate their wire
 * format into these elements; nothing behind `channels/` knows a provider's field names.
 */

/** The channels of this version. `contract.md` lists those that later versions add. */
export const CHANNELS = ['messenger', 'instagram', 'whatsapp', 'sms'] as const;
export type Channel = (typeof CHANNELS)[number];

/** The provider behind a channel: the scope of event ids and of webhook signatures. */
export type Provider = 'meta' | 'twilio';

/**
 * One way to reach a lead. `value` is unique within a business and a kind:
 * `messenger` and `instagram` values are `<page or account id>/<scoped user id>`, `whatsapp-user`
 * is the business-scoped user id verbatim, `phone` is E.164 and shared by SMS and WhatsApp.
 */
export interface LeadAddress {
  readonly kind: 'messenger' | 'instagram' | 'whatsapp-user' | 'phone';
  readonly value: string;
}

export interface Media {
  readonly kind: 'image' | 'audio' | 'video' | 'file' | 'sticker' | 'location' | 'other';
  /** The provider's media id or short-lived address; content, so never logged. */
  readonly reference: string;
}

/** The provider's own event time, with the precision it really has (spec L2). */
export interface SourceTime {
  /** ISO 8601 in UTC, or null where the provider sends none (Twilio). */
  readonly at: string | null;
  readonly precision: 'milliseconds' | 'seconds' | 'none';
}

interface ElementBase {
  /** Where the element stood in the request, such as `entry[0].messaging[1]`. Unique per request. */
  readonly path: string;
  readonly channel: Channel;
  /** The business's account at the provider: page id, Instagram id, phone_number_id, our number. */
  readonly accountExternalId: string;
  /**
   * The element's identity within provider and account (spec IN1): the provider's event id or the
   * documented fallback, prefixed by the kind. Never delivery time, request id or retry counter.
   */
  readonly eventKey: string;
  /** Canonical text of the element's stable fields; its digest tells one content from another (IN3). */
  readonly stableContent: string;
  readonly source: SourceTime;
}

/** A lead wrote, or sent something: it owes an answer. */
export interface MessageElement extends ElementBase {
  readonly type: 'message';
  readonly providerMessageId: string;
  /** The primary address first (WhatsApp: the business-scoped id before the phone). Never empty. */
  readonly from: readonly LeadAddress[];
  readonly profileName: string | null;
  /** Null where there is only media, or content that the provider cannot show. */
  readonly text: string | null;
  readonly media: readonly Media[];
  /** True where the provider says "unsupported": a lead waits, the answer asks for text. */
  readonly unsupported: boolean;
  /** Twilio's Advanced Opt-Out flag or WhatsApp's preference, evaluated before our own words (S2). */
  readonly providerOptOut: 'stop' | 'start' | 'help' | null;
  /**
   * True where the provider itself already answers this keyword and blocks further sends
   * (Twilio's default STOP words): then no confirmation of ours may leave.
   */
  readonly providerConfirmsOptOut: boolean;
}

/** A message of the business seen in the thread: our own send, or a person in the provider's app. */
export interface EchoElement extends ElementBase {
  readonly type: 'echo';
  readonly providerMessageId: string;
  readonly to: readonly LeadAddress[];
  /** `ours` by app id; `other` by another or missing app id; `unknown` where the provider never says. */
  readonly author: 'ours' | 'other' | 'unknown';
  /** Our attempt id, where the provider gives our metadata back. */
  readonly attemptRef: string | null;
  readonly text: string | null;
}

/** A delivery status of one of our messages. */
export interface StatusElement extends ElementBase {
  readonly type: 'status';
  /** Null for Messenger's watermark receipts without message ids. */
  readonly providerMessageId: string | null;
  readonly status: 'queued' | 'sent' | 'delivered' | 'read' | 'failed';
  readonly attemptRef: string | null;
  readonly errorCode: string | null;
  /** For watermark receipts: everything sent to this lead up to that instant (ISO 8601). */
  readonly watermark: { readonly to: readonly LeadAddress[]; readonly upTo: string } | null;
}

/** The lead changed or withdrew an earlier message. It is never an extra turn. */
export interface RevisionElement extends ElementBase {
  readonly type: 'edit' | 'delete';
  readonly providerMessageId: string;
  readonly from: readonly LeadAddress[];
  readonly text: string | null;
}

/** Known, authentic and of no consequence: reactions, typing, referrals, standby, history. */
export interface NoteElement extends ElementBase {
  readonly type: 'note';
  readonly kind: string;
  /**
   * Set for messages of a history import: they are stored with their original times, owe nothing,
   * open no window and give no latency sample.
   */
  readonly history: {
    readonly providerMessageId: string;
    readonly direction: 'in' | 'out';
    readonly lead: readonly LeadAddress[];
    readonly text: string | null;
  } | null;
}

/** Authentic but broken or unknown: kept raw, counted, and shown to a person where a lead may wait. */
export interface QuarantinedElement extends ElementBase {
  readonly type: 'quarantined';
  readonly reason: string;
  readonly mayBeLeadMessage: boolean;
}

export type InboundElement =
  MessageElement | EchoElement | StatusElement | RevisionElement | NoteElement | QuarantinedElement;
