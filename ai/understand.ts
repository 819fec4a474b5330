import { mentionsOptOut } from '../domain/opt-out';
import type { BusinessProfile, ThreadMessage, Understanding } from '../domain/understanding';
import { findService, type CatalogueMatch } from './catalogue';
import { readLanguage } from './language';
import { readLocation, type LocationClue } from './location';
import { isOpener, leadTexts, openBurst, recentMessages, type LeadText } from './messages';
import {
  COMPLAINS,
  HARSH_WORDS,
  mentions,
  NUISANCES,
  WANTS_BOOKING,
  WANTS_PERSON,
  WANTS_PRICE,
} from './phrases';
import { topicOf } from './questions';
import { readUrgency } from './urgency';

const PRONOUNS: ReadonlySet<string> = new Set(['it', 'its', 'this', 'that', 'esta', 'eso']);
const CORRECTIONS: ReadonlySet<string> = new Set(
  'actually instead sorry mean meant rather also really perdon digo tambien mejor'.split(' '),
);
const CURRENCY = /\p{Sc}/u;
/** "Call me Dana" gives a name; "Call me Tuesday" and "Call me ASAP" ask for a call. */
const CALLED_BY_NAME =
  /\b[Cc]all me (?!(?:At|On|When|Back|Now|Today|ASAP|Please|[A-Z][a-z]+day)\b)\p{Lu}\p{Ll}+/u;

/**
 * What the lead wants, read from its own messages by word lists alone (spec P2). The same thread
 * always gives the same result. Job, place, urgency, language and a wish to book are read over the
 * whole thread, and a later statement wins. A wish for a person, a complaint, a question about the
 * price and a bare opener are read from what the business has not answered yet.
 */
export function understand(
  thread: readonly ThreadMessage[],
  profile: BusinessProfile,
): Understanding {
  const recent = recentMessages(thread);
  const all = leadTexts(recent);
  const open = leadTexts(openBurst(recent));
  const match = readService(all, profile);
  return {
    serviceId: match?.service.id ?? null,
    jobLabel: match?.phrase ?? null,
    location: readLocation(locationClues(recent)),
    urgency: readUrgency(all),
    wantsPerson: open.some(asksForPerson),
    complains: open.some(isComplaint),
    wantsPrice: open.some(asksPrice),
    wantsBooking: all.some(({ words }) => mentions(words, WANTS_BOOKING)),
    bareOpener: open.length > 0 && open.every((text) => isOpener(text, profile)),
    language: readLanguage(all),
  };
}

/** True where a text asks what something costs. */
export function asksPrice({ words, raw }: LeadText): boolean {
  return CURRENCY.test(raw) || mentions(words, WANTS_PRICE);
}

function locationClues(thread: readonly ThreadMessage[]): LocationClue[] {
  return thread.flatMap((message, index) => {
    const before = thread[index - 1];
    const answersWhere = before?.from === 'business' && topicOf(before.text) === 'where';
    return leadTexts([message]).map((text) => ({ text, answersWhere }));
  });
}

function readService(texts: readonly LeadText[], profile: BusinessProfile): CatalogueMatch | null {
  return texts.reduce<CatalogueMatch | null>((known, text) => {
    const match = findService(text.words, profile.services);
    if (match === null) return known;
    return known !== null && onlyDescribes(match, text) ? known : match;
  }, null);
}

/** "It's leaking everywhere" says more about the known job; "it's the toilet" names another. */
function onlyDescribes(match: CatalogueMatch, { words }: LeadText): boolean {
  if (match.length > 1 || match.pointsAtThing) return false;
  const corrects = words.some((word) => CORRECTIONS.has(word));
  return !corrects && words.some((word) => PRONOUNS.has(word));
}

function asksForPerson({ words, raw }: LeadText): boolean {
  return mentions(words, WANTS_PERSON) && !CALLED_BY_NAME.test(raw);
}

function isComplaint({ words, raw }: LeadText): boolean {
  return mentions(words, COMPLAINS) || speaksHarshly(words) || mentionsOptOut(raw);
}

function speaksHarshly(words: readonly string[]): boolean {
  return words.some((word, index) => {
    if (!HARSH_WORDS.has(word)) return false;
    const around = words.slice(Math.max(0, index - 3), index + 3);
    return !around.some((neighbour) => NUISANCES.has(neighbour));
  });
}
