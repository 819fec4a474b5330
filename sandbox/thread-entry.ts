/** Who on the business's side wrote it. `provider` is Twilio's own opt-out answer. */
type Author = 'app' | 'staff' | 'other-app' | 'provider';

/** One message as the customer sees it on the phone. */
export interface ThreadEntry {
  /** ISO 8601. */
  readonly at: string;
  readonly from: 'lead' | 'business';
  readonly text: string;
  readonly providerMessageId: string;
  /** The business's account (external id) that it went to or came from. */
  readonly account: string;
  readonly author?: Author;
  /** Kinds of the attachments. */
  readonly media?: readonly string[];
  readonly status?: 'sent' | 'delivered' | 'read';
  /** Of the lead's messages: the last answer of the app's webhook, 0 where it was not reached. */
  readonly webhookStatus?: number;
  /** Of the lead's messages: when the app first answered 2xx, ISO 8601. */
  readonly deliveredAt?: string;
  readonly edits?: number;
  readonly deleted?: boolean;
  readonly reaction?: string;
  /** From a history import: it opens no window. */
  readonly imported?: boolean;
}
