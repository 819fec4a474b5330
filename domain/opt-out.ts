import { ENGLISH_DEMANDS, type Demand } from './opt-out-demands';
import {
  KEYWORDS,
  LEAD_WORDS,
  LONE_KEYWORDS,
  POLITE_WORDS,
  REASONS,
  REASON_WORDS,
  SPELLINGS,
  STACKED_KEYWORDS,
  STARTS,
  STOP_SLIPS,
  WANTING_WORDS,
} from './opt-out-phrases';
import { SPANISH_DEMANDS } from './opt-out-spanish';
import { squeeze, squeezeAll, withoutSlips } from './opt-out-spelling';
import { normalizeForMatching, wordsOf } from './text';

/**
 * What a message says about being written to: `stop` is an opt-out, `start` an opt-in, `help` the
 * keyword alone.
 *
 * Opt-out words are read as whole intents (spec S6). A message is cut into clauses, and it is an
 * opt-out only where a clause asks for silence and no other clause still wants something. That is
 * why "stop, wrong number" is one, and "don't stop by before noon" and "stop texting, call me" are
 * not. A clause is matched as a whole and is short, so no input makes the patterns slow.
 */
export type OptOutIntent = 'stop' | 'start' | 'help';

type ClauseKind = 'keyword' | 'lone' | 'demand' | 'reason' | 'wants' | 'other';

interface Message {
  readonly whole: string;
  /** The clauses between punctuation marks, each as its words. */
  readonly clauses: readonly (readonly string[])[];
  readonly asks: boolean;
}

type Repair = (clause: string) => string;

interface Folded {
  readonly opens: RegExp;
  readonly allows: ReadonlySet<string>;
  readonly needs: ReadonlySet<string> | null;
}

