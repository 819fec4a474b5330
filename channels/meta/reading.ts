import { z } from 'zod';
import type {
  Channel,
  InboundElement,
  NoteElement,
  QuarantinedElement,
  SourceTime,
} from '../../domain/inbound';
import { canonicalText, sha256Hex } from '../canonical';
import { isWireRecord } from '../wire-json';

/** Where in a request an element stands, and whose account it came to. */
export interface Place {
  readonly channel: Channel;
  /** Page id, Instagram account id or phone_number_id. */
  readonly account: string;
  readonly path: string;
}

/** The fields that every element has, whatever its type. */
export interface ElementFrame {
  readonly path: string;
  readonly channel: Channel;
  readonly accountExternalId: string;
  readonly eventKey: string;
  readonly stableContent: string;
  readonly source: SourceTime;
}

/** Message ids run to some 500 characters; far beyond that, something else was put in the field. */
const ID_LENGTH_MAX = 4_096;

/**
 * An id of Meta's: any text that Postgres can hold and that no byte of was replaced. Numbers come
 * from the parser as their digits, so an id above 2^53 is as exact as a quoted one.
 */
export const wireId = z
  .string()
  .max(ID_LENGTH_MAX)
  .regex(/^[^\p{Cc}\p{Cs}\uFFFD]+$/u);

/** Text that a sender wrote; it may hold NUL and lone surrogates, which the intake removes. */
export const wireText = z.string();

/** A JSON object whose fields are looked at later. */
export const wireRecord = z.custom<Readonly<Record<string, unknown>>>(isWireRecord);

const NO_TIME: SourceTime = { at: null, precision: 'none' };
/** Ten or eleven digits are seconds, thirteen are milliseconds, until the year 5138. */
const SECONDS_DIGITS_MAX = 11;
/** The end of the year 9999, the last that ISO 8601 writes with four digits. */
const LATEST_MS = 253_402_300_799_999;

/**
 * Reads an event time of Meta's: epoch seconds or milliseconds, as a number or as text. A time
 * that cannot be read is none, because a message without a time still waits for an answer.
 */
export function sourceTime(value: unknown): SourceTime {
  if (typeof value !== 'string' || !/^\d{9,15}$/.test(value)) return NO_TIME;
  const inSeconds = value.length <= SECONDS_DIGITS_MAX;
  const milliseconds = Number(value) * (inSeconds ? 1000 : 1);
  if (milliseconds > LATEST_MS) return NO_TIME;
  return {
    at: new Date(milliseconds).toISOString(),
    precision: inSeconds ? 'seconds' : 'milliseconds',
  };
}

/** The place `step` below `place`, such as `.messaging[1]`. */
export function below(place: Place, step: string): Place {
  return { ...place, path: place.path + step };
}

/** The common fields of an element; `stable` is what a redelivery repeats exactly (spec IN3). */
export function frame(
  place: Place,
  eventKey: string,
  stable: readonly unknown[],
  source: SourceTime = NO_TIME,
): ElementFrame {
  return {
    path: place.path,
    channel: place.channel,
    accountExternalId: place.account,
    eventKey,
    stableContent: canonicalText(stable),
    source,
  };
}

/** A note about `raw` without an event id of its own: its content is its key. */
export function noteOf(place: Place, kind: string, raw: unknown): NoteElement {
  const content = canonicalText(raw);
  return {
    ...frame(place, `${kind}:${sha256Hex(content)}`, [kind, content]),
    type: 'note',
    kind,
    history: null,
  };
}

/** An authentic element that cannot be read: kept, keyed by its content (spec IN4). */
export function quarantine(
  place: Place,
  raw: unknown,
  reason: string,
  mayBeLeadMessage: boolean,
): QuarantinedElement {
  const content = canonicalText(raw);
  return {
    ...frame(place, `unreadable:${sha256Hex(content)}`, [content]),
    type: 'quarantined',
    reason,
    mayBeLeadMessage,
  };
}

/**
 * Reads one element so that its fault stays its own: what `read` cannot make sense of comes back
 * as one quarantined element (spec IN4, IN7).
 */
export function readAlone(
  place: Place,
  raw: unknown,
  mayBeLeadMessage: boolean,
  read: () => readonly InboundElement[],
): readonly InboundElement[] {
  try {
    return read();
  } catch (error) {
    return [quarantine(place, raw, reasonOf(error), mayBeLeadMessage)];
  }
}

/** Reads each item of a list on its own; something else than a list is one broken element. */
export function readEach(
  place: Place,
  list: unknown,
  mayBeLeadMessage: boolean,
  read: (item: unknown, place: Place) => readonly InboundElement[],
): readonly InboundElement[] {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) return [quarantine(place, list, 'not a list', mayBeLeadMessage)];
  return list.flatMap((item: unknown, index) => {
    const itemPlace = below(place, `[${index}]`);
    return readAlone(itemPlace, item, mayBeLeadMessage, () => read(item, itemPlace));
  });
}

/** Names the fields at fault and never their values, which are personal data. */
function reasonOf(error: unknown): string {
  if (!(error instanceof z.ZodError)) return error instanceof Error ? error.name : 'unreadable';
  return error.issues
    .slice(0, 5)
    .map((issue) => `${issue.path.join('.') || 'element'}: ${issue.code}`)
    .join('; ');
}
