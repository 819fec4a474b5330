import { z } from 'zod';
import type { EchoElement, InboundElement, LeadAddress } from '../../domain/inbound';
import { isId } from '../../domain/ids';
import { sha256Hex } from '../canonical';
import type { WireRecord } from '../wire-json';
import { isStoryMention, mediaOf } from './attachments';
import { frame, noteOf, quarantine, readAlone, sourceTime, wireId, wireRecord } from './reading';
import { wireText } from './reading';
import type { Place } from './reading';
import { readDelivery, readRead } from './receipts';

const partiesSchema = z.object({
  sender: z.object({ id: wireId }),
  recipient: z.object({ id: wireId }),
  timestamp: z.unknown().optional(),
});

const messageSchema = z.object({
  mid: wireId,
  text: wireText.nullish(),
  is_echo: z.boolean().nullish(),
  is_deleted: z.boolean().nullish(),
  is_unsupported: z.boolean().nullish(),
  is_self: z.boolean().nullish(),
  app_id: wireId.nullish(),
  metadata: z.string().nullish(),
  attachments: z.array(z.unknown()).nullish(),
});
type WireMessage = z.infer<typeof messageSchema>;

const editSchema = z.object({
  mid: wireId,
  text: wireText.nullish(),
  /** Text on Instagram, a number on Messenger; the parser makes both text. */
  num_edit: z.string().nullish(),
});

const postbackSchema = z.object({ mid: wireId.nullish(), title: wireText.nullish() });

const reactionSchema = z.object({ mid: wireId, action: z.string() });

/** One messaging item with its two sides sorted out. */
interface Exchange {
  readonly place: Place;
  readonly lead: LeadAddress;
  /** The business, or something in its name, wrote it. */
  readonly fromBusiness: boolean;
  /** A test of the account to itself has no lead. */
  readonly toItself: boolean;
  readonly senderId: string;
  readonly timestamp: unknown;
}

interface Kind {
  readonly field: string;
  readonly mayBeLeadMessage: boolean;
  readonly read: (item: WireRecord, place: Place, appId: string) => readonly InboundElement[];
}

const KINDS: readonly Kind[] = [
  { field: 'message', mayBeLeadMessage: true, read: readMessage },
  { field: 'message_edit', mayBeLeadMessage: true, read: readEdit },
  { field: 'postback', mayBeLeadMessage: true, read: readPostback },
  { field: 'reaction', mayBeLeadMessage: false, read: readReaction },
  { field: 'delivery', mayBeLeadMessage: false, read: readDelivery },
  { field: 'read', mayBeLeadMessage: false, read: readRead },
];

/** Known kinds of no consequence (providers.md 3.1.5), by their field. */
const NOTES: readonly string[] = [
  ...['optin', 'referral', 'account_linking', 'typing', 'app_roles', 'policy_enforcement'],
  ...['pass_thread_control', 'take_thread_control', 'request_thread_control'],
  ...['response_feedback', 'messaging_feedback', 'message_feedback', 'game_play', 'order'],
  ...['messaging_customer_information', 'payment', 'pre_checkout', 'checkout_update'],
];

/**
 * Reads one item of `messaging[]` of Messenger or Instagram (providers.md 3.1.3, 3.1.5, 3.2.5).
 * `appId` is our own app: an echo that carries it is our own send. An unknown kind is quarantined
 * as a possible lead's message. Throws on a broken item; call it through `readAlone`.
 */
export function readMessagingItem(
  raw: unknown,
  place: Place,
  appId: string,
): readonly InboundElement[] {
  const item = wireRecord.parse(raw);
  const isThere = (field: string) => item[field] !== undefined && item[field] !== null;
  const kind = KINDS.find(({ field }) => isThere(field));
  if (kind !== undefined) {
    return readAlone(place, raw, kind.mayBeLeadMessage, () => kind.read(item, place, appId));
  }
  const note = NOTES.find(isThere);
  return note === undefined
    ? [quarantine(place, raw, 'unknown kind', true)]
    : [noteOf(place, note, item)];
}

/**
 * Reads one item of `standby[]`: another app owns the thread, so it is recorded and never answered
 * (providers.md 3.1.5). A message in it is kept like imported history. Throws like
 * `readMessagingItem`.
 */
export function readStandbyItem(
  raw: unknown,
  place: Place,
  appId: string,
): readonly InboundElement[] {
  return readMessagingItem(raw, place, appId).map((element) => {
    if (element.type === 'quarantined') return { ...element, mayBeLeadMessage: false };
    const { path, channel, accountExternalId, stableContent, source } = element;
    const common = { path, channel, accountExternalId, stableContent, source };
    const kind = `standby:${element.type}`;
    const eventKey = `standby:${element.eventKey}`;
    return { ...common, type: 'note', kind, eventKey, history: historyOf(element) };
  });
}

function historyOf(element: InboundElement) {
  if (element.type === 'message') {
    const { providerMessageId, from, text } = element;
    return { providerMessageId, direction: 'in' as const, lead: from, text };
  }
  if (element.type === 'echo') {
    const { providerMessageId, to, text } = element;
    return { providerMessageId, direction: 'out' as const, lead: to, text };
  }
  return null;
}

