import { normalizeForMatching, wordsOf } from './text';

/** Phrases by their first word, so that a look-up costs one step per word of the text. */
export type PhraseIndex = ReadonlyMap<string, readonly (readonly string[])[]>;

/** An index over comma-separated phrases, in any spelling that `normalizeForMatching` folds. */
export function phraseIndex(...lines: readonly string[]): PhraseIndex {
  const index = new Map<string, string[][]>();
  for (const phrase of lines.flatMap((line) => line.split(','))) {
    const words = wordsOf(normalizeForMatching(phrase));
    const [first] = words;
    if (first !== undefined) index.set(first, [...(index.get(first) ?? []), words]);
  }
  return index;
}

/** Where in the words a phrase of the index stands, as the positions of all its words. */
export function phrasePositions(words: readonly string[], index: PhraseIndex): number[] {
  return words.flatMap((word, position) =>
    (index.get(word) ?? [])
      .filter((phrase) => standsAt(words, position, phrase))
      .flatMap((phrase) => phrase.map((_, offset) => position + offset)),
  );
}

/** True where a phrase of the index stands in the words, apart from the positions left out. */
export function hasPhrase(
  words: readonly string[],
  index: PhraseIndex,
  leftOut: readonly number[] = [],
): boolean {
  return words.some((word, position) =>
    (index.get(word) ?? []).some(
      (phrase) =>
        standsAt(words, position, phrase) &&
        !phrase.some((_, offset) => leftOut.includes(position + offset)),
    ),
  );
}

function standsAt(words: readonly string[], position: number, phrase: readonly string[]): boolean {
  return phrase.every((part, offset) => words[position + offset] === part);
}
