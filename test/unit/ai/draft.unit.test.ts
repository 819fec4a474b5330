import fc from 'fast-check';
import { draft } from '../../../ai/draft';
import { topicOf, TOPICS, wordingsOf } from '../../../ai/questions';
import { understand } from '../../../ai/understand';
import { WORDINGS } from '../../../ai/wording';
import { guardDraft } from '../../../domain/amounts';
import type { BusinessProfile, Draft, ThreadMessage } from '../../../domain/understanding';
import { CONVERSATIONS, threadOf } from '../../fixtures/conversations';
import { CLEANER, ELECTRICIAN, PLUMBER } from '../../fixtures/plumber-profile';
import { unitsOf } from '../../support/cost';

const LANGUAGES = ['en', 'es'] as const;
const answer = (thread: readonly ThreadMessage[], profile: BusinessProfile = PLUMBER): Draft =>
  draft(thread, understand(thread, profile), profile);

/** Lets the lead's lines arrive one by one, each answered before the next; the replies in order. */
function talk(profile: BusinessProfile, ...leadLines: readonly string[]): Draft[] {
  let thread: string[] = [];
  return leadLines.map((line) => {
    thread = [...thread, `> ${line}`];
    const drafted = answer(threadOf(...thread), profile);
    if (drafted.kind === 'reply') thread = [...thread, `< ${drafted.text}`];
    return drafted;
  });
}

const textOf = (drafted: Draft | undefined) => (drafted?.kind === 'reply' ? drafted.text : '');

describe('wordings', () => {
  const questions = LANGUAGES.flatMap((language) =>
    TOPICS.flatMap((topic) =>
      wordingsOf(topic, language, ['drain cleaning']).map((text) => ({ language, topic, text })),
    ),
  );
  const notes = LANGUAGES.flatMap((language) => {
    const { danger, price, booking } = WORDINGS[language];
    return [...Object.values(danger), price, booking];
  });

  it.each(questions)('"$text" is one question, recognised as $topic [P3]', ({ topic, text }) => {
    expect(topicOf(text)).toBe(topic);
    expect(topicOf(`Thanks for writing. ${text}`)).toBe(topic);
    expect(text.split('?')).toHaveLength(2);
    expect(guardDraft(text)).toBe('ok');
  });

  it.each(notes)('"%s" promises nothing and asks nothing [L5]', (note) => {
    expect(guardDraft(note)).toBe('ok');
    expect(note).not.toContain('?');
  });

  it('each question has wordings enough never to repeat itself at once [P3]', () => {
    const counts = LANGUAGES.flatMap((language) =>
      TOPICS.map((topic) => wordingsOf(topic, language, []).length),
    );
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(2);
  });
});

describe('a conversation', () => {
  it('is led from the job to the visit, one open question at a time [P3]', () => {
    const replies = talk(
      PLUMBER,
      ...['Hi', 'clogged drain', '60614', 'next week', 'slow since Sunday', 'mornings', 'Dana'],
    );
    const topics = replies.map((drafted) => topicOf(textOf(drafted)));
    expect(topics).toEqual(['job', 'where', 'when', 'details', 'visit', 'name', 'more']);
  });

  it('an unanswered question comes back in other words, and not a third time [P3]', () => {
    const replies = talk(PLUMBER, 'clogged drain', 'hmm hold on', 'let me check', 'one moment');
    expect(replies.map((drafted) => topicOf(textOf(drafted)))).toEqual([
      ...['where', 'where', 'when', 'when'],
    ]);
    expect(new Set(replies.map(textOf)).size).toBe(4);
  });

  it('an emergency is told what to do once, and asked for neither photo nor hours [P3, L5]', () => {
    const replies = talk(
      PLUMBER,
      'pipe burst, water everywhere',
      'water everywhere!! 60614',
      'Dana',
    );
    expect(replies.map((drafted) => topicOf(textOf(drafted)))).toEqual(['where', 'name', 'more']);
    const advised = replies.filter((drafted) => textOf(drafted).includes('shut-off valve'));
    expect(advised).toHaveLength(1);
  });

  it('one answer covers a burst of several messages [P4b]', () => {
    const drafted = answer(threadOf('> Hi', '> water heater', '> 60614', '> today?', '> how much'));
    expect(textOf(drafted)).toContain('water heater repair in ZIP 60614');
    expect(textOf(drafted)).toContain('depends on the job');
    expect(topicOf(textOf(drafted))).toBe('details');
  });

  it('a lead who only says hello again and again never gets the same text twice running', () => {
    const texts = talk(PLUMBER, 'hi', 'hello?', 'hello??', 'anyone there', 'hey', 'hello').map(
      textOf,
    );
    const repeated = texts.filter((text, index) => text === texts[index - 1]);
    expect(repeated).toEqual([]);
    expect(texts.every((text) => topicOf(text) === 'job')).toBe(true);
  });

  it('a second question about the price goes to a person [Q3]', () => {
    const replies = talk(PLUMBER, 'How much for a drain?', 'just tell me the price');
    expect(replies.at(-1)).toEqual({ kind: 'handoff', reason: 'quote_requires_human' });
  });

  it('a name and labels that would break the guard are left out of the answer [Q3, SEC15]', () => {
    const profile: BusinessProfile = {
      name: '$99 Drains? www.drains.example',
      timeZone: 'America/Chicago',
      services: [{ id: 'free', label: 'free 24/7 repair', words: ['drain'] }],
    };
    const text = textOf(answer(threadOf('> my drain is clogged'), profile));
    expect(text).toBe('Thanks for your message. What is the ZIP code where you need us?');
  });

  it('a business without any service can still ask what is needed', () => {
    const profile: BusinessProfile = { name: '', timeZone: 'America/Chicago', services: [] };
    expect(topicOf(textOf(answer(threadOf('> Hi'), profile)))).toBe('job');
  });
});

