import { z } from 'zod';
import type { Media } from '../../domain/inbound';
import type { WireRecord } from '../wire-json';
import { wireId, wireText } from './reading';

/** What a person said or sent in one WhatsApp message. */
export interface WhatsAppContent {
  readonly text: string | null;
  readonly media: readonly Media[];
  readonly unsupported: boolean;
}

type ContentReader = (message: WireRecord) => WhatsAppContent;

const textSchema = z.object({ text: z.object({ body: wireText }) });
const mediaSchema = z.object({ id: wireId, caption: wireText.nullish() });
const buttonSchema = z.object({ button: z.object({ text: wireText }) });
const titledReply = z.object({ title: wireText, description: wireText.nullish() });
const interactiveSchema = z.object({
  interactive: z.object({
    button_reply: titledReply.nullish(),
    list_reply: titledReply.nullish(),
    nfm_reply: z.object({ body: wireText.nullish() }).nullish(),
  }),
});
const locationSchema = z.object({
  location: z.object({
    latitude: z.string(),
    longitude: z.string(),
    name: wireText.nullish(),
    address: wireText.nullish(),
  }),
});
const orderSchema = z.object({ order: z.object({ text: wireText.nullish() }) });

/** Message types that a person writes or sends (providers.md 3.3.3, 3.3.5, 3.3.6). */
const READERS: Readonly<Record<string, ContentReader>> = {
  text: (message) => said(textSchema.parse(message).text.body),
  image: (message) => mediaContent(message, 'image', 'image'),
  video: (message) => mediaContent(message, 'video', 'video'),
  audio: (message) => mediaContent(message, 'audio', 'audio'),
  document: (message) => mediaContent(message, 'document', 'file'),
  sticker: (message) => mediaContent(message, 'sticker', 'sticker'),
  location: locationContent,
  contacts: () => sent('other', 'contacts', null),
  interactive: interactiveContent,
  button: (message) => said(buttonSchema.parse(message).button.text),
  order: (message) => sent('other', 'order', orderSchema.parse(message).order.text ?? null),
  unsupported: () => UNSUPPORTED,
  unknown: () => UNSUPPORTED,
};

/** Error 131051: WhatsApp cannot show what the lead sent, so the answer asks for text. */
const UNSUPPORTED: WhatsAppContent = { text: null, media: [], unsupported: true };

/**
 * Reads the content of a message by its type; null for a type that this version does not know.
 * Throws where the content does not fit its type.
 */
export function contentOf(message: WireRecord): WhatsAppContent | null {
  const { type } = message;
  if (typeof type !== 'string' || !Object.hasOwn(READERS, type)) return null;
  return READERS[type]?.(message) ?? null;
}

function said(text: string): WhatsAppContent {
  return { text, media: [], unsupported: false };
}

function sent(kind: Media['kind'], reference: string, text: string | null): WhatsAppContent {
  return { text, media: [{ kind, reference }], unsupported: false };
}

function mediaContent(message: WireRecord, field: string, kind: Media['kind']): WhatsAppContent {
  const { id, caption } = mediaSchema.parse(message[field]);
  return sent(kind, id, caption ?? null);
}

function locationContent(message: WireRecord): WhatsAppContent {
  const { latitude, longitude, name, address } = locationSchema.parse(message).location;
  const words = [name, address].filter(
    (part) => part !== undefined && part !== null && part !== '',
  );
  return sent('location', `${latitude},${longitude}`, words.length > 0 ? words.join(', ') : null);
}

/** What the person chose is what they said; a filled-in form may come without a sentence. */
function interactiveContent(message: WireRecord): WhatsAppContent {
  const { button_reply, list_reply, nfm_reply } = interactiveSchema.parse(message).interactive;
  const choice = button_reply ?? list_reply;
  if (choice !== undefined && choice !== null) {
    return said(choice.description ? `${choice.title}\n${choice.description}` : choice.title);
  }
  const sentence = nfm_reply?.body ?? null;
  return sentence === null ? UNSUPPORTED : said(sentence);
}
