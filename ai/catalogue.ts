import { normalizeForMatching, wordsOf } from '../domain/text';
import type { Service } from '../domain/understanding';

/** A phrase of the catalogue that a lead used. */
export interface CatalogueMatch {
  readonly service: Service;
  /** The phrase as the business wrote it into its catalogue. */
  readonly phrase: string;
  readonly length: number;
  /** True after an article or a possessive ("the toilet"): the lead points at a thing. */
  readonly pointsAtThing: boolean;
}

interface Entry {
  readonly service: Service;
  readonly phrase: string;
  readonly stems: readonly string[];
}

type Index = ReadonlyMap<string, readonly Entry[]>;

const ARTICLES: ReadonlySet<string> = new Set(
  'the a an my our his her their your some this that el la los las un una mi nuestro nuestra'.split(
    ' ',
  ),
);
const DENIALS: ReadonlySet<string> = new Set(['not', 'isnt', 'wasnt', 'arent', 'aint']);
const MIN_STEM_LENGTH = 3;

/** Profiles change rarely and are read on every turn, so their index is kept with them. */
const indexes = new WeakMap<readonly Service[], Index>();

/**
 * The most specific phrase of the catalogue in a text: most words first, then most letters, then
 * the first one. "Not the toilet" is no match. Null where the text names no service of the list.
 */
export function findService(
  words: readonly string[],
  services: readonly Service[],
): CatalogueMatch | null {
  const stems = words.map(stem);
  const index = indexOf(services);
  const found = stems.flatMap((first, position) =>
    (index.get(first) ?? [])
      .filter((entry) => entry.stems.every((part, offset) => part === stems[position + offset]))
      .map((entry) => ({ entry, before: words.slice(Math.max(0, position - 3), position) }))
      .filter(({ before }) => !isDenied(before)),
  );
  const [best] = found.sort((one, other) => specificity(other.entry) - specificity(one.entry));
  if (best === undefined) return null;
  return {
    service: best.entry.service,
    phrase: best.entry.phrase,
    length: best.entry.stems.length,
    pointsAtThing: ARTICLES.has(best.before.at(-1) ?? ''),
  };
}

function specificity(entry: Entry): number {
  return entry.stems.length * 1_000 + Math.min(entry.phrase.length, 999);
}

function isDenied(before: readonly string[]): boolean {
  const words = before.filter((word) => !ARTICLES.has(word));
  const last = words.at(-1) ?? '';
  return DENIALS.has(last) || (last === 'es' && words.at(-2) === 'no');
}

function indexOf(services: readonly Service[]): Index {
  const known = indexes.get(services);
  if (known) return known;
  const index = new Map<string, Entry[]>();
  for (const service of services) {
    for (const phrase of [service.label, ...service.words]) {
      const stems = wordsOf(normalizeForMatching(phrase)).map(stem);
      const [first] = stems;
      if (first === undefined) continue;
      index.set(first, [...(index.get(first) ?? []), { service, phrase, stems }]);
    }
  }
  indexes.set(services, index);
  return index;
}

/**
 * A light stem, the same for text and catalogue: without plural, "-ing", "-ed", a doubled end and
 * a last vowel, as long as three letters remain. "Leaking", "leaks" and "leaky" become "leak",
 * "goteras" and "gotera" become "goter".
 */
function stem(word: string): string {
  const singular = cut(cut(word, /s$/), /(?:ing|ed)$/);
  return cut(cut(singular, /(?<=[b-df-hj-np-tv-z])[b-df-hj-np-tv-z]$/, isDoubled), /[aeoy]$/);
}

function isDoubled(word: string): boolean {
  return word.at(-1) === word.at(-2);
}

function cut(word: string, ending: RegExp, applies: (word: string) => boolean = always): string {
  const kept = word.replace(ending, '');
  const longEnough = kept.length >= MIN_STEM_LENGTH && /[aeiouy]/.test(kept);
  return longEnough && applies(word) ? kept : word;
}

function always(): boolean {
  return true;
}
