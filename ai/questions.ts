import { hasPhrase, phraseIndex } from '../domain/phrases';
import { normalizeForMatching, wordsOf } from '../domain/text';
import type { ThreadMessage, Understanding } from '../domain/understanding';

/** What a reply may ask about, in the order in which it is asked (spec P3). */
export const TOPICS = ['job', 'where', 'when', 'details', 'visit', 'name', 'more'] as const;
export type Topic = (typeof TOPICS)[number];

type Language = Understanding['language'];

/**
 * The wordings of each question. The first is asked first; the next where the first stayed
 * unanswered. `{services}` is filled with labels of the catalogue.
 */
const QUESTIONS: Readonly<Record<Language, Readonly<Record<Topic, readonly string[]>>>> = {
  en: {
    job: [
      'What do you need help with?',
      'Which job is it closest to: {services} or something else?',
      'In a few words, what would you like done?',
    ],
    where: [
      'What is the ZIP code where you need us?',
      'Which ZIP code or neighborhood is the job in?',
      'Where is the job, by ZIP code or nearest cross street?',
    ],
    when: [
      'How soon do you need this done?',
      'Is it urgent, or can it wait a few days?',
      'When would you like this done?',
    ],
    details: [
      'Can you send a photo or a few more details?',
      'Could you add a photo or describe it a bit more?',
    ],
    visit: [
      'Which times of day usually suit you for a visit?',
      'Do mornings or afternoons suit you better for a visit?',
    ],
    name: ['What name should we put on the request?', 'Which name should the request be under?'],
    more: [
      'Is there anything else the team should know?',
      'Would you like to add anything else for the team?',
    ],
  },
  es: {
    job: [
      '¿En qué le podemos ayudar?',
      '¿Qué trabajo necesita que se haga?',
      'En pocas palabras, ¿qué necesita?',
    ],
    where: [
      '¿Cuál es el código postal del lugar?',
      '¿En qué código postal o vecindario es el trabajo?',
      '¿Dónde es el trabajo, por código postal o esquina más cercana?',
    ],
    when: [
      '¿Para cuándo lo necesita?',
      '¿Es urgente o puede esperar unos días?',
      '¿Cuándo le gustaría que se haga?',
    ],
    details: [
      '¿Nos puede mandar una foto o más detalles?',
      '¿Podría agregar una foto o describirlo un poco más?',
    ],
    visit: [
      '¿Qué horario le conviene normalmente para una visita?',
      '¿Le conviene más por la mañana o por la tarde para una visita?',
    ],
    name: ['¿A qué nombre ponemos la solicitud?', '¿Con qué nombre registramos la solicitud?'],
    more: ['¿Hay algo más que el equipo deba saber?', '¿Quiere agregar algo más para el equipo?'],
  },
};

/** Words by which a question shows its topic, the most telling topic first. */
const TOPIC_SIGNS = [
  ['more', phraseIndex('anything else, add anything, algo más')],
  ['name', phraseIndex('name, nombre')],
  ['visit', phraseIndex('times, best time, time of day, what time, afternoons, horario, conviene')],
  ['details', phraseIndex('photo, photos, picture, details, describe, foto, fotos, detalles')],
  ['where', phraseIndex('zip, where, address, neighborhood, located, postal, dirección, dónde')],
  ['when', phraseIndex('soon, urgent, when, urgente, cuándo')],
  ['job', phraseIndex('help, job, what, which, ayudar, trabajo, qué')],
] as const;

const MAX_LISTED_SERVICES = 3;
/** Beyond this the list would crowd out the rest of a short message. */
const MAX_LIST_CODE_UNITS = 90;
const MAX_READ_CODE_UNITS = 2_000;

/** The wordings of a question in their order; never empty. */
export function wordingsOf(
  topic: Topic,
  language: Language,
  serviceLabels: readonly string[],
): readonly string[] {
  const list = serviceLabels.slice(0, MAX_LISTED_SERVICES).join(', ');
  const listable = list !== '' && list.length <= MAX_LIST_CODE_UNITS;
  return QUESTIONS[language][topic]
    .filter((wording) => listable || !wording.includes('{services}'))
    .map((wording) => wording.replace('{services}', () => list));
}

/** What the last question of a business's message asks about, or null where it asks nothing. */
export function topicOf(text: string | null): Topic | null {
  const questions = normalizeForMatching((text ?? '').slice(-MAX_READ_CODE_UNITS)).split('?');
  if (questions.length < 2) return null;
  const words = wordsOf(questions.at(-2)?.split(/[.!] /).at(-1) ?? '');
  return TOPIC_SIGNS.find(([, signs]) => hasPhrase(words, signs))?.[0] ?? null;
}

/** How often the business asked about each topic in the thread. */
export function countAsked(thread: readonly ThreadMessage[]): Readonly<Record<Topic, number>> {
  const asked = { job: 0, where: 0, when: 0, details: 0, visit: 0, name: 0, more: 0 };
  for (const { from, text } of thread) {
    const topic = from === 'business' ? topicOf(text) : null;
    if (topic !== null) asked[topic] += 1;
  }
  return asked;
}
