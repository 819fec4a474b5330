/**
 * Text that strangers wrote: cleaned for storage, cut for a channel's limit, and folded for
 * matching. Every function is linear in its input, because a lead may send 100 kB (spec SEC10).
 */

const NUL = /\0/g;
const LONE_SURROGATE = /\p{Cs}/gu;
const SINGLE_QUOTES = /[\u2018-\u201b\u02b9\u02bb-\u02bd\u2032\u00b4`]/g;
const DOUBLE_QUOTES = /[\u201c-\u201f\u00ab\u00bb\u2033]/g;
/** Format characters, combining marks and blanks that show nothing: the usual disguises. */
const INVISIBLE = /[\p{Cf}\p{M}\u115f\u1160\u3164\uffa0\u2800]/gu;
/** The two ligatures that decompose into whole sentences: 18 and 8 letters each. */
const SENTENCE_LIGATURES = /[\ufdfa\ufdfb]/g;
const CONTROL_BUT_SPACE = /[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]/g;
const SPACES = /\s+/g;
const NOT_WORD = /[^\p{L}\p{N}]+/u;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * The text as it may be stored: without NUL, which Postgres refuses, and with U+FFFD for each lone
 * surrogate, which UTF-8 cannot hold. Other control characters and valid pairs stay.
 */
export function cleanText(text: string): string {
  return text.replace(LONE_SURROGATE, '\ufffd').replace(NUL, '');
}

/**
 * The longest beginning of `text` that has at most `limitCodeUnits` UTF-16 code units and ends
 * where a visible character ends. One character longer than the whole limit is cut between code
 * points instead, so the cut never leaves half a surrogate pair.
 */
export function truncate(text: string, limitCodeUnits: number): string {
  if (text.length <= limitCodeUnits) return text;
  if (limitCodeUnits < 1) return '';
  const limit = Math.floor(limitCodeUnits);
  const border = graphemes.segment(text.slice(0, limit + 2)).containing(limit)?.index ?? limit;
  return text.slice(0, border > 0 ? border : codePointBorder(text, limit));
}

function codePointBorder(text: string, index: number): number {
  const splitsPair = (text.codePointAt(index - 1) ?? 0) > 0xffff;
  return splitsPair ? index - 1 : index;
}

/**
 * The text folded for matching, never for showing: compatibility forms made plain (full-width),
 * lower case, straight quotes, single spaces, without accents, invisible or control characters.
 */
export function normalizeForMatching(text: string): string {
  // Marks go before decomposition: reordering a long run of them would take quadratic time.
  return text
    .replace(SINGLE_QUOTES, "'")
    .replace(DOUBLE_QUOTES, '"')
    .toLowerCase()
    .replace(INVISIBLE, '')
    .replace(SENTENCE_LIGATURES, ' ')
    .normalize('NFKD')
    .replace(INVISIBLE, '')
    .toLowerCase()
    .normalize('NFC')
    .replace(CONTROL_BUT_SPACE, '')
    .replace(SPACES, ' ')
    .trim();
}

/** The words of an already normalised text, in order; "don't" is one word, written "dont". */
export function wordsOf(normalizedText: string): string[] {
  return normalizedText.replaceAll("'", '').split(NOT_WORD).filter(Boolean);
}
