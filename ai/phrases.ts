import { hasPhrase, phraseIndex, phrasePositions, type PhraseIndex } from '../domain/phrases';

/** What people write when they want something, in English and Spanish, as phrases over words. */
export interface PhraseList {
  /** Phrases that say it. */
  readonly says: PhraseIndex;
  /** Phrases that only look like it and do not count: "call me before you come". */
  readonly not: PhraseIndex;
}

/** True where the words say what the list stands for. */
export function mentions(words: readonly string[], list: PhraseList): boolean {
  const leftOut = list.not.size === 0 ? [] : phrasePositions(words, list.not);
  return hasPhrase(words, list.says, leftOut);
}

/** A list of comma-separated phrases, with those that must not count. */
export function phraseList(says: readonly string[], not: readonly string[] = []): PhraseList {
  return { says: phraseIndex(...says), not: phraseIndex(...not) };
}

export const WANTS_PERSON = phraseList(
  [
    'real person, real human, actual person, actual human, live person, live agent, human being',
    'talk to a human, talk to a person, talk to someone, talk to somebody, talk to a real',
    'talk to a manager, talk to your manager, talk to the manager, talk to the owner, talk to an',
    'talk with someone, talk with a person, talk with a human, speak to a human, speak to a person',
    'speak to someone, speak to somebody, speak to a manager, speak to the manager',
    'speak to a real',
    'speak to the owner, speak to your manager, speak with someone, speak with a person',
    'speak with a human, speak with a manager, speak with the owner, speak with the manager',
    'representative, customer service, live chat, human please, a human, supervisor, a manager',
    'your manager, the manager, call me, call us, give me a call, give us a call, gimme a call',
    'give me a ring, phone me, ring me, callback, return my call, call my cell, call my phone',
    'someone call, somebody call, please call, call this number, are you a bot, are you a robot',
    'is this a bot, is this a robot, is this ai, are you ai, is this automated, are you human',
    'are you real, are you a real, am i talking to a bot, am i talking to a robot',
    'persona real, hablar con alguien, hablar con una persona, hablar con un humano',
    'hablar con el encargado, hablar con la encargada, hablar con el dueño, hablar con un agente',
    'un humano, llámeme, llámenme, llámame, me puede llamar, me pueden llamar, puede llamarme',
    'pueden llamarme, márqueme, márquenme, representante, es un robot, eres un robot, eres un bot',
    'es un bot, que me llamen, que me llame, encargado por favor',
  ],
  [
    "don't call me, don't call us, do not call me, do not call us, never call me",
    'no need to call me',
    "don't need to call me, don't have to call me, instead of calling me, please call before",
    'please call when, please call if, please call first, call me when you, call me before',
    'call me if, call me once, you can call me, people call me, they call me, everyone calls me',
    'property manager, building manager, no me llame, no me llamen, no me llames, not call me',
  ],
);

export const COMPLAINS = phraseList([
  'scam, scammer, scammers, scammed, ripoff, rip off, ripped off, ripped me off, fraud',
  'never showed, no showed, no show, didnt show, did not show, nobody showed, no one showed',
  'nobody called, no one called, left a mess, never came, nobody came, no one came',
  'never called back, never called me back, still waiting for',
  "didn't come, did not come, waiting for you, waiting all day, waiting for hours, nobody answers",
  'refund, my money back, lawyer, attorney, sue you, suing, lawsuit, small claims',
  'legal action, bbb',
  'better business bureau, bad review, one star, negative review, unacceptable, unprofessional',
  'disappointed, disgusted with, pathetic, overcharged, over charged, file a complaint',
  'a complaint',
  'make a complaint, you broke, you damaged, you ruined, furious, pissed off, angry, fed up',
  'incompetent, liar, liars, you lied, report you, waste of time, wasted my time',
  'worse than before',
  'terrible service, horrible service, awful service, worst service, bad service, poor service',
  'ignoring me, you ignored, estafa, estafadores, reembolso, devuelvan mi dinero',
  'mi dinero de vuelta',
  'devolver mi dinero, abogado, demandar, los voy a demandar, pésimo servicio, mal servicio',
  'pésimo',
  'nunca vinieron, nunca llegaron, no llegaron, no vinieron, nadie vino, nadie llegó, una queja',
  'quejarme, inaceptable, muy molesto, muy molesta, enojado, enojada, mentirosos, cobraron de más',
]);

