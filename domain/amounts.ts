import { hasPhrase, phraseIndex } from './phrases';
import { normalizeForMatching, wordsOf } from './text';

/**
 * The widest reading of what a draft must not say while no quote and no calendar stands behind it
 * (spec Q3, Q5, L5): amounts, promises of time or availability, links. It flags too much rather
 * than too little, because a flagged draft only costs a plainer wording.
 */
export type DraftGuard = 'ok' | 'amount' | 'promise' | 'link';

const LINK =
  /:\/\/|www\.|@|[\p{L}\p{N}][.\u3002]\p{L}{2,}|\b(?:mailto|tel|sms):| dot (?:com|net|org)/u;
const MONEY_MARK = /[\p{Sc}%\u2030]|\d[.,]\d/u;
const CLOCK_TIME = /\d\s?(?:am|pm|a\.m|p\.m|h\b|hrs?\b|o'?clock)|\d:\d|\b(?:at|by|until|a las?) \d/;

const MONEY_WORDS = phraseIndex(
  'dollar, dollars, usd, buck, bucks, eur, euro, euros, pound, pounds, cent, cents, peso, pesos',
  'dolar, dolares, centavo, centavos, percent, por ciento, porciento, free, gratis, gratuito',
  'gratuita, complimentary, discount, discounts, discounted, descuento, descuentos, coupon, cupon',
  'hundred, hundreds, thousand, thousands, cien, ciento, cientos, half off, half price, no charge',
  'no cost, sin costo, sin cargo, flat rate, per hour, an hour, hourly, por hora, grand',
);
const PROMISE_WORDS = phraseIndex(
  'guarantee, guarantees, guaranteed, guaranteeing, warranty, promise, promises, promised',
  'be there, on our way, on my way, on the way, on his way, en route, arrive, arrives, arriving',
  'well be, we will, we can, he will, she will, they will, someone will, technician will, ill be',
  'plumber will, coming over, coming out, coming by, is coming, are coming, we have an opening',
  'we have a slot, we have time, are available, is available, am available, availability, booked',
  'scheduled, confirmed, all set, see you, same day, today, tonight, tomorrow, right away, asap',
  'immediately, within, in an hour, in a few minutes, in a few hours, in minutes, in no time, noon',
  'midnight, monday, tuesday, wednesday, thursday, friday, saturday, sunday, this week',
  'this weekend',
  'garantia, garantias, garantizamos, garantizado, garantizada, prometemos, promesa, llegamos',
  'llegaremos, llegara, llegaran, estaremos, iremos, en camino, podemos ir, podemos llegar',
  'podemos hacer, podemos arreglar, podemos mandar, podemos enviar, podemos estar, disponible',
  'disponibles, disponibilidad, agendado, agendada, reservado, reservada, confirmado, confirmada',
  'nos vemos, hoy, mismo dia, lunes, martes, miercoles, jueves, viernes, sabado, domingo, mediodia',
);
/** Contractions and Spanish "tomorrow", which is also "morning" after an article. */
const PROMISE = /\b(?:we|i|he|she|they|someone|it)'ll\b|(?<!\bla )\bmanana\b|\b24\/7\b/;
const US_ZIP = /^\d{5}$/;
const EMERGENCY_NUMBER = '911';

/** True where the text may name an amount, or promise a time, a visit, a result or a price. */
export function mentionsAmountOrPromise(text: string): boolean {
  const reading = read(text);
  return hasPromise(reading) || hasAmount(reading);
}

/** What is wrong with a draft first, or `ok`. Pure: the same text always gets the same verdict. */
export function guardDraft(text: string): DraftGuard {
  const reading = read(text);
  if (LINK.test(reading.normalized)) return 'link';
  if (hasPromise(reading)) return 'promise';
  return hasAmount(reading) ? 'amount' : 'ok';
}

interface Reading {
  readonly normalized: string;
  readonly words: readonly string[];
}

function read(text: string): Reading {
  const normalized = normalizeForMatching(text);
  return { normalized, words: wordsOf(normalized) };
}

function hasPromise({ normalized, words }: Reading): boolean {
  if (CLOCK_TIME.test(normalized) || PROMISE.test(normalized)) return true;
  return hasPhrase(words, PROMISE_WORDS);
}

function hasAmount({ normalized, words }: Reading): boolean {
  return MONEY_MARK.test(normalized) || hasPhrase(words, MONEY_WORDS) || words.some(mayBeFigure);
}

/** Any number may be a price, but a ZIP code and the number of the emergency services. */
function mayBeFigure(word: string): boolean {
  return /^\p{N}/u.test(word) && !US_ZIP.test(word) && word !== EMERGENCY_NUMBER;
}
