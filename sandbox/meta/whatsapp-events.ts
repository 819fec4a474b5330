import type { SandboxAccount } from '../accounts';
import type { Person } from '../people';

/** How a WhatsApp user appears in webhooks: username users may show no phone (providers 3.3.3). */
export type Addressing = 'phone' | 'bsuid-only';

/** Digits without the plus, as WhatsApp writes numbers. */
export function waId(person: Person): string {
  return person.phone.slice(1);
}

/** Epoch seconds as a text, the only time that WhatsApp gives. */
export function waTimestamp(ms: number): string {
  return String(Math.floor(ms / 1000));
}

/** The body of one webhook with one change (providers 3.3.3). */
export function whatsAppPayload(
  account: SandboxAccount,
  field: string,
  value: Readonly<Record<string, unknown>>,
): unknown {
  const metadata = {
    display_phone_number: account.displayPhoneNumber ?? '',
    phone_number_id: account.externalId,
  };
  const change = { field, value: { messaging_product: 'whatsapp', metadata, ...value } };
  return {
    object: 'whatsapp_business_account',
    entry: [{ id: account.accountId, changes: [change] }],
  };
}

/** The `contacts` element of an inbound message. */
export function contactOf(person: Person, addressing: Addressing) {
  const { name, whatsappUserId: userId, whatsappUsername: username } = person;
  return addressing === 'bsuid-only'
    ? { profile: { name, username }, user_id: userId }
    : { profile: { name }, wa_id: waId(person), user_id: userId };
}

/** The sender fields of an inbound message. */
export function senderOf(person: Person, addressing: Addressing) {
  const { whatsappUserId: userId } = person;
  return addressing === 'bsuid-only'
    ? { from_user_id: userId }
    : { from: waId(person), from_user_id: userId };
}

export interface StatusFacts {
  readonly id: string;
  readonly status: 'sent' | 'delivered' | 'read' | 'failed';
  readonly atMs: number;
  readonly addressing: Addressing;
  /** `biz_opaque_callback_data` of the send. */
  readonly callbackData: string | null;
  readonly errorCode: number | null;
}

const ERROR_TITLES: Readonly<Record<number, string>> = {
  131026: 'Message undeliverable',
  131047: 'Re-engagement message',
  131049: 'This message was not delivered to maintain healthy ecosystem engagement.',
};

function errorsOf(code: number) {
  const title = ERROR_TITLES[code] ?? 'Something went wrong';
  return [{ code, title, message: title, error_data: { details: title } }];
}

/** One element of `statuses` (providers 3.3.3, 3.3.5). */
export function statusOf(person: Person, facts: StatusFacts) {
  const { id, status, atMs, addressing, callbackData, errorCode } = facts;
  const pricing = { billable: false, pricing_model: 'PMP', category: 'service' };
  return {
    id,
    status,
    timestamp: waTimestamp(atMs),
    ...(addressing === 'bsuid-only' ? {} : { recipient_id: waId(person) }),
    recipient_user_id: person.whatsappUserId,
    ...(callbackData === null ? {} : { biz_opaque_callback_data: callbackData }),
    ...(errorCode === null ? { pricing } : { errors: errorsOf(errorCode) }),
  };
}