const MAX_WORDS = 60;
const MAX_WORD_LENGTH = 30;
/** A statement longer than this tells a story; whether it still wants something is for a person. */
const MAX_STATEMENT_WORDS = 12;
const STOP_SIGN = '\u{1f6d1}';
const HELP_WORDS: ReadonlySet<string> = new Set(['help', 'info', 'ayuda']);
const LINE_BREAKS = /[\r\n\u2028\u2029]+/g;
const CLAUSE_BORDER = /[^\p{L}\p{N}' -]+| -+ /u;
/** Words before which a new clause may begin where the writer left out the comma. */
const CLAUSE_STARTS: ReadonlySet<string> = new Set(
  'and but so or because then cause please pls plz kindly y pero porque'.split(' '),
);
const DEMAND_STARTS: ReadonlySet<string> = new Set(
  'stop quit unsubscribe remove dont delete take leave'.split(' '),
);
const DANGLING = /^(?:and|or|so|y|o) | (?:and|or|so|y|o)$/g;
/** "Don't call me text me": a ban and a wish in one breath. */
const SECOND_REQUEST =
  /(?: (?:me|us|cal) (?:cal|text|mesage|email|write)|(?:text|mesage|email|contact) cal)(?: |$)/;
const ZERO_IN_WORD = /(?<=[a-z])0|0(?=[a-z])/g;

const keywords = compile(KEYWORDS);
const loneKeywords = compile(LONE_KEYWORDS);
const reasons = compile(REASONS);
const starts = compile(STARTS);
const demands = [...ENGLISH_DEMANDS, ...SPANISH_DEMANDS].map(foldDemand);
const spellings = new Map(SPELLINGS.map(([from, to]) => [squeeze(from), squeeze(to)]));
const respelled = new RegExp(`(?<= )(?:${longestFirst(spellings.keys()).join('|')})(?= )`, 'g');
const stopSlips = squeezeAll(STOP_SLIPS);
const politeWords = squeezeAll(POLITE_WORDS);
const leadWords = squeezeAll(LEAD_WORDS);
const wantingWords = squeezeAll(WANTING_WORDS);
const stackedKeywords = squeezeAll(STACKED_KEYWORDS);
const demandStarts = squeezeAll(DEMAND_STARTS);
const reasonWords = squeezeAll(REASON_WORDS);

/**
 * What a message says about being written to, or null where it says nothing about it. The whole
 * message has to mean it (spec S6); a text of more than 60 words never does.
 */
export function readOptOut(text: string): OptOutIntent | null {
  const message = readMessage(text);
  if (message === null) return null;
  if (HELP_WORDS.has(message.whole)) return 'help';
  if (matchesAny(starts, message.whole)) return 'start';
  if (meansStop(message)) return 'stop';
  const hasSlips = withoutSlips(message.whole) !== message.whole;
  return hasSlips && meansStop(message, withoutSlips) ? 'stop' : null;
}

/**
 * True where one clause asks for silence but the message as a whole is no opt-out ("stop texting,
 * call me"). Nothing is switched off then, and a person should read it.
 */
export function mentionsOptOut(text: string): boolean {
  const message = readMessage(text);
  if (message === null || meansStop(message)) return false;
  const kinds = message.clauses.flatMap((words) => clauseKinds(words, asWritten));
  return kinds.includes('demand') || kinds.includes('keyword');
}

function readMessage(text: string): Message | null {
  const lines = text.replace(LINE_BREAKS, ' . ');
  const normalized = squeeze(normalizeForMatching(lines)).replace(ZERO_IN_WORD, 'o');
  const words = wordsOf(normalized);
  if (words.length > MAX_WORDS) return null;
  if (words.length === 0) {
    return normalized.includes(STOP_SIGN) ? { whole: 'stop', clauses: [], asks: false } : null;
  }
  const isSpelledOut = words.every((word) => word.length === 1);
  return {
    whole: fold(isSpelledOut ? [words.join('')] : words),
    clauses: normalized.split(CLAUSE_BORDER).map(wordsOf),
    asks: normalized.includes('?'),
  };
}

/** One clause in the spelling of the patterns, without polite words. */
function fold(words: readonly string[]): string {
  const plain = words.map((word) =>
    stopSlips.has(word) ? 'stop' : word.slice(0, MAX_WORD_LENGTH),
  );
  const line = ` ${plain.join(' ')} `.replace(respelled, (form) => spellings.get(form) ?? form);
  const kept = line.split(' ').filter((word) => word !== '' && !politeWords.has(word));
  const once = kept.filter((word, index) => word !== kept[index - 1]);
  return once.join(' ').replace(DANGLING, '');
}

function meansStop(message: Message, repair: Repair = asWritten): boolean {
  const whole = repair(message.whole);
  if (isLoneKeyword(whole) || withoutLeads(whole).some(isKeyword)) return true;
  const kinds = message.clauses.flatMap((words) => clauseKinds(words, repair));
  if (kinds.includes('wants')) return false;
  if (kinds.includes('demand')) return !(message.asks && kinds.includes('other'));
  return (kinds.includes('keyword') || kinds.includes('lone')) && !kinds.includes('other');
}

/**
 * The kinds of what stands between two punctuation marks. Where it fits no pattern as a whole, it
 * is read in the parts that conjunctions and "please" begin, and at last as a reason and a demand
 * that run into each other ("wrong person stop texting me", "stop I am not interested").
 */
function clauseKinds(words: readonly string[], repair: Repair): ClauseKind[] {
  const kind = patternKind(repair(fold(words)));
  if (kind !== null) return [kind];
  return splitAt(words, CLAUSE_STARTS).flatMap((part): ClauseKind[] => {
    const clause = repair(fold(part));
    if (clause === '') return [];
    const partKind = patternKind(clause);
    if (partKind !== null) return [partKind];
    if (beginsWithKeyword(clause)) return ['keyword', 'reason'];
    return endsInDemand(clause) ? ['reason', 'demand'] : [statementKind(clause)];
  });
}

function beginsWithKeyword(clause: string): boolean {
  const [first = '', ...rest] = clause.split(' ');
  return isKeyword(first) && matchesAny(reasons, rest.join(' '));
}

function endsInDemand(clause: string): boolean {
  const words = clause.split(' ');
  return words.some((word, index) => {
    if (index === 0 || !demandStarts.has(word)) return false;
    const before = words.slice(0, index).join(' ');
    const givesReason = matchesAny(reasons, before) || hasAny(words.slice(0, index), reasonWords);
    const rest = words.slice(index).join(' ');
    return givesReason && (isKeyword(rest) || isDemand(rest));
  });
}

function splitAt(words: readonly string[], starts: ReadonlySet<string>): string[][] {
  const parts: string[][] = [[]];
  for (const word of words) {
    if (starts.has(word)) parts.push([]);
    else parts.at(-1)?.push(word);
  }
  return parts;
}

function patternKind(clause: string): ClauseKind | null {
  const rests = withoutLeads(clause);
  if (rests.some(isKeyword)) return 'keyword';
  if (isLoneKeyword(clause)) return 'lone';
  if (!SECOND_REQUEST.test(clause) && rests.some(isDemand)) return 'demand';
  return matchesAny(reasons, clause) ? 'reason' : null;
}

function statementKind(clause: string): ClauseKind {
  const words = clause.split(' ');
  if (words.length > MAX_STATEMENT_WORDS || hasAny(words, wantingWords)) return 'wants';
  return hasAny(words, reasonWords) ? 'reason' : 'other';
}

function isLoneKeyword(clause: string): boolean {
  if (matchesAny(loneKeywords, clause)) return true;
  return clause !== '' && clause.split(' ').every((word) => stackedKeywords.has(word));
}

function isKeyword(clause: string): boolean {
  return matchesAny(keywords, clause);
}

function isDemand(clause: string): boolean {
  return demands.some((demand) => fits(demand, clause));
}

/** The clause, and what remains of it after one lead word, two lead words and so on. */
function withoutLeads(clause: string): string[] {
  const words = clause.split(' ');
  const firstOther = words.findIndex((word) => !leadWords.has(word));
  const leads = firstOther < 0 ? words.length - 1 : firstOther;
  return Array.from({ length: leads + 1 }, (_, index) => words.slice(index).join(' '));
}

function fits(demand: Folded, clause: string): boolean {
  const opening = demand.opens.exec(clause)?.[0];
  if (opening === undefined) return false;
  const following = clause.slice(opening.length).split(' ').filter(Boolean);
  if (following.some((word) => !demand.allows.has(word))) return false;
  return demand.needs === null || hasAny(following, demand.needs);
}

function foldDemand({ opens, allows, needs }: Demand): Folded {
  return {
    opens: new RegExp(`^(?:${squeeze(opens)})(?= |$)`),
    allows: squeezeAll(allows),
    needs: needs ? squeezeAll(needs) : null,
  };
}

function asWritten(clause: string): string {
  return clause;
}

function compile(patterns: readonly string[]): readonly RegExp[] {
  return patterns.map((pattern) => new RegExp(`^(?:${squeeze(pattern)})$`));
}

function longestFirst(words: Iterable<string>): string[] {
  return [...words].sort((one, other) => other.length - one.length);
}

function matchesAny(patterns: readonly RegExp[], clause: string): boolean {
  return patterns.some((pattern) => pattern.test(clause));
}

function hasAny(words: readonly string[], set: ReadonlySet<string>): boolean {
  return words.some((word) => set.has(word));
}
