import { z } from 'zod';
import type { InboundElement, LeadAddress } from '../../domain/inbound';
import type { WireRecord } from '../wire-json';
import { frame, quarantine, sourceTime, wireId, wireRecord } from './reading';
import type { ElementFrame, Place } from './reading';
import { contentOf } from './whatsapp-content';
import type { WhatsAppContent } from './whatsapp-content';
import { addressesOf, contactOf } from './whatsapp-people';
import type { Contact } from './whatsapp-people';

const headSchema = z.object({
  id: wireId,
  type: z.string(),
  from: wireId.nullish(),
  from_user_id: wireId.nullish(),
  to: wireId.nullish(),
  to_user_id: wireId.nullish(),
  recipient_user_id: wireId.nullish(),
  timestamp: z.unknown().optional(),
});

const originalIn = z.object({ original_message_id: wireId, message: wireRecord.nullish() });
const editSchema = z.object({ edit: originalIn });
const revokeSchema = z.object({ revoke: originalIn });

/** Types in which nobody says anything: a reaction, or a number or id that changed. */
const NOTES: ReadonlySet<string> = new Set(['reaction', 'system']);

type Head = z.infer<typeof headSchema>;

/**
 * Reads one item of `messages[]`: the lead wrote, changed, withdrew, or only reacted
 * (providers.md 3.3.3, 3.3.5). Throws on a broken item; call it through `readAlone`.
 */
export function readWhatsAppMessage(
  raw: unknown,
  place: Place,
  contacts: readonly Contact[],
): readonly InboundElement[] {
  const message = wireRecord.parse(raw);
  const head = headSchema.parse(message);
  if (NOTES.has(head.type)) return [plainNote(head, place, head.type)];
  const ids = { userId: head.from_user_id, phone: head.from };
  const contact = contactOf(ids, contacts);
  const from = addressesOf(ids, contact);
  if (from.length === 0) return [quarantine(place, message, 'no sender', true)];
  if (head.type === 'edit') return [editOf(message, head, place, from)];
  if (head.type === 'revoke') return [deletionOf(message, head, place, from)];
  const content = contentOf(message);
  if (content === null) return [quarantine(place, message, 'unknown message type', true)];
  const profileName = contact?.profile?.name ?? null;
  return [leadMessage(head, place, content, { from, profileName })];
}

/**
 * Reads one item of `message_echoes[]`: the owner wrote in the phone app, which is a person's act
 * (providers.md 0.3). Reactions, edits and withdrawals of the owner are notes. Throws likewise.
 */
export function readOwnerEcho(
  raw: unknown,
  place: Place,
  contacts: readonly Contact[],
): readonly InboundElement[] {
  const message = wireRecord.parse(raw);
  const head = headSchema.parse(message);
  if (NOTES.has(head.type) || head.type === 'edit' || head.type === 'revoke') {
    return [plainNote(head, place, `echo-${head.type}`)];
  }
  const ids = { userId: head.to_user_id ?? head.recipient_user_id, phone: head.to };
  const to = addressesOf(ids, contactOf(ids, contacts));
  if (to.length === 0) return [quarantine(place, message, 'no recipient', false)];
  const text = contentOf(message)?.text ?? null;
  return [
    {
      ...frame(place, `echo:${head.id}`, ['echo', to, text], sourceTime(head.timestamp)),
      type: 'echo',
      providerMessageId: head.id,
      to,
      author: 'other',
      attemptRef: null,
      text,
    },
  ];
}

function leadMessage(
  head: Head,
  place: Place,
  content: WhatsAppContent,
  person: { readonly from: readonly LeadAddress[]; readonly profileName: string | null },
): InboundElement {
  const { text, media, unsupported } = content;
  const stable = ['message', person.from, text, media, unsupported];
  return {
    ...frame(place, `message:${head.id}`, stable, sourceTime(head.timestamp)),
    type: 'message',
    providerMessageId: head.id,
    ...person,
    text,
    media,
    unsupported,
    providerOptOut: null,
    providerConfirmsOptOut: false,
  };
}

function editOf(
  message: WireRecord,
  head: Head,
  place: Place,
  from: readonly LeadAddress[],
): InboundElement {
  const { original_message_id: original, message: changed } = editSchema.parse(message).edit;
  const text = changed ? (contentOf(changed)?.text ?? null) : null;
  const common: ElementFrame = frame(
    place,
    `edit:${head.id}`,
    ['edit', from, original, text],
    sourceTime(head.timestamp),
  );
  return { ...common, type: 'edit', providerMessageId: original, from, text };
}

function deletionOf(
  message: WireRecord,
  head: Head,
  place: Place,
  from: readonly LeadAddress[],
): InboundElement {
  const original = revokeSchema.parse(message).revoke.original_message_id;
  const stable = ['delete', from, original];
  return {
    ...frame(place, `delete:${head.id}`, stable, sourceTime(head.timestamp)),
    type: 'delete',
    providerMessageId: original,
    from,
    text: null,
  };
}

function plainNote(head: Head, place: Place, kind: string): InboundElement {
  const key = `${kind}:${head.id}`;
  return {
    ...frame(place, key, [key], sourceTime(head.timestamp)),
    type: 'note',
    kind,
    history: null,
  };
}
