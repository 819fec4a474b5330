import { guardDraft } from '../domain/amounts';
import { classifyFirstResponse } from '../domain/first-response';
import { readOptOut } from '../domain/opt-out';
import { hasPhrase, phraseIndex } from '../domain/phrases';
import { cleanText } from '../domain/text';
import type { BusinessProfile, Draft, ThreadMessage, Understanding } from '../domain/understanding';
import { isZip } from './location';
import {
  isClosing,
  isOpener,
  isThanks,
  lastBusinessText,
  leadTexts,
  openBurst,
  recentMessages,
  type LeadText,
} from './messages';
import { countAsked, TOPICS, topicOf, wordingsOf, type Topic } from './questions';
import { asksPrice } from './understand';
import { readDanger } from './urgency';
import { WORDINGS, type Named, type OpeningKind } from './wording';

/** Short enough for two segments of an SMS, and for reading on a lock screen. */
const MAX_REPLY_CODE_UNITS = 320;
/** Topics that a lead must answer to be served are asked again; the others once. */
const MAX_ASKED: Readonly<Record<Topic, number>> = {
  job: Infinity,
  where: 2,
  when: 2,
  details: 1,
  visit: 1,
  name: 1,
  more: Infinity,
};
/** A lead who wrote this many words has described the job. */
const DESCRIBED_WORDS = 30;

const TIME_OF_DAY = phraseIndex(
  'morning, mornings, afternoon, afternoons, evening, evenings, am, pm, noon, oclock, after work',
  'por la mañana, por la tarde, por la noche',
);
const NAME_GIVEN =
  /\b(?:my name is|name's|this is|i'm|i am|me llamo|mi nombre es|soy) \p{Lu}\p{Ll}+/u;
const NOTHING_MORE = phraseIndex(
  "no, nope, nah, nothing, that's it, that's all, that is all, all good, nada, es todo",
);
const MAX_NOTHING_MORE_WORDS = 6;

/** What a draft is made from; read once per turn. */
interface Turn {
  readonly thread: readonly ThreadMessage[];
  readonly burst: readonly ThreadMessage[];
  readonly texts: readonly LeadText[];
  readonly understanding: Understanding;
  readonly profile: BusinessProfile;
}

/**
 * What to do about the lead's unanswered messages: one reply that covers them all, a person, or
 * deliberately nothing. A reply names the service in the catalogue's words, asks one question that
 * is still open, promises nothing and repeats none of the lead's own text but a ZIP code (spec L5,
 * P3, P4b). Pure: the same thread gives the same draft.
 */
export function draft(
  thread: readonly ThreadMessage[],
  understanding: Understanding,
  profile: BusinessProfile,
): Draft {
  const recent = recentMessages(thread);
  const burst = openBurst(recent);
  const turn = { thread: recent, burst, texts: leadTexts(burst), understanding, profile };
  return withoutAnswer(turn) ?? handoff(turn) ?? reply(turn);
}

function withoutAnswer({ thread, burst, texts }: Turn): Draft | null {
  if (burst.length === 0) return { kind: 'no-answer', reason: 'covered' };
  // Ingest has already switched automation off; a draft must not undo that by accident.
  const intents = texts.map(({ raw }) => readOptOut(raw));
  const lastIntent = intents.findLast((intent) => intent === 'stop' || intent === 'start');
  if (lastIntent === 'stop') return { kind: 'no-answer', reason: 'covered' };
  if (texts.length === 0) {
    const onlyRobots = burst.every(({ text, hasMedia, unsupported }) => {
      return !hasMedia && !unsupported && (text ?? '').trim() !== '';
    });
    return onlyRobots ? { kind: 'no-answer', reason: 'robot' } : null;
  }
  return endsTalk(thread, burst, texts) ? { kind: 'no-answer', reason: 'thanks' } : null;
}

function endsTalk(
  thread: readonly ThreadMessage[],
  burst: readonly ThreadMessage[],
  texts: readonly LeadText[],
): boolean {
  const closes = texts.some(isClosing);
  if (closes && texts.every((text) => isClosing(text) || isThanks(text))) return true;
  const answered = lastBusinessText(thread);
  if (answered === null || burst.some(({ hasMedia, unsupported }) => hasMedia || unsupported)) {
    return false;
  }
  if (texts.every(isThanks)) return true;
  const wasLastQuestion = topicOf(answered) === 'more';
  return wasLastQuestion && texts.every((text) => isThanks(text) || saysNothingMore(text));
}

function saysNothingMore({ words }: LeadText): boolean {
  return words.length <= MAX_NOTHING_MORE_WORDS && hasPhrase(words, NOTHING_MORE);
}

function handoff({ thread, burst, understanding }: Turn): Draft | null {
  if (understanding.wantsPerson) return { kind: 'handoff', reason: 'lead_requested_human' };
  if (understanding.complains) return { kind: 'handoff', reason: 'complaint' };
  const earlier = leadTexts(thread.slice(0, thread.length - burst.length));
  const insists = understanding.wantsPrice && earlier.some(asksPrice);
  return insists ? { kind: 'handoff', reason: 'quote_requires_human' } : null;
}

function reply(turn: Turn): Draft {
  const found = candidates(turn).find((candidate) => mayLeave(candidate, turn.thread));
  const text = found ?? LAST_RESORT;
  const verdict = classifyFirstResponse(text, turn.profile, turn.understanding);
  return { kind: 'reply', text, verdict };
}

/** The plainest candidates always may leave; this only makes the function total. */
const LAST_RESORT = 'Thanks for your message. What do you need help with?';

