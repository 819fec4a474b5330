import type { WebhookNature } from '../faults';
import { contentTypeOf, mediaIdOf, type MediaKind } from '../media';
import { metaWebhook } from '../meta/meta-webhook';
import { contactOf, senderOf, waId, waTimestamp, whatsAppPayload } from '../meta/whatsapp-events';
import { statusWebhook } from '../meta/whatsapp-send';
import { newWhatsAppId } from '../provider-ids';
import {
  alteredText,
  noteEdit,
  showForeignMessage,
  showLeadMessage,
  targetOf,
  type ActResult,
  type PhoneActor,
} from './phone-act';
import { importHistory } from './whatsapp-history';

type Fields = Readonly<Record<string, unknown>>;

/** The webhook of one `messages` change with these message elements. */
function messagesWebhook(
  actor: PhoneActor,
  content: {
    readonly messages: readonly Fields[];
    readonly altered: readonly Fields[];
    readonly onAttempt?: (status: number) => void;
  },
) {
  const { context, account, person, order, atMs } = actor;
  const { addressing } = order.options;
  const base = { ...senderOf(person, addressing), timestamp: waTimestamp(atMs) };
  const payload = (messages: readonly Fields[]) =>
    whatsAppPayload(account, 'messages', {
      contacts: [contactOf(person, addressing)],
      messages: messages.map((message) => ({ ...base, ...message })),
    });
  return metaWebhook(context, {
    account,
    nature: 'inbound',
    payload: payload(content.messages),
    altered: () => payload(content.altered),
    ...(content.onAttempt === undefined ? {} : { onAttempt: content.onAttempt }),
  });
}

/** WhatsApp's element of one attachment; only some kinds carry a caption (providers 3.3.6). */
function mediaContent(kind: MediaKind, caption: string): Fields {
  if (kind === 'location') {
    return { type: 'location', location: { latitude: 41.9214, longitude: -87.6513 } };
  }
  const file = { id: mediaIdOf(kind), mime_type: contentTypeOf(kind), sha256: 'bWFkZS11cA==' };
  const captioned = caption === '' ? file : { ...file, caption };
  switch (kind) {
    case 'audio':
      return { type: 'audio', audio: { ...file, voice: true } };
    case 'sticker':
      return { type: 'sticker', sticker: { ...file, animated: false } };
    case 'image':
      return { type: 'image', image: captioned };
    case 'video':
      return { type: 'video', video: captioned };
    case 'file':
      return { type: 'document', document: { ...captioned, filename: 'document.pdf' } };
  }
}

const CAPTIONED: readonly MediaKind[] = ['image', 'video', 'file'];

/** Each attachment is a message of its own; a text becomes the first caption where it can. */
function contentsOf(media: readonly MediaKind[], text: string): readonly Fields[] {
  const [first] = media;
  const hasCaption = first !== undefined && CAPTIONED.includes(first);
  const attachments = media.map((kind, index) =>
    mediaContent(kind, hasCaption && index === 0 ? text : ''),
  );
  if (text === '' || hasCaption) return attachments;
  return [{ type: 'text', text: { body: text } }, ...attachments];
}

function write(actor: PhoneActor): ActResult {
  const { order } = actor;
  const media = order.media.map(({ kind }) => kind);
  const contents = contentsOf(media, order.text).map((content) => ({
    id: newWhatsAppId(),
    ...content,
  }));
  const altered = contentsOf(media, alteredText(order.text)).map((content, index) => ({
    id: contents[index]?.id ?? newWhatsAppId(),
    ...content,
  }));
  const [first] = contents;
  if (first === undefined) return { refusal: 'A message needs a text or media.' };
  const onAttempt = showLeadMessage(actor, first.id);
  const webhook = messagesWebhook(actor, { messages: contents, altered, onAttempt });
  return { providerMessageId: first.id, webhooks: [webhook] };
}

function react(actor: PhoneActor): ActResult {
  const { context, person, order } = actor;
  const target = targetOf(actor, 'business') ?? newWhatsAppId();
  const emoji = order.text === '' ? '👍' : order.text;
  context.threads.change('whatsapp', person.name, target, { reaction: emoji });
  const id = newWhatsAppId();
  const message = (shown: string) => ({
    id,
    type: 'reaction',
    reaction: { message_id: target, emoji: shown },
  });
  const content = { messages: [message(emoji)], altered: [message('🎉')] };
  return { providerMessageId: id, webhooks: [messagesWebhook(actor, content)] };
}

