import { parse } from 'lossless-json';

/** A JSON object as it came over the wire; every number in it is kept as its digits. */
export type WireRecord = Readonly<Record<string, unknown>>;

/** What reading a JSON body gives. The reason never quotes the body: it holds personal data. */
export type WireJson =
  | { readonly readable: true; readonly value: unknown }
  | { readonly readable: false; readonly reason: string };

/** Real payloads nest about a dozen levels; readers and digests recurse, so depth is bounded. */
const MAX_DEPTH = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENERS: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSERS: ReadonlySet<number> = new Set([0x5d, 0x7d]);

const utf8 = new TextDecoder('utf-8');

/**
 * Reads a JSON body without losing a digit: numbers come back as text, because ids beyond 2^53
 * arrive as JSON numbers (providers.md 3.4.3). A byte order mark is skipped, bytes that are not
 * UTF-8 become U+FFFD (a lead's sentence must not be lost over one byte), and of a repeated key
 * the last value counts, as with `JSON.parse`. Never throws.
 */
export function readWireJson(body: Buffer): WireJson {
  if (isTooDeep(body)) return { readable: false, reason: 'the body is nested too deeply' };
  try {
    const value = parse(utf8.decode(body), null, {
      parseNumber: (digits) => digits,
      onDuplicateKey: ({ newValue }) => newValue,
    });
    return { readable: true, value };
  } catch {
    // The parser's message quotes the body, so it is replaced, not passed on.
    return { readable: false, reason: 'the body is not JSON' };
  }
}

/** Says whether `value` is a JSON object, neither null nor a list. */
export function isWireRecord(value: unknown): value is WireRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTooDeep(body: Buffer): boolean {
  let depth = 0;
  let inText = false;
  for (let index = 0; index < body.length; index += 1) {
    const byte = body[index] ?? 0;
    if (byte === QUOTE) inText = !inText;
    else if (inText) index += byte === BACKSLASH ? 1 : 0;
    else if (OPENERS.has(byte)) depth += 1;
    else if (CLOSERS.has(byte)) depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}