describe('any thread', () => {
  const said = CONVERSATIONS.flatMap(({ thread }) => thread.map(({ text }) => text ?? ''));
  const anyText = fc.oneof(
    fc.constantFrom(...said),
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.array(fc.constantFrom(...said), { maxLength: 3 }).map((parts) => parts.join(' ')),
  );
  const anyMessage = fc.record({
    seq: fc.nat(),
    from: fc.constantFrom('lead' as const, 'lead' as const, 'business' as const),
    text: fc.option(anyText, { freq: 8 }),
    hasMedia: fc.boolean(),
    unsupported: fc.boolean(),
  });
  const anyThread = fc.array(anyMessage, { maxLength: 12 });
  const anyProfile = fc.oneof(
    fc.constantFrom(PLUMBER, CLEANER, ELECTRICIAN),
    fc.record({
      name: fc.string({ unit: 'binary', maxLength: 200 }),
      timeZone: fc.constant('America/Chicago'),
      services: fc.array(
        fc.record({ id: fc.string(), label: anyText, words: fc.array(anyText, { maxLength: 4 }) }),
        { maxLength: 4 },
      ),
    }),
  );

  it('gets a draft without an error, and every reply is short, safe, new and asks once [L5, P3]', () => {
    fc.assert(
      fc.property(anyThread, anyProfile, (thread, profile) => {
        const drafted = answer(thread, profile);
        if (drafted.kind !== 'reply') return;
        expect(guardDraft(drafted.text)).toBe('ok');
        expect(drafted.text.length).toBeLessThanOrEqual(320);
        expect(drafted.text.split('?')).toHaveLength(2);
        const before = thread.findLast(({ from }) => from === 'business');
        expect(drafted.text).not.toBe(before?.text);
      }),
      { numRuns: 2_000 },
    );
  });

  it('gets the same draft every time [P2]', () => {
    fc.assert(
      fc.property(anyThread, (thread) => {
        expect(answer(thread)).toEqual(answer(structuredClone(thread)));
      }),
    );
  });

  it('never sees its own words again in a reply, a ZIP code apart [SEC15]', () => {
    const secret = fc.stringMatching(/^[a-z]{5,12}zq$/);
    fc.assert(
      fc.property(anyThread, secret, (thread, word) => {
        const message = { seq: 99, from: 'lead', text: `my drain ${word}` } as const;
        const drafted = answer([...thread, { ...message, hasMedia: false, unsupported: false }]);
        expect(textOf(drafted)).not.toContain(word);
      }),
    );
  });
});

describe('speed', () => {
  it('a usual thread costs at most four passes over 100 kB of text [P4]', () => {
    const { thread, profile } = CONVERSATIONS.find(({ title }) => title.includes('oak park'))!;
    for (let run = 0; run < 200; run += 1) answer(thread, profile);
    const batch = unitsOf(() => {
      for (let run = 0; run < 20; run += 1) answer(thread, profile);
    });
    expect(batch / 20).toBeLessThan(4);
  });

  const size = 100_000;
  it.each([
    ['one letter', 'a'.repeat(size)],
    ['service words', 'water heater '.repeat(size / 13)],
    ['ZIP codes', '60614 '.repeat(size / 6)],
    ['street numbers', '1 a b c '.repeat(size / 8)],
    ['capitals', 'in Aa Bb Cc '.repeat(size / 12)],
    ['questions', '?'.repeat(size)],
    ['stacked marks', `a${'\u0316\u0301'.repeat(size / 2)}`],
    ['opt-out starts', 'please stop texting me and '.repeat(size / 27)],
  ])('100 kB of %s cost at most 200 passes over such a text [SEC10]', (_, text) => {
    const thread = threadOf('> Hi', '< What is the ZIP code where you need us?', `> ${text}`);
    expect(unitsOf(() => void answer(thread))).toBeLessThanOrEqual(200);
  });

  it('a thread of 2 000 long messages costs at most 200 passes over 100 kB [SEC10]', () => {
    const lines = Array.from({ length: 2_000 }, (_, index) =>
      index % 3 === 2 ? '< How soon?' : `> ${'my sink leaks in Oak Park '.repeat(40)}`,
    );
    const thread = threadOf(...lines);
    expect(unitsOf(() => void answer(thread))).toBeLessThanOrEqual(200);
  });
});
