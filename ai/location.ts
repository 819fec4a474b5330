import { normalizeForMatching, truncate, wordsOf } from '../domain/text';
import type { LeadText } from './messages';

const MAX_PLACE_CODE_UNITS = 80;
/** A longer answer counts only with a capital letter or a digit in it: a name, a street. */
const MAX_PLAIN_ANSWER_WORDS = 3;
const MAX_ANSWER_WORDS = 8;
const LOOKS_LIKE_NAME = /\d|\S\s+\p{Lu}/u;

const FIVE_DIGITS = /(?<![\p{L}\p{N}$#.,:/-])(\d{5})(?:-\d{4})?(?![\p{L}\p{N}]|[.,:]\d)/gu;
/** A number that counts or names something else than a place. */
const NOT_ZIP_BEFORE = /(?:\$|#|€|unit|apt|model|order|invoice|number|serial|budget|no\.?)\s?$/i;
const NOT_ZIP_AFTER =
  /^\s?(?:sq|square|gal|gallon|dollar|usd|bucks|mile|btu|lb|watt|volt|ft|feet)/i;
const STREET_KINDS =
  'street|st|avenue|ave|road|rd|boulevard|blvd|drive|dr|lane|ln|court|ct|place|pl|way|terrace|ter' +
  '|parkway|pkwy|circle|cir';
const STREET = new RegExp(
  "\\b\\d{1,6} (?:[NSEW]\\.? )?[\\p{L}\\d.'-]{1,30}(?: [\\p{L}.'-]{1,30}){0,2}" +
    ` (?:${STREET_KINDS})\\b`,
  'iu',
);
const CAPITALISED = "\\p{Lu}[\\p{L}.'-]{1,30}";
const NAMED_PLACE = new RegExp(
  `\\b(?:[Ii]n|[Nn]ear|[Aa]round|[Ee]n|[Cc]erca de) ` +
    `(${CAPITALISED}(?: ${CAPITALISED}){0,2}(?:, ?\\p{Lu}{2}\\b)?)`,
  'gu',
);
const NOT_PLACES: ReadonlySet<string> = new Set(
  (
    'january february march april may june july august september october november december ' +
    'monday ' +
    'tuesday wednesday thursday friday saturday sunday today tomorrow the my our your his ' +
    'her this that i ' +
    'kitchen basement bathroom garage attic bedroom laundry hall hallway house home ' +
    'apartment condo ' +
    'christmas thanksgiving easter noon midnight general fact spanish english yelp google ' +
    'facebook ' +
    'instagram thumbtack whatsapp enero febrero marzo abril mayo junio julio agosto ' +
    'septiembre octubre ' +
    'noviembre diciembre lunes martes miercoles jueves viernes sabado domingo casa cocina ' +
    'ingles espanol'
  ).split(' '),
);
const NO_PLACE_WORDS: ReadonlySet<string> = new Set(
  (
    'yes no yeah yep nope ok okay sure thanks thank please what why how when who where which ' +
    'hi hello hey ' +
    'know idea idk maybe dont not cant need want it its is are you i im ill we my can do ' +
    'will price cost ' +
    'quote asap today now later soon let hold check moment moments wait sec second minute ' +
    'hmm um uh lol ' +
    'sorry back busy driving send photo picture here there same home house water leak broken ' +
    'thing this ' +
    'that si gracias no se que cuando cuanto hola necesito quiero es espere momento ahorita aqui'
  ).split(' '),
);

type Precision = 1 | 2 | 3;

interface Place {
  readonly text: string;
  /** 3 a ZIP code, 2 a street, 1 a name. A later place replaces one that is not more precise. */
  readonly precision: Precision;
}

/** A lead's text, and whether the business had just asked where the job is. */
export interface LocationClue {
  readonly text: LeadText;
  readonly answersWhere: boolean;
}

/**
 * Where the job is, as the lead wrote it: a ZIP code, a street address or a named place; null where
 * no text says it. A bare answer to our question ("oak park") counts as a place too.
 */
export function readLocation(clues: readonly LocationClue[]): string | null {
  const known = clues.reduce<Place | null>((before, { text, answersWhere }) => {
    const place = placeIn(text.raw) ?? (answersWhere ? placeInAnswer(text) : null);
    if (place === null) return before;
    return before !== null && before.precision > place.precision ? before : place;
  }, null);
  return known?.text ?? null;
}

/** True for a US ZIP code of five digits, the only place that a reply may repeat. */
export function isZip(location: string | null): location is string {
  return location !== null && /^\d{5}$/.test(location);
}

function placeIn(raw: string): Place | null {
  const zip = lastZip(raw);
  if (zip !== null) return { text: zip, precision: 3 };
  const street = STREET.exec(raw)?.[0];
  if (street !== undefined) return { text: street, precision: 2 };
  const name = [...raw.matchAll(NAMED_PLACE)].map((match) => match[1] ?? '').findLast(isPlaceName);
  return name === undefined ? null : { text: truncate(name, MAX_PLACE_CODE_UNITS), precision: 1 };
}

function lastZip(raw: string): string | null {
  const candidates = [...raw.matchAll(FIVE_DIGITS)].filter((match) => {
    const end = match.index + match[0].length;
    const before = raw.slice(Math.max(0, match.index - 10), match.index);
    const after = raw.slice(end, end + 12);
    const startsStreet = STREET.exec(raw.slice(match.index, match.index + 120))?.index === 0;
    return !NOT_ZIP_BEFORE.test(before) && !NOT_ZIP_AFTER.test(after) && !startsStreet;
  });
  return candidates.map((match) => match[1] ?? '').findLast((zip) => zip >= '00501') ?? null;
}

function isPlaceName(name: string): boolean {
  const first = name.toLowerCase().split(/[ ,.]/)[0] ?? '';
  return !NOT_PLACES.has(first.normalize('NFD').replace(/\p{M}/gu, ''));
}

function placeInAnswer({ raw }: LeadText): Place | null {
  const parts = [raw, ...raw.slice(0, MAX_PLACE_CODE_UNITS).split(/[,.!;]/)];
  const place = raw.includes('?') ? undefined : parts.find(isPlainPlace)?.trim();
  return place === undefined ? null : { text: truncate(place, MAX_PLACE_CODE_UNITS), precision: 1 };
}

function isPlainPlace(part: string): boolean {
  const words = wordsOf(normalizeForMatching(part));
  if (words.length === 0 || words.length > MAX_ANSWER_WORDS) return false;
  if (words.some((word) => NO_PLACE_WORDS.has(word))) return false;
  return words.length <= MAX_PLAIN_ANSWER_WORDS || LOOKS_LIKE_NAME.test(part.trim());
}
