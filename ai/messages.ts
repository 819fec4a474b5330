import { normalizeForMatching, wordsOf } from '../domain/text';
import type { BusinessProfile, ThreadMessage } from '../domain/understanding';
import { CLOSES, MAYBE_ROBOT, mentions, ROBOT } from './phrases';

/** A lead's text, read once: as it was written, and as normalised words. */
export interface LeadText {
  readonly raw: string;
  readonly words: readonly string[];
}

/** Older messages than these no longer change what the lead wants. */
const MAX_MESSAGES = 60;
/** More than any lead writes by hand; the rest of a longer text is not read. */
const MAX_READ_CODE_UNITS = 4_000;
const MAX_CLOSING_WORDS = 14;
const MAX_OPENER_WORDS = 8;

const OPENER_WORDS = wordSet(
  'hi hello hey hiya heya yo howdy sup greetings good morning afternoon evening day there',
  'guys team',
  'folks all everyone everybody sir maam are is you u open yall still here home anyone',
  'anybody around',
  'available question quick have i ive a got can could help me us please pls with something',
  'need some',
  'to ask one thing who this working business hola buenas buenos buen dias dia tardes noches',
  'que tal',
  'estan esta abiertos abierto hay alguien ahi oiga disculpe disculpa senor senora una pregunta',
  'consulta necesito ayuda pueden puede ayudar ayudarme tengo saludos con algo favor por info',
);
const THANKS_WORDS = wordSet(
  'thanks thank you u thx ty tysm ok okay okey k kk great perfect awesome cool sounds good',
  'got it will',
  'do appreciate much so very appreciated understood noted alright nice wonderful excellent',
  'bye goodbye',
  'cheers welcome youre no problem np later see ya then have a great day night one weekend',
  'too again',
  'that works for your the help all lot many gracias muchas muchisimas vale perfecto bueno',
  'bien esta',
  'de acuerdo listo entendido muy amable igualmente hasta luego adios ok por la ayuda genial',
);
/** At least one of these makes a row of such words thanks: "you too" alone says nothing. */
const THANKS_CORE = wordSet(
  'thanks thank thx ty tysm ok okay okey k kk great perfect awesome cool good got appreciate',
  'appreciated understood noted alright nice wonderful excellent bye goodbye cheers gracias vale',
  'perfecto bueno bien listo entendido acuerdo adios genial',
);

/** Thumbs, hands, hearts, check marks and smiles: signs that say "fine" and ask for nothing. */
const KIND_EMOJI = new RegExp(
  '[\u{1f44c}\u{1f44d}\u{1f44f}\u{1f64f}\u{1f91d}\u{2705}\u{1f4af}\u{1f389}\u{263a}\u{2764}' +
    '\u{1f499}-\u{1f49c}\u{1f600}-\u{1f60a}\u{1f642}\u{1f970}]',
  'u',
);

/** The last messages of a thread that are worth reading, in their order. */
export function recentMessages(thread: readonly ThreadMessage[]): readonly ThreadMessage[] {
  return thread.slice(-MAX_MESSAGES);
}

/** The lead's messages since the business last wrote: the burst that one answer covers (P4b). */
export function openBurst(thread: readonly ThreadMessage[]): readonly ThreadMessage[] {
  return thread.slice(thread.findLastIndex(({ from }) => from === 'business') + 1);
}

/** The newest text of the business in the thread, or null where it has not written yet. */
export function lastBusinessText(thread: readonly ThreadMessage[]): string | null {
  return thread.findLast(({ from }) => from === 'business')?.text ?? null;
}

/** The lead's texts that a person wrote, oldest first. */
export function leadTexts(messages: readonly ThreadMessage[]): LeadText[] {
  return messages
    .filter(({ from, text }) => from === 'lead' && text !== null)
    .map(({ text }) => readText(text ?? ''))
    .filter((text) => text.raw.trim() !== '' && !isRobot(text));
}

/** One text, normalised for matching. */
function readText(text: string): LeadText {
  const raw = text.slice(0, MAX_READ_CODE_UNITS);
  return { raw, words: wordsOf(normalizeForMatching(raw)) };
}

/** True for a machine's answer, which must never be answered by another machine. */
function isRobot({ words, raw }: LeadText): boolean {
  return mentions(words, ROBOT) || (mentions(words, MAYBE_ROBOT) && !raw.includes('?'));
}

/** True where the text only opens a conversation: "Hi", "hello?", "are you open", an emoji. */
export function isOpener({ words }: LeadText, { name }: BusinessProfile): boolean {
  if (words.length > MAX_OPENER_WORDS) return false;
  const nameWords = new Set(wordsOf(normalizeForMatching(name)));
  return words.every((word) => OPENER_WORDS.has(word) || nameWords.has(word));
}

/** True for thanks, a bare "ok" or an emoji: nothing that asks for a further answer. */
export function isThanks({ words, raw }: LeadText): boolean {
  if (words.length === 0) return KIND_EMOJI.test(raw) && !raw.includes('?');
  return (
    words.every((word) => THANKS_WORDS.has(word)) && words.some((word) => THANKS_CORE.has(word))
  );
}

/** True where the lead says that the matter is closed: "found someone else, thanks". */
export function isClosing({ words, raw }: LeadText): boolean {
  return words.length <= MAX_CLOSING_WORDS && !raw.includes('?') && mentions(words, CLOSES);
}

function wordSet(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(' ')));
}