/** Words of anger that describe a smell or a noise just as well. */
export const HARSH_WORDS: ReadonlySet<string> = new Set(
  'terrible horrible awful worst ridiculous rude'.split(' '),
);
/** Beside one of these a harsh word tells about the job, not about the business. */
export const NUISANCES: ReadonlySet<string> = new Set(
  (
    'smell smells smelling odor stench stink stinks noise noises sound sounds leak leaks ' +
    'mess stain ' +
    'stains clog shape condition pressure drip draft hum water looks look tastes taste storm ' +
    'weather ' +
    'olor huele ruido suena fuga mancha desastre'
  ).split(' '),
);

export const WANTS_PRICE = phraseList(
  [
    'price, prices, pricing, cost, costs, costing, how much, quote, quotes, quoted, estimate',
    'estimates, ballpark, rate, rates, you charge, charge for, charges, the charge',
    'charge me, charge extra, fee, fees, expensive, cheap, cheaper, cheapest, discount, discounts',
    'budget, afford, payment plan, precio, precios, cuánto cuesta, cuánto cuestan, cuánto cobra',
    'cuánto cobran, cuánto vale, cuánto sale, cuánto sería, cuánto me, cuánto saldría, cuánto es',
    'cotización, cotizar, presupuesto, tarifa, tarifas, costo, costos, cuesta, barato, descuento',
  ],
  [
    'how much water, how much longer, how much time, how much pressure, how much notice',
    'how much space, flow rate, interest rate',
  ],
);

export const WANTS_BOOKING = phraseList([
  'book, booking, appointment, appt, schedule, come out, come by, come over, stop by, come today',
  'come tomorrow, come now, come asap, come fix, come see, come take a look, can you come',
  'could you come, can someone come, send someone',
  'send somebody, send a, available, availability, set up a time, time slot, slot, slots',
  'a visit, home visit, site visit',
  'when can you, how soon can you, what times, reserve, opening, openings, sign me up',
  'get someone out',
  'cita, agendar, puede venir, pueden venir, puedes venir, pueden pasar, puede pasar, disponible',
  'disponibles, disponibilidad, visita, reservar, cuándo pueden, cuándo puede',
  'mandar a alguien, vengan',
]);

export const ROBOT = phraseList([
  'auto reply, autoreply, auto response, autoresponse, auto responder, automatic reply',
  'automatic response, automated message, automated response, automated reply',
  'this is an automated',
  'do not reply to this, please do not reply, not monitored, sent automatically',
  'out of office reply',
  'driving with do not disturb, not receiving notifications, see your message when i get where',
  'we have received your message, we received your message, we will get back',
  'someone will get back',
  "we'll get back, respond as soon as possible, reply stop to, text stop to",
  'message and data rates',
  'msg data rates, respuesta automática, mensaje automático, no responda a este mensaje',
  'le responderemos, hemos recibido su mensaje',
]);
/** A person may say these too, so beside a question they do not make a robot. */
export const MAYBE_ROBOT = phraseList([
  'out of office, out of the office, currently away, on vacation until, fuera de la oficina',
  'currently driving, currently unavailable, cannot talk right now, no puedo contestar',
]);

export const CLOSES = phraseList([
  'not interested, no longer need, no longer needed, no longer interested, dont need you',
  'found someone',
  'found somebody, found another, hired someone, hired another, went with, wrong number',
  'never mind',
  "nevermind, nvm, already fixed, it's fixed, got it fixed, fixed it myself, changed my mind",
  "don't need it anymore, dont need anything, no me interesa, ya no necesito, ya no lo necesito",
  'ya encontré, número equivocado, olvídelo, ya se arregló, ya lo arreglé, ya está arreglado',
]);
