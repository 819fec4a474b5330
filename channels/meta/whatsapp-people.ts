import { z } from 'zod';
import type { LeadAddress } from '../../domain/inbound';
import { wireId } from './reading';

/** A WhatsApp number is an E.164 number without the plus sign. */
const PHONE_DIGITS = /^[1-9]\d{4,19}$/;

const contactSchema = z.object({
  wa_id: wireId.nullish(),
  user_id: wireId.nullish(),
  profile: z.object({ name: z.string().nullish() }).nullish().catch(null),
});

/** One person that a value speaks of. */
export type Contact = z.infer<typeof contactSchema>;

/** The ids that an element itself carries for its person. */
export interface PersonIds {
  /** Business-scoped user id, verbatim. */
  readonly userId: string | null | undefined;
  /** Phone digits; for people known by username only, Meta leaves it out. */
  readonly phone: string | null | undefined;
}

/** Contacts decorate messages: one that cannot be read is left out, the message stays. */
export function readContacts(value: unknown): readonly Contact[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item) => {
    const contact = contactSchema.safeParse(item);
    return contact.success ? [contact.data] : [];
  });
}

/**
 * The contact that belongs to the sender of a message, or null. Where the message itself names
 * nobody, the only contact of the value is meant (providers.md 3.3.3, usernames).
 */
export function contactOf(ids: PersonIds, contacts: readonly Contact[]): Contact | null {
  const { userId, phone } = ids;
  const match = contacts.find(
    (contact) =>
      (isThere(userId) && contact.user_id === userId) ||
      (isThere(phone) && (contact.wa_id === phone || contact.user_id === phone)),
  );
  if (match !== undefined) return match;
  const [only] = contacts;
  const namesNobody = !isThere(userId) && !isThere(phone);
  return namesNobody && contacts.length === 1 && only !== undefined ? only : null;
}

/**
 * The addresses of one person: the business-scoped user id first, because a phone may be missing
 * or change; then the phone, shared with SMS. Empty where neither is known.
 */
export function addressesOf(ids: PersonIds, contact: Contact | null): LeadAddress[] {
  const candidates = [ids.userId, contact?.user_id, ids.phone, contact?.wa_id].filter(isThere);
  const userId = candidates.find((candidate) => !PHONE_DIGITS.test(candidate));
  const phone = candidates.find((candidate) => PHONE_DIGITS.test(candidate));
  return [
    ...(userId === undefined ? [] : [{ kind: 'whatsapp-user', value: userId } as const]),
    ...(phone === undefined ? [] : [{ kind: 'phone', value: `+${phone}` } as const]),
  ];
}

function isThere(value: string | null | undefined): value is string {
  return value !== undefined && value !== null && value !== '';
}
