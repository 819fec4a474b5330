import { sha256 } from '../../db/digest';
import type { PreparedElement } from '../../db/ingest/request';
import type { InboundElement, LeadAddress, MessageElement } from '../../domain/inbound';
import { readOptOut } from '../../domain/opt-out';
import { cleanText, truncate } from '../../domain/text';

/** Longer than any channel's limit; the raw bytes keep what is cut. */
const TEXT_CODE_UNITS_MAX = 16_000;
const NAME_CODE_UNITS_MAX = 200;
/** Longer than any provider's account or user id, and far below the 2,704 bytes of an index row. */
const INDEXED_BYTES_MAX = 1_000;

/** Says whether a text only opens a conversation ("Hi", "are you open?"): spec P4b case 2. */
export type IsOpener = (text: string) => boolean;

/**
 * Makes an element ready for the ingest transaction: text that Postgres can store, digests of key
 * and content, opt-out words of the provider and of our own (S2), and whether its turn may wait.
 */
export function prepareElement(element: InboundElement, isOpener: IsOpener): PreparedElement {
  const cleaned = isIndexable(element) ? cleanElement(element) : park(element);
  return {
    element: cleaned,
    keySha256: sha256(cleaned.eventKey),
    contentSha256: sha256(cleaned.stableContent),
    optOut: cleaned.type === 'message' ? optOutOf(cleaned) : null,
    mayWait: cleaned.type === 'message' && mayWait(cleaned, isOpener),
  };
}

/** Says whether account and addresses fit an index row; message ids are indexed by digest. */
function isIndexable(element: InboundElement): boolean {
  const values = addressesOf(element).map(({ value }) => value);
  return [element.accountExternalId, ...values].every(
    (value) => Buffer.byteLength(value) <= INDEXED_BYTES_MAX,
  );
}

function addressesOf(element: InboundElement): readonly LeadAddress[] {
  switch (element.type) {
    case 'message':
    case 'edit':
    case 'delete':
      return element.from;
    case 'echo':
      return element.to;
    case 'note':
      return element.history?.lead ?? [];
    case 'status':
    case 'quarantined':
      return [];
  }
}

/** An element whose ids no index holds is kept raw and shown to a person (traps.md, B-tree row). */
function park(element: InboundElement): InboundElement {
  const { path, channel, accountExternalId, eventKey, stableContent, source, type } = element;
  return {
    type: 'quarantined',
    path,
    channel,
    accountExternalId: '',
    eventKey: `too-long:${sha256(accountExternalId)}:${eventKey}`,
    stableContent,
    source,
    reason: 'an id is too long',
    mayBeLeadMessage: type === 'message' || (type === 'quarantined' && element.mayBeLeadMessage),
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
