import type { Understanding } from '../domain/understanding';
import type { LeadText } from './messages';

const SPANISH: ReadonlySet<string> = new Set(
  (
    'hola gracias buenos buenas dias tardes noches necesito quiero tengo quisiera puede ' +
    'pueden podria ' +
    'podrian una un uno el los las del que por favor mi mis su sus esta estan es en con para ' +
    'cuanto cuesta ' +
    'cobran cuando donde como hay hoy ahora urgente agua calentador bano cocina casa inodoro ' +
    'fuga gotea ' +
    'goteando tapado drenaje limpieza limpiar luz electricista plomero no funciona se muy ' +
    'mas pero tambien ' +
    'si ya le me nos les lo ustedes usted alguien cita precio presupuesto ayuda semana lunes ' +
    'martes ' +
    'miercoles jueves viernes sabado domingo vivo queda cerca direccion codigo postal'
  ).split(' '),
);
const ENGLISH: ReadonlySet<string> = new Set(
  (
    'hi hello hey thanks thank please need want have has had i im you your my the a an is ' +
    'are was it its in on ' +
    'at for with and or of to do does did can could would will when where what how much ' +
    'today tomorrow now ' +
    'urgent water heater bathroom kitchen house toilet leak leaking clogged drain cleaning light ' +
    'electrician plumber not working very but also yes no me us someone appointment price ' +
    'quote help week ' +
    'monday tuesday wednesday thursday friday saturday sunday live near address zip code ' +
    'there any this ' +
    'that be been get got just so if from as'
  ).split(' '),
);
const SPANISH_SIGNS = /[¿¡ñ]|[áéíóú]/i;

/**
 * The language of the answer: that of the lead's newest text which shows one, English otherwise.
 * Numbers, names and emojis show none, so a ZIP code does not change the language.
 */
export function readLanguage(texts: readonly LeadText[]): Understanding['language'] {
  const shown = texts.map(languageOf).findLast((language) => language !== null);
  return shown ?? 'en';
}

function languageOf({ raw, words }: LeadText): Understanding['language'] | null {
  const spanish = count(words, SPANISH) + (SPANISH_SIGNS.test(raw) ? 1 : 0);
  const english = count(words, ENGLISH);
  if (spanish === english) return null;
  return spanish > english ? 'es' : 'en';
}

function count(words: readonly string[], language: ReadonlySet<string>): number {
  return words.filter((word) => language.has(word)).length;
}