/** Direction comes from who sent it, never from the thread: the account itself is no lead. */
function exchangeOf(item: WireRecord, place: Place, isEcho: boolean): Exchange {
  const { sender, recipient, timestamp } = partiesSchema.parse(item);
  const fromBusiness = isEcho || sender.id === place.account;
  const leadId = fromBusiness ? recipient.id : sender.id;
  const kind = place.channel === 'instagram' ? 'instagram' : 'messenger';
  return {
    place,
    lead: { kind, value: `${place.account}/${leadId}` },
    fromBusiness,
    toItself: leadId === place.account,
    senderId: sender.id,
    timestamp,
  };
}

function readMessage(item: WireRecord, place: Place, appId: string): readonly InboundElement[] {
  const message = messageSchema.parse(item.message);
  const exchange = exchangeOf(item, place, message.is_echo === true);
  if (message.is_self === true || exchange.toItself) return [noteOf(place, 'self-test', item)];
  if (exchange.fromBusiness) {
    return message.is_deleted === true
      ? [noteOf(place, 'echo-deleted', item)]
      : [echoOf(message, exchange, appId)];
  }
  if (message.is_deleted === true) return [deletionOf(message, exchange)];
  const attachments = message.attachments ?? [];
  const text = message.text ? message.text : null;
  if (text === null && isStoryMention(attachments)) return [noteOf(place, 'story-mention', item)];
  const media = mediaOf(attachments);
  // A message that shows nothing at all is one that the API cannot show: a lead waits behind it.
  const isEmpty = text === null && media.length === 0;
  const unsupported = message.is_unsupported === true || isEmpty;
  return [leadMessage(exchange, { mid: message.mid, text, media, unsupported })];
}

function leadMessage(
  exchange: Exchange,
  content: {
    readonly mid: string;
    readonly text: string | null;
    readonly media: ReturnType<typeof mediaOf>;
    readonly unsupported: boolean;
  },
): InboundElement {
  const { mid, text, media, unsupported } = content;
  // Addresses of media are signed anew for each delivery, so only their kinds are stable.
  const stable = ['message', exchange.lead.value, text, media.map(({ kind }) => kind), unsupported];
  return {
    ...frame(exchange.place, `message:${mid}`, stable, sourceTime(exchange.timestamp)),
    type: 'message',
    providerMessageId: mid,
    from: [exchange.lead],
    profileName: null,
    text,
    media,
    unsupported,
    providerOptOut: null,
    providerConfirmsOptOut: false,
  };
}

function echoOf(message: WireMessage, exchange: Exchange, appId: string): EchoElement {
  const { place, lead, timestamp } = exchange;
  const text = message.text ?? null;
  return {
    ...frame(place, `echo:${message.mid}`, ['echo', lead.value, text], sourceTime(timestamp)),
    type: 'echo',
    providerMessageId: message.mid,
    to: [lead],
    author: authorOf(message.app_id ?? null, place, appId),
    attemptRef: isId('att', message.metadata) ? message.metadata : null,
    text,
  };
}

/**
 * Only "equals ours" can be tested: the ids of Meta's own inboxes are printed differently on
 * different pages. Instagram often leaves the id out, so there a missing one says nothing.
 */
function authorOf(echoedAppId: string | null, place: Place, appId: string): EchoElement['author'] {
  if (echoedAppId === appId) return 'ours';
  return echoedAppId === null && place.channel === 'instagram' ? 'unknown' : 'other';
}

function deletionOf(message: WireMessage, exchange: Exchange): InboundElement {
  const { place, lead, timestamp } = exchange;
  const stable = ['delete', lead.value, message.mid];
  return {
    ...frame(place, `delete:${message.mid}`, stable, sourceTime(timestamp)),
    type: 'delete',
    providerMessageId: message.mid,
    from: [lead],
    text: null,
  };
}

function readEdit(item: WireRecord, place: Place): readonly InboundElement[] {
  const edit = editSchema.parse(item.message_edit);
  const exchange = exchangeOf(item, place, false);
  if (exchange.fromBusiness) return [noteOf(place, 'echo-edited', item)];
  const text = edit.text ?? null;
  const turn = edit.num_edit ?? sha256Hex(text ?? '');
  const stable = ['edit', exchange.lead.value, edit.mid, text];
  return [
    {
      ...frame(place, `edit:${edit.mid}:${turn}`, stable, sourceTime(exchange.timestamp)),
      type: 'edit',
      providerMessageId: edit.mid,
      from: [exchange.lead],
      text,
    },
  ];
}

/**
 * A pressed button is a turn only where its title is a question, as with ice-breakers; none of the
 * payloads is ours (providers.md 3.1.5, 3.2.5).
 */
function readPostback(item: WireRecord, place: Place): readonly InboundElement[] {
  const { mid, title } = postbackSchema.parse(item.postback);
  const exchange = exchangeOf(item, place, false);
  const asks = /[?？؟]\s*$/u.test(title ?? '');
  if (exchange.fromBusiness || !asks) return [noteOf(place, 'postback', item)];
  const instant = sourceTime(exchange.timestamp).at ?? 'no-time';
  const digest = sha256Hex(title ?? '').slice(0, 16);
  const id = mid ?? `postback:${exchange.senderId}:${instant}:${digest}`;
  return [leadMessage(exchange, { mid: id, text: title ?? null, media: [], unsupported: false })];
}

function readReaction(item: WireRecord, place: Place): readonly InboundElement[] {
  const { mid, action } = reactionSchema.parse(item.reaction);
  const { senderId, timestamp } = exchangeOf(item, place, false);
  const key = `reaction:${mid}:${senderId}:${action}`;
  return [
    {
      ...frame(place, key, [key], sourceTime(timestamp)),
      type: 'note',
      kind: 'reaction',
      history: null,
    },
  ];
}
