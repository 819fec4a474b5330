/**
 * What the lead wants, read from the text of a conversation. The deterministic engine fills it in
 * this version; a model may fill the same shape later, and the rules that use it stay the same.
 */
export interface Understanding {
  /** The business's service id, or null while unknown. */
  readonly serviceId: string | null;
  /** What the lead called the job, in a word or two of the catalogue ("water heater"). */
  readonly jobLabel: string | null;
  /** ZIP code or place as the lead wrote it. */
  readonly location: string | null;
  readonly urgency: 'emergency' | 'soon' | 'flexible' | null;
  readonly wantsPerson: boolean;
  readonly complains: boolean;
  readonly wantsPrice: boolean;
  readonly wantsBooking: boolean;
  /** True where the text is only an opener ("Hi", "hello?"): spec P4b case 2. */
  readonly bareOpener: boolean;
  readonly language: 'en' | 'es';
}

export interface Service {
  readonly id: string;
  /** How the business calls it, in lower case: "water heater repair". */
  readonly label: string;
  /** Words and phrases that leads use for it. */
  readonly words: readonly string[];
}

/** The part of a business's settings that understanding and drafting read. */
export interface BusinessProfile {
  readonly name: string;
  /** IANA zone. */
  readonly timeZone: string;
  readonly services: readonly Service[];
}

/** One message of the thread, as the engine sees it. */
export interface ThreadMessage {
  readonly seq: number;
  readonly from: 'lead' | 'business';
  readonly text: string | null;
  readonly hasMedia: boolean;
  readonly unsupported: boolean;
}

/** What the engine proposes for a turn. The gate and the policies still decide whether it leaves. */
export type Draft =
  | { readonly kind: 'reply'; readonly text: string; readonly verdict: FirstResponseVerdict }
  | { readonly kind: 'handoff'; readonly reason: HandoffReason }
  | { readonly kind: 'no-answer'; readonly reason: NoAnswerReason };

/** Spec L5: only a meaningful reply counts as a first response. */
export type FirstResponseVerdict = 'meaningful' | 'acknowledgement';

export type HandoffReason = 'lead_requested_human' | 'complaint' | 'quote_requires_human';

export type NoAnswerReason = 'covered' | 'thanks' | 'robot';