function mayLeave(text: string, thread: readonly ThreadMessage[]): boolean {
  const asksOnce = text.split('?').length === 2;
  const fits = text.length <= MAX_REPLY_CODE_UNITS && asksOnce && guardDraft(text) === 'ok';
  return fits && text !== lastBusinessText(thread)?.trim();
}

/** Replies from the fullest to the plainest; the first that may leave is taken. */
function candidates(turn: Turn): string[] {
  const { language } = turn.understanding;
  const asked = countAsked(turn.thread);
  const topic = nextTopic(turn, asked);
  const labels = turn.profile.services.map(({ label }) => label);
  const wordings = wordingsOf(topic, language, labels);
  const skipped = topic === 'job' && asked.job === 0 && toldUnlistedJob(turn) ? 1 : 0;
  const start = (asked[topic] + skipped) % wordings.length;
  const questions = [...wordings.slice(start), ...wordings.slice(0, start)];
  const notes = notesFor(turn);
  return openings(turn).flatMap((opening) =>
    [notes, notes.slice(0, 1), []].flatMap((some) =>
      questions.map((question) => [opening, ...some, question].join(' ')),
    ),
  );
}

/** The first sentence, from one that names everything to one that names nothing. */
function openings(turn: Turn): string[] {
  const { texts, understanding, profile } = turn;
  const { language, serviceId, jobLabel, location } = understanding;
  const service = profile.services.find(({ id }) => id === serviceId);
  // A Spanish text was matched by a Spanish phrase of the catalogue; its label may be English.
  const phrase = language === 'es' ? service?.words.find((word) => word === jobLabel) : undefined;
  const label = phrase ?? service?.label ?? null;
  const zip = isZip(location) && texts.some(({ raw }) => raw.includes(location)) ? location : null;
  const all: Named = {
    businessName: oneLine(profile.name),
    label: label === null ? null : oneLine(label),
    zip,
  };
  const plainer: Named[] = [
    all,
    { ...all, businessName: null },
    { ...all, label: null },
    { businessName: null, label: null, zip: null },
  ];
  const opening = WORDINGS[language].openings[openingKind(turn)];
  return plainer.map((named) => opening(named).replace('..', '.'));
}

function openingKind({ thread, burst, texts, understanding }: Turn): OpeningKind {
  if (texts.length === 0) return burst.some(({ hasMedia }) => hasMedia) ? 'media' : 'unsupported';
  if (lastBusinessText(thread) === null) return 'first';
  if (understanding.bareOpener) return 'nudge';
  const asks = texts.some(({ raw }) => raw.includes('?')) && !understanding.wantsPrice;
  return asks ? 'question' : 'noted';
}

/** The sentences between acknowledgement and question, the most important first. */
function notesFor({ thread, texts, understanding }: Turn): string[] {
  const wording = WORDINGS[understanding.language];
  const danger = readDanger(texts);
  const advice = danger === null ? [] : [wording.danger[danger]];
  const saidBefore = (note: string) =>
    thread.some(({ from, text }) => from === 'business' && text?.includes(note));
  const price = understanding.wantsPrice ? [wording.price] : [];
  const booking = understanding.wantsBooking && price.length === 0 ? [wording.booking] : [];
  return [...advice, ...price, ...booking].filter((note) => !saidBefore(note));
}

function nextTopic(turn: Turn, asked: Readonly<Record<Topic, number>>): Topic {
  const known = knownTopics(turn, asked);
  const open = TOPICS.find((topic) => !known.has(topic) && asked[topic] < MAX_ASKED[topic]);
  return open ?? 'more';
}

function knownTopics(
  { thread, understanding, profile }: Turn,
  asked: Readonly<Record<Topic, number>>,
): ReadonlySet<Topic> {
  const texts = leadTexts(thread);
  const emergency = understanding.urgency === 'emergency';
  const wordCount = texts.reduce((sum, { words }) => sum + words.length, 0);
  const sentMedia = thread.some(({ from, hasMedia }) => from === 'lead' && hasMedia);
  const facts: readonly (readonly [Topic, boolean])[] = [
    ['job', understanding.serviceId !== null || toldAnotherJob(texts, profile, asked.job)],
    ['where', understanding.location !== null],
    ['when', understanding.urgency !== null],
    // Whoever has water on the floor is asked neither for photos nor for a convenient hour.
    ['details', emergency || sentMedia || wordCount >= DESCRIBED_WORDS],
    ['visit', emergency || texts.some(({ words }) => hasPhrase(words, TIME_OF_DAY))],
    ['name', texts.some(({ raw }) => NAME_GIVEN.test(raw))],
  ];
  return new Set(facts.filter(([, known]) => known).map(([topic]) => topic));
}

/** Whoever has described a job that is not on the list is asked which kind it is, not what. */
function toldUnlistedJob({ texts, profile }: Turn): boolean {
  const asks = texts.some(({ raw }) => raw.includes('?'));
  return !asks && texts.some((text) => describesSomething(text, profile));
}

/** The lead has answered twice with a job that is not on the list; asking again would not help. */
function toldAnotherJob(
  texts: readonly LeadText[],
  profile: BusinessProfile,
  timesAsked: number,
): boolean {
  return timesAsked > 1 && texts.some((text) => describesSomething(text, profile));
}

function describesSomething(text: LeadText, profile: BusinessProfile): boolean {
  return text.words.length > 2 && !isOpener(text, profile);
}

function oneLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim();
}
