import { z } from 'zod';
import type { InboundElement, StatusElement } from '../../domain/inbound';
import { isId } from '../../domain/ids';
import type { WireRecord } from '../wire-json';
import { mayHoldMessage } from './changes';
import { below, frame, noteOf, quarantine, readEach, sourceTime, wireId } from './reading';
import { wireRecord } from './reading';
import type { Place } from './reading';
import { readHistory } from './whatsapp-history';
import { readOwnerEcho, readWhatsAppMessage } from './whatsapp-messages';
import { addressesOf, contactOf, readContacts } from './whatsapp-people';

const changeSchema = z.object({ field: z.string(), value: wireRecord });

const metadataSchema = z.object({
  phone_number_id: wireId,
  display_phone_number: z.string().nullish(),
});

const statusSchema = z.object({
  id: wireId,
  status: z.string(),
  timestamp: z.unknown().optional(),
  biz_opaque_callback_data: z.unknown().optional(),
  errors: z.array(z.object({ code: z.string() })).nullish(),
});

const preferenceSchema = z.object({
  wa_id: wireId.nullish(),
  user_id: wireId.nullish(),
  category: z.string().nullish(),
  value: z.enum(['stop', 'resume']),
  timestamp: z.unknown().optional(),
});

/** What WhatsApp reports of our messages (providers.md 3.3.5); `played` is a voice note heard. */
const STATUSES: Readonly<Record<string, StatusElement['status']>> = {
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  played: 'read',
  failed: 'failed',
};

interface WhatsAppValue {
  readonly value: WireRecord;
  readonly place: Place;
  readonly ownNumber: string;
}

/** Fields whose values belong to one phone number; each says how it is read. */
const FIELDS: Readonly<Record<string, (change: WhatsAppValue) => readonly InboundElement[]>> = {
  messages: readMessages,
  smb_message_echoes: readEchoes,
  history: ({ value, place, ownNumber }) => readHistory(value, place, ownNumber),
  user_preferences: readPreferences,
};

/** Known fields of no consequence here; `calls` and `groups` belong to later versions. */
const NOTES: ReadonlySet<string> = new Set([
  ...['account_alerts', 'account_review_update', 'account_settings_update', 'account_update'],
  ...['business_capability_update', 'business_status_update', 'business_username_updates'],
  ...['calls', 'flows', 'group_lifecycle_update', 'group_participants_update', 'security'],
  ...['group_settings_update', 'group_status_update', 'message_template_components_update'],
  ...['message_template_quality_update', 'message_template_status_update', 'user_id_update'],
  ...['messaging_handovers', 'partner_solutions', 'payment_configuration_update'],
  ...['phone_number_name_update', 'phone_number_quality_update', 'smb_app_state_sync'],
  ...['template_category_update', 'template_correct_category_detection', 'tracking_events'],
]);

/**
 * Reads one change of a WhatsApp business account (providers.md 3.3.3, 3.3.5). The account is the
 * phone number of the value. Throws on a broken change; call it through `readAlone`.
 */
export function readWhatsAppChange(raw: unknown, place: Place): readonly InboundElement[] {
  const { field, value } = changeSchema.parse(raw);
  const read = Object.hasOwn(FIELDS, field) ? FIELDS[field] : undefined;
  if (read === undefined) {
    return NOTES.has(field)
      ? [noteOf(place, `whatsapp:${field}`, value)]
      : [quarantine(place, raw, 'unknown field', mayHoldMessage(value))];
  }
  const metadata = metadataSchema.parse(value.metadata);
  return read({
    value,
    place: { ...place, account: metadata.phone_number_id },
    ownNumber: (metadata.display_phone_number ?? '').replace(/\D/g, ''),
  });
}

/** A value has messages or statuses in practice; both are read, each element on its own. */
function readMessages({ value, place }: WhatsAppValue): readonly InboundElement[] {
  const { messages, statuses, errors } = value;
  if (messages === undefined && statuses === undefined && errors === undefined) {
    return [quarantine(place, value, 'value without events', true)];
  }
  const contacts = readContacts(value.contacts);
  return [
    ...readEach(below(place, '.value.messages'), messages, true, (item, itemPlace) =>
      readWhatsAppMessage(item, itemPlace, contacts),
    ),
    ...readEach(below(place, '.value.statuses'), statuses, false, readStatus),
    ...readEach(below(place, '.value.errors'), errors, false, (item, itemPlace) => [
      noteOf(itemPlace, 'whatsapp:error', item),
    ]),
  ];
}

function readEchoes({ value, place }: WhatsAppValue): readonly InboundElement[] {
  const contacts = readContacts(value.contacts);
  const list = value.message_echoes;
  if (list === undefined) return [quarantine(place, value, 'value without events', false)];
  return readEach(below(place, '.value.message_echoes'), list, false, (item, itemPlace) =>
    readOwnerEcho(item, itemPlace, contacts),
  );
}

/**
 * The key holds the error code too: a `failed` that names its reason is news after one that does
 * not, whichever comes first.
 */
function readStatus(raw: unknown, place: Place): readonly InboundElement[] {
  const wire = statusSchema.parse(raw);
  const status = Object.hasOwn(STATUSES, wire.status) ? STATUSES[wire.status] : undefined;
  if (status === undefined) return [quarantine(place, raw, 'unknown status', false)];
  const errorCode = wire.errors?.[0]?.code ?? null;
  const attempt = wire.biz_opaque_callback_data;
  const key = ['status', wire.id, wire.status, ...(errorCode === null ? [] : [errorCode])].join(
    ':',
  );
  return [
    {
      ...frame(place, key, [key], sourceTime(wire.timestamp)),
      type: 'status',
      providerMessageId: wire.id,
      status,
      attemptRef: isId('att', attempt) ? attempt : null,
      errorCode,
      watermark: null,
    },
  ];
}

/**
 * A person who stops or resumes marketing does it in WhatsApp's own menu: it reads as an opt-out
 * or opt-in without words, which WhatsApp has confirmed itself (providers.md 3.3.5).
 */
function readPreferences({ value, place }: WhatsAppValue): readonly InboundElement[] {
  const contacts = readContacts(value.contacts);
  const list = value.user_preferences;
  return readEach(below(place, '.value.user_preferences'), list, true, (item, itemPlace) => {
    const wire = preferenceSchema.parse(item);
    const isMarketing = (wire.category ?? 'marketing_messages') === 'marketing_messages';
    if (!isMarketing) return [noteOf(itemPlace, 'whatsapp:preference', item)];
    const ids = { userId: wire.user_id, phone: wire.wa_id };
    const contact = contactOf(ids, contacts);
    const from = addressesOf(ids, contact);
    const [primary] = from;
    if (primary === undefined) return [quarantine(itemPlace, item, 'no person', true)];
    const source = sourceTime(wire.timestamp);
    const key = `preference:${primary.value}:${wire.value}:${source.at ?? 'no-time'}`;
    return [
      {
        ...frame(itemPlace, key, [key], source),
        type: 'message',
        providerMessageId: key,
        from,
        profileName: contact?.profile?.name ?? null,
        text: null,
        media: [],
        unsupported: false,
        providerOptOut: wire.value === 'stop' ? 'stop' : 'start',
        providerConfirmsOptOut: wire.value === 'stop',
      },
    ];
  });
}