/** Edits and revokes reach Coexistence numbers only (providers 3.3.5); the demo number is one. */
function revise(actor: PhoneActor): ActResult {
  const { context, person, order } = actor;
  const target = targetOf(actor, 'lead');
  if (target === null) return { refusal: 'This lead has written nothing that could be changed.' };
  const id = newWhatsAppId();
  const original = { original_message_id: target };
  const edited = (text: string) => ({
    id,
    type: 'edit',
    edit: {
      ...original,
      message: { context: { id: target }, type: 'text', text: { body: text } },
    },
  });
  if (order.kind === 'edit') {
    noteEdit(actor, target);
    const content = { messages: [edited(order.text)], altered: [edited(alteredText(order.text))] };
    return { providerMessageId: target, webhooks: [messagesWebhook(actor, content)] };
  }
  context.threads.change('whatsapp', person.name, target, { deleted: true });
  const revoke = { id, type: 'revoke', revoke: original };
  const content = { messages: [revoke], altered: [edited('(altered)')] };
  return { providerMessageId: target, webhooks: [messagesWebhook(actor, content)] };
}

/** The owner wrote in the phone app: `smb_message_echoes` (providers 3.3.5). */
function echo(actor: PhoneActor): ActResult {
  const { context, account, person, order, atMs } = actor;
  const id = newWhatsAppId();
  const nature: WebhookNature = 'echo';
  const to =
    order.options.addressing === 'bsuid-only'
      ? { to_user_id: person.whatsappUserId }
      : { to: waId(person), to_user_id: person.whatsappUserId };
  const payload = (text: string) =>
    whatsAppPayload(account, 'smb_message_echoes', {
      message_echoes: [
        {
          from: account.displayPhoneNumber ?? '',
          ...to,
          id,
          timestamp: waTimestamp(atMs),
          type: 'text',
          text: { body: text },
        },
      ],
    });
  showForeignMessage(actor, id);
  const altered = () => payload(alteredText(order.text));
  const webhook = metaWebhook(context, { account, nature, payload: payload(order.text), altered });
  return { providerMessageId: id, webhooks: [webhook] };
}

/** Another app on the number sends no echo; its statuses reach every subscribed app. */
function foreignStatuses(actor: PhoneActor): ActResult {
  const id = newWhatsAppId();
  showForeignMessage(actor, id);
  const webhooks = (['sent', 'delivered'] as const).map((status) => statusAct(actor, id, status));
  return { providerMessageId: id, webhooks };
}

function statusAct(
  actor: PhoneActor,
  id: string,
  status: 'sent' | 'delivered' | 'read' | 'failed',
) {
  const { context, account, person, order, atMs } = actor;
  const { addressing } = order.options;
  const ofOurs = context.ledger.find('whatsapp', id);
  const callbackData = ofOurs?.correlation ?? null;
  const errorCode = status === 'failed' ? 131026 : null;
  const facts = { id, status, atMs, addressing, callbackData, errorCode };
  return statusWebhook(context, account, { person, facts });
}

function status(actor: PhoneActor): ActResult {
  const { context, person, order } = actor;
  const id = targetOf(actor, 'business') ?? newWhatsAppId();
  const name = order.status ?? 'read';
  if (name !== 'failed') context.threads.change('whatsapp', person.name, id, { status: name });
  return { providerMessageId: id, webhooks: [statusAct(actor, id, name)] };
}

/** Acts on WhatsApp (providers 3.3). */
export function actOnWhatsApp(actor: PhoneActor): ActResult {
  switch (actor.order.kind) {
    case 'message':
      return write(actor);
    case 'reaction':
      return react(actor);
    case 'edit':
    case 'delete':
      return revise(actor);
    case 'echo-native':
      return echo(actor);
    case 'echo-other-app':
      return foreignStatuses(actor);
    case 'status':
      return status(actor);
    case 'history':
      return importHistory(actor);
  }
}
