import { sha256 } from '../../db/digest';
import type { PreparedElement } from '../../db/ingest/request';
import type { InboundElement, MessageElement } from '../../domain/inbound';
import { readOptOut } from '../../domain/opt-out';
import { cleanText, truncate } from '../../domain/text';

/** Longer than any channel's limit; the raw bytes keep what is cut. */
const TEXT_CODE_UNITS_MAX = 16_000;
const NAME_CODE_UNITS_MAX = 200;

/** Says whether a text only opens a conversation ("Hi", "are you open?"): spec P4b case 2. */
export type IsOpener = (text: string) => boolean;

/**
 * Makes an element ready for the ingest transaction: text that Postgres can store, digests of key
 * and content, opt-out words of the provider and of our own (S2), and whether its turn may wait.
 */
export function prepareElement(element: InboundElement, isOpener: IsOpener): PreparedElement {
  const cleaned = cleanElement(element);
  return {
    element: cleaned,
    keySha256: sha256(element.eventKey),
    contentSha256: sha256(element.stableContent),
    optOut: cleaned.type === 'message' ? optOutOf(cleaned) : null,
    mayWait: cleaned.type === 'message' && mayWait(cleaned, isOpener),
  };
}

function cleanElement(element: InboundElement): InboundElement {
  switch (element.type) {
    case 'message':
      return {
        ...element,
        text: storable(element.text),
        profileName: storable(element.profileName, NAME_CODE_UNITS_MAX),
        media: element.media.map((media) => ({ ...media, reference: cleanText(media.reference) })),
      };
    case 'echo':
    case 'edit':
    case 'delete':
      return { ...element, text: storable(element.text) };
    case 'note':
      return element.history === null
        ? element
        : { ...element, history: { ...element.history, text: storable(element.history.text) } };
    case 'status':
      return { ...element, errorCode: storable(element.errorCode, NAME_CODE_UNITS_MAX) };
    case 'quarantined':
      return element;
  }
}

/** Text without NUL and lone surrogates, cut on a grapheme's border; null stays null. */
function storable(text: string | null, limit = TEXT_CODE_UNITS_MAX): string | null {
  return text === null ? null : truncate(cleanText(text), limit);
}

function optOutOf(element: MessageElement): PreparedElement['optOut'] {
  if (element.providerOptOut !== null) return element.providerOptOut;
  return element.text === null ? null : readOptOut(element.text);
}

function mayWait(element: MessageElement, isOpener: IsOpener): boolean {
  if (element.unsupported) return false;
  return element.text === null ? element.media.length > 0 : isOpener(element.text);
}
