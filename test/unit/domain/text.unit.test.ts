import fc from 'fast-check';
import { cleanText, normalizeForMatching, truncate, wordsOf } from '../../../domain/text';
import { unitsOf } from '../../support/cost';

const anyText = fc.string({ unit: 'binary', maxLength: 60 });
const rawUnits = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 60 })
  .map((units) => String.fromCharCode(...units));
const hasLoneSurrogate = (text: string) => /\p{Cs}/u.test(text);

describe('cleaning', () => {
  it.each([
    ['NUL is dropped', 'a\0b', 'ab'],
    ['a lone high surrogate is replaced', 'a\ud83d', 'a\ufffd'],
    ['a lone low surrogate is replaced', '\ude00a', '\ufffda'],
    ['a pair stays', 'ok 😀', 'ok 😀'],
    ['other control characters stay', 'a\u0007\tb\r\nc', 'a\u0007\tb\r\nc'],
    ['NUL between two halves joins nothing', '\ud83d\0\ude00', '\ufffd\ufffd'],
  ])('%s [SEC10]', (_, text, expected) => {
    expect(cleanText(text)).toBe(expected);
  });

  it('whatever comes in, what comes out can be stored, and cleaning it again changes nothing', () => {
    fc.assert(
      fc.property(rawUnits, (text) => {
        const cleaned = cleanText(text);
        expect(cleaned).not.toContain('\0');
        expect(hasLoneSurrogate(cleaned)).toBe(false);
        expect(cleanText(cleaned)).toBe(cleaned);
      }),
    );
  });
});

describe('truncating', () => {
  it.each([
    ['a short text stays', 'abc', 3, 'abc'],
    ['a long text is cut', 'abcdef', 3, 'abc'],
    ['an emoji is never halved', 'ab😀', 3, 'ab'],
    ['a family is one character', 'ab👨‍👩‍👧', 6, 'ab'],
    ['an accent stays with its letter', 'abe\u0301', 3, 'ab'],
    ['a flag is never halved', '🇺🇸🇲🇽', 7, '🇺🇸'],
    ['a line break pair stays whole', 'ab\r\n', 3, 'ab'],
    ['one huge character is cut between code points', '👨‍👩‍👧', 4, '\u{1f468}\u200d'],
    ['no room, no text', 'abc', 0, ''],
    ['a negative limit gives no text', 'abc', -1, ''],
  ])('%s', (_, text, limit, expected) => {
    expect(truncate(text, limit)).toBe(expected);
  });

  it('the result fits, begins the text and never ends in half a pair', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 0, max: 70 }), (text, limit) => {
        const cut = truncate(text, limit);
        expect(cut.length).toBeLessThanOrEqual(limit);
        expect(text.startsWith(cut)).toBe(true);
        expect(hasLoneSurrogate(cut)).toBe(false);
      }),
    );
  });
});

describe('normalising for matching', () => {
  it.each([
    ['full-width letters', 'ＳＴＯＰ', 'stop'],
    ['zero-width and soft hyphens', 's\u200bto\u00adp\ufeff', 'stop'],
    ['accents', 'Desagüe, mañana ÁÉÍ', 'desague, manana aei'],
    ['decomposed accents', 'e\u0301', 'e'],
    ['curly quotes', 'don\u2019t \u201cstop\u201d', 'don\'t "stop"'],
    ['spaces of every kind', '  a\u00a0\t\n b ', 'a b'],
    ['control characters', 's\0t\u0007op', 'stop'],
    ['the Turkish capital', 'İ', 'i'],
    ['Hangul stays readable', '한글', '한글'],
    ['emoji variation', '\u2764\ufe0f', '\u2764'],
  ])('%s are folded', (_, text, expected) => {
    expect(normalizeForMatching(text)).toBe(expected);
  });

  it('words lose their apostrophes and punctuation', () => {
    expect(wordsOf("don't stop-by, 60614!")).toEqual(['dont', 'stop', 'by', '60614']);
  });

  it('any text is folded without an error, and folding the result again changes nothing', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const once = normalizeForMatching(text);
        expect(normalizeForMatching(once)).toBe(once);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['letters', 'a'.repeat(100_000)],
    ['marks in the wrong order', `a${'\u0316\u0301'.repeat(50_000)}`],
    ['musical marks', '\u{1d165}\u{1d16d}'.repeat(25_000)],
    ['sentence ligatures', '\ufdfa'.repeat(33_000)],
    ['squared words', '㌖'.repeat(33_000)],
    ['spaces', ' '.repeat(100_000)],
    ['lone surrogates', '\ud800'.repeat(100_000)],
    ['flags', '🇺🇸'.repeat(25_000)],
  ])('100 kB of %s cost at most 200 passes over such a text [SEC10]', (_, text) => {
    expect(
      unitsOf(() => void wordsOf(normalizeForMatching(truncate(cleanText(text), 99_990)))),
    ).toBeLessThanOrEqual(200);
  });
});
