import { ENGLISH_DEMANDS } from './opt-out-demands';
import {
  INFLECTED_WORDS,
  KEYWORDS,
  LEAD_WORDS,
  LONE_KEYWORDS,
  POLITE_WORDS,
  REASON_WORDS,
  REASONS,
  WANTING_WORDS,
} from './opt-out-phrases';
import { SPANISH_DEMANDS } from './opt-out-spanish';

/**
 * How badly typed opt-outs are read: doubled letters, and one missing or swapped letter in a long
 * word of the patterns.
 */
const RUN_OF_CONSONANTS = /([b-df-hj-np-tv-z])\1+/g;
const RUN_OF_VOWELS = /([aeiou])\1{2,}/g;
const MIN_MENDED_LENGTH = 6;
const mendings = mendingsOf(vocabulary());

/** Doubled consonants become one and long vowels short: "stoppp", "mesages", "of" for "off". */
export function squeeze(word: string): string {
  return word.replace(RUN_OF_CONSONANTS, '$1').replace(RUN_OF_VOWELS, '$1');
}

/** Every word of the set, squeezed. */
export function squeezeAll(words: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...words].map(squeeze));
}

/** The clause with the slips in its words mended; words that the patterns know stay as they are. */
export function withoutSlips(clause: string): string {
  const words = clause.split(' ');
  return words.map((word) => mendings.get(word) ?? word).join(' ');
}

/** Every word that the patterns know. */
function vocabulary(): ReadonlySet<string> {
  const all = [...ENGLISH_DEMANDS, ...SPANISH_DEMANDS];
  const sources = [...all.map(({ opens }) => opens), ...KEYWORDS, ...LONE_KEYWORDS, ...REASONS];
  const words = [
    ...all.flatMap(({ allows, needs }) => [...allows, ...(needs ?? [])]),
    ...[...POLITE_WORDS, ...LEAD_WORDS, ...REASON_WORDS, ...INFLECTED_WORDS, ...WANTING_WORDS],
    ...sources.flatMap((source) => source.match(/[a-z]+/g) ?? []),
  ];
  return new Set(words);
}

/** From each slip in a long word (one letter missing, two neighbours swapped) to the word. */
function mendingsOf(words: ReadonlySet<string>): ReadonlyMap<string, string> {
  const long = [...words].filter((word) => word.length >= MIN_MENDED_LENGTH);
  const slips = long.flatMap((word) =>
    slipsOf(word).map((slip) => [squeeze(slip), squeeze(word)] as const),
  );
  const known = squeezeAll(words);
  return new Map(slips.filter(([slip]) => !known.has(slip)));
}

/** The first letter is never the missing one: "lease" is no slip of "please". */
function slipsOf(word: string): string[] {
  return Array.from(word, (_, index) => index).flatMap((index) => {
    const before = word.slice(0, index);
    const swapped = word.charAt(index + 1) + word.charAt(index) + word.slice(index + 2);
    return index === 0 ? [swapped] : [before + swapped, before + word.slice(index + 1)];
  });
}
