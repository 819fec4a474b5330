import type { Understanding } from '../domain/understanding';
import type { LeadText } from './messages';
import { mentions, phraseList } from './phrases';

type Urgency = Understanding['urgency'];

/** What kind of danger a lead describes; it decides which calm sentence the answer carries. */
export type Danger = 'gas' | 'electric' | 'sewage' | 'water';

const NO_HURRY = phraseList([
  "no rush, no hurry, not urgent, isn't urgent, not an emergency, no emergency, non emergency",
  'whenever, nothing urgent, not in a hurry, take your time, can wait, no es urgente, sin prisa',
  'no hay prisa, no tengo prisa, no es emergencia, no es una emergencia, cuando pueda',
  'cuando puedan',
  'cuando quiera, puede esperar',
]);
const GAS = phraseList([
  'gas leak, leaking gas, smell gas, smells like gas, smell of gas, gas smell, gas odor',
  'smelling gas',
  'carbon monoxide, co alarm, co detector going off, rotten eggs, fuga de gas, huele a gas',
  'olor a gas',
]);
const ELECTRIC = phraseList(
  [
    'sparks, sparking, spark, smoke, on fire, burning smell, smells like burning, smell burning',
    'electrical fire, caught fire, electrocuted, got shocked, shocked me, live wire, chispas, humo',
    'incendio, huele a quemado, corto circuito',
  ],
  ['smoke detector, smoke detectors, smoke alarm, smoke alarms, spark plug, detector de humo'],
);
const SEWAGE = phraseList([
  'sewage, sewer backup, sewer back up, sewer backing up, sewer backed up, backing up into',
  'poop water',
  'aguas negras, se regresa el drenaje',
]);
const WATER = phraseList(
  [
    'burst, bursted, bursting, busted pipe, flood, floods, flooded, flooding, gushing, pouring',
    'water everywhere, leaking everywhere, leaking badly, spraying, overflowing, overflowed',
    'overflow',
    "won't stop leaking, can't shut off, can't turn off, can't stop the water",
    'through the ceiling, from the ceiling, from ceiling',
    'inundación, inundado, inundada, inundando, inunda, reventado, reventada, reventó',
    'se sale el agua, agua por todos lados, agua por todas partes, no para de salir',
  ],
  ['flood light, flood lights, flood lamp, flood lamps, overflow drain, overflow plate'],
);
const OTHER_EMERGENCY = phraseList(
  [
    'emergency, urgent, urgently, urge, urgencia, no heat, heat is out, heat went out',
    'no water, sin agua, sin luz',
    'sin calefacción, no hay agua, no hay luz, no hay calefacción, urgente, emergencia',
    'no tengo agua',
  ],
  [
    'no water pressure, emergency light, emergency lights, emergency exit, no hay agua caliente',
    'sin agua caliente, no tengo agua caliente',
  ],
);
const SOON_BY_TIME = phraseList(
  [
    'today, tonight, tomorrow, asap, now, right away, immediately, as soon as possible',
    'this morning',
    'this afternoon, this evening, this week, this weekend, mañana, soon, quickly, monday',
    'tuesday, wednesday',
    'thursday, friday, saturday, sunday, hoy, ahora, ahorita, cuanto antes',
    'lo antes posible, inmediatamente, esta tarde, esta noche, esta semana, pronto, lunes, martes',
    'miércoles, jueves, viernes, sábado, domingo',
  ],
  [
    'for now, until now, by now, how soon, before now, por ahora, hasta ahora, la mañana',
    'las mañanas',
  ],
);
const FLEXIBLE = phraseList([
  'next week, next month, few weeks, couple weeks, couple of weeks, flexible, any time, anytime',
  'sometime, any day, eventually, later this month, planning, próxima semana, la otra semana',
  'próximo mes, cualquier día, no importa cuándo, mes que viene, semana que viene',
]);
const SOON_BY_FACT = phraseList(
  [
    'leak, leaks, leaking, leaked, no hot water, no power, power is out, backed up, fuga, goteando',
    'gotea, gotera, goteras, no hay agua caliente, sin agua caliente, no tengo agua caliente',
  ],
  ['no leak, no leaks, not leaking, isnt leaking, leak inspection, leak detection'],
);

/**
 * How urgent the job is over all texts of the lead, or null where nothing says so. A later word
 * wins, but "today?" does not calm a flood; only an explicit "no rush" does.
 */
export function readUrgency(texts: readonly LeadText[]): Urgency {
  return texts.reduce<Urgency>((known, { words }) => {
    const said = urgencyOf(words);
    const milder = said === 'soon' && known === 'emergency';
    if (said !== null) return milder ? known : said;
    return known ?? (mentions(words, SOON_BY_FACT) ? 'soon' : null);
  }, null);
}

function urgencyOf(words: readonly string[]): Urgency {
  if (mentions(words, NO_HURRY)) return 'flexible';
  if (dangerIn(words) !== null || mentions(words, OTHER_EMERGENCY)) return 'emergency';
  if (mentions(words, SOON_BY_TIME)) return 'soon';
  return mentions(words, FLEXIBLE) ? 'flexible' : null;
}

/** The newest danger that the texts describe, or null. Gas comes before all others. */
export function readDanger(texts: readonly LeadText[]): Danger | null {
  const dangers = texts.map(({ words }) => dangerIn(words));
  return dangers.includes('gas') ? 'gas' : (dangers.findLast((danger) => danger !== null) ?? null);
}

function dangerIn(words: readonly string[]): Danger | null {
  if (mentions(words, GAS)) return 'gas';
  if (mentions(words, ELECTRIC)) return 'electric';
  if (mentions(words, SEWAGE)) return 'sewage';
  return mentions(words, WATER) ? 'water' : null;
}
