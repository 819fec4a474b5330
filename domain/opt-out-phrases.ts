/**
 * The words by which people ask for silence, written as `normalizeForMatching` leaves them: lower
 * case, no accents, no apostrophes. `opt-out.ts` says how they are put together, and
 * `opt-out-demands.ts` holds the clauses that say whom or what to stop.
 */

/** A set of words, given as lines of words. */
export function wordSet(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(' ')));
}

/** Every word of the given sets. */
export function union(...sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  return new Set(sets.flatMap((set) => [...set]));
}

/** One spelling for what people write in many ways; the longest that stands somewhere counts. */
export const SPELLINGS: readonly (readonly [string, string])[] = [
  ...spelled('dont', 'do not, don t, donot, dnt, do nt'),
  ...spelled('nocall list', 'do not call list, dont call list'),
  ...spelled('nocall registry', 'do not call registry, dont call registry'),
  ...spelled('you', 'u'),
  ...spelled('your', 'ur'),
  ...spelled('text', 'txt'),
  ...spelled('texts', 'txts'),
  ...spelled('texting', 'txting'),
  ...spelled('message', 'msg, mssg'),
  ...spelled('messages', 'msgs'),
  ...spelled('messaging', 'msging'),
  ...spelled('want to', 'wanna'),
  ...spelled('anymore', 'any more, any longer'),
  ...spelled('thanks', 'thank you, thanks a lot, thank u'),
  ...spelled('now', 'right now, right away'),
  ...spelled('optout', 'opt out'),
  ...spelled('optingout', 'opting out'),
  ...spelled('optedout', 'opted out'),
  ...spelled('optin', 'opt in'),
  ...spelled('unsubscribe', 'un subscribe'),
  ...spelled('followups', 'follow up, follow ups'),
  ...spelled('damn', 'the fuck, the hell, the heck, god damn'),
  ...spelled('porfavor', 'por favor, por favour'),
];

function spelled(spelling: string, forms: string): (readonly [string, string])[] {
  return forms.split(', ').map((form) => [form, spelling]);
}

/** Words that change nothing about an intent, wherever they stand. */
export const POLITE_WORDS = wordSet(
  'please pls plz plse plese pleas kindly just simply really thanks thx ty tks hi hello hey',
  'fucking fuckin fkn freaking fing damn goddamn bloody stupid sir maam madam',
  'porfavor porfa favor gracias hola senor senora',
);

/** Words that may stand before an intent without changing it. */
export const LEAD_WORDS = wordSet(
  'no ok okay so and well or then look listen seriously again yes yo omg lol wtf ugh sorry',
  'you guys',
  'people bro dude man last time for the not interested means jesus christ god gods sake once',
  'i said repeat stop alto basta ya oiga oye mire que',
);

/** Typing slips of the one word that matters most, none of them a common word itself. */
export const STOP_SLIPS = wordSet(
  'stpo sotp tsop dtop srop syop stip stpp stol stp sto stoo stope stopo stopl stiop stpop',
);

/** Forms that the patterns only hold as a stem, so that typing slips in them are mended too. */
export const INFLECTED_WORDS = wordSet(
  'escriba escriban escribas escribirme contacte contacten contactarme moleste molesten molestar',
  'molestarme mandarme enviarme llamarme llamen textees textearme busquen vuelvan vuelvas eliminen',
  'elimine borren quiten quiteme quitenme cancele desuscribirme escribiendo tranquilo',
);

const SOON =
  '(?: (?:now|already|immediately|forever|anymore|again|asap|at once|period|for good|at all' +
  '|lol|man|bro|dude|ok|okay)){0,3}';

/** Keywords that count alone, after lead words at most. */
export const KEYWORDS: readonly string[] = [
  `(?:stop|stopall|quit|cease)(?: (?:it|this|that|all))?${SOON}`,
  `(?:revoke|optout|optingout|optedout|unsubscribe|unsub|desist|discontinue)${SOON}`,
  `(?:can|could|would|will) (?:you|yall)(?: guys| all)? (?:stop|quit)(?: (?:it|this|that))?${SOON}`,
  `(?:i|ive|we|weve)(?: have)?(?: already)? (?:told|asked` +
    `|said)(?: you)?(?: guys| people)?(?: to)? stop${SOON}`,
];

/** Keywords that people pile up: "stop end quit". */
export const STACKED_KEYWORDS = wordSet(
  'stop stopall quit end cancel unsubscribe revoke optout remove cease desist',
);

/** Keywords that also answer a question about the job: only polite words may stand beside them. */
export const LONE_KEYWORDS: readonly string[] = [
  `(?:end|cancel|remove)${SOON}|end (?:it|this)`,
  '(?:ya )?(?:alto|parar|paren?|para|basta|detener|detengan?se)(?: ya)?(?: ahora)?',
  'cancelar|cancele|(?:la )?baja|desuscribir(?:me)?',
];

/** Clauses that give a reason or say goodbye, and ask for nothing. */
export const REASONS: readonly string[] = [
  '(?:im |i am |we are |were )?(?:not|no longer) interested(?: in (?:this' +
    '|it|that|anything)| anymore| at all)?',
  '(?:no|nope|nah|no way|i said no|no means no|no more' +
    '|enough|no need(?: anymore| for (?:this|it))?)',
  '(?:sorry |i think )*(?:you have |you got |this is |its )?(?:the |a )?wrong (?:number|person)',
  '(?:i|we|ive|weve)(?: have)?(?: already)? (?:found|hired|got|went with|booked|used|chose|have)' +
    ' (?:someone|somebody|another|a|it|this|one)(?: [a-z]+){0,5}',
  '(?:were |im |we are |i am )?(?:all set|good|all good|done|busy|fine)(?: now| here)?',
  '(?:(?:i|we) )?(?:dont|no longer|didnt|never) (?:need' +
    '|want|know|ask|asked|request|requested|sign|signed' +
    '|subscribe|subscribed|recognize|agree|agreed)(?: (?:for' +
    '|up|to|it|this|that|these|you|who|is|are' +
    '|anything|help|your|services?|number|anymore|from|a|an|any|plumber|electrician|cleaner)){0,6}',
  'who (?:is this|are you|r you|r u|dis|this)(?: anyway| people| guys)?',
  '(?:this|that|it|its|thats|this is|that is|it is) (?:spam|a scam|harassment|illegal|annoying' +
    '|ridiculous|enough|too much|not ok|my last warning' +
    '|the last time|fixed|done|resolved)(?: now)?',
  '(?:i|ill|we|im) ?(?:will |am going to |going to ' +
    '|gonna |am )?(?:report|reporting|block|blocking' +
    '|sue|suing) (?:you|this|it|your)(?: [a-z]+){0,5}',
  '(?:i|ill|we|im) ?(?:will |am going to |going to |gonna |am )?(?:call|calling) (?:my|a|the)' +
    ' (?:lawyer|attorney|police|cops|fcc|bbb)',
  '(?:you|youre|you guys|you people|yall)(?: are' +
    '| r)? (?:annoying|harassing|spamming|spam|text too much' +
    '|keep texting)(?: me| too much)?',
  '(?:last|final) warning|i mean it|im serious|i am serious|for the last time|i said|bye|goodbye',
  '(?:have a )?(?:good|nice|great) (?:day|night|one)|god bless|never ?mind|(?:i )?changed my mind',
  '(?:i |we )?(?:already )?(?:fixed|got) it(?: [a-z]+){0,4}|(?:too|so) many (?:texts|messages)',
  '(?:how|where) did you get (?:my|this) number|this is(?:nt| not)(?: [a-z]+){1,2}',
  'not me|i never (?:contacted|called|texted|messaged|requested|wrote)(?: [a-z]+){0,4}',
  'this is (?:a|my)(?: (?:business|work|home|private|personal))? (?:line|number|phone|cell)',
  'sent from my(?: [a-z]+){1,3}',
  '(?:ya )?no (?:me interesa|quiero nada|estoy interesad[oa]' +
    '|estamos interesad[oa]s|lo necesito|los conozco)' +
    '(?: ya| mas)?',
  '(?:es )?(?:el )?(?:numero )?equivocado|se equivoc(?:o|aron)(?: de numero)?|quien es(?: usted)?',
  'ya (?:encontre|encontramos|tengo|contrate|contratamos|consegui)(?: [a-z]+){1,5}|es spam',
];

/** A statement with one of these is about being written to, and so is a reason. */
export const REASON_WORDS = wordSet(
  'number list registry nocall consent permission texts messages spam wrong moved someone hired',
  'found interested sold subscribed signed lawyer fcc report block harassment subscription',
  'died passed',
  'numero lista equivocado mensajes permiso consentimiento',
);

/** Words by which a clause still wants something; beside one of them a person decides. */
export const WANTING_WORDS = wordSet(
  'call calls phone text email message contact write reach instead rather until till before after',
  'except unless only but need needs want send come can could would when how what where which why',
  'help quote price cost tell schedule appointment book rebook reschedule tomorrow today tonight',
  'waiting still asap urgent leak leaking flooding burst use next later while put add change',
  'replace update',
  'llame llamen llameme llamenme mande mandeme escribame escribanme necesito quiero cuando cuanto',
  'pero hasta antes despues mejor solo venga vengan puede pueden urgente hoy manana todavia',
);

/** How an opted-out person comes back (spec S1): never a plain "yes", which also answers us. */
export const STARTS: readonly string[] = [
  '(?:start|unstop|subscribe|resubscribe|optin|iniciar|suscribir(?:me)?|reanudar)(?: again| now)?',
  'opt me(?: back)? in',
  '(?:(?:you can|you may|can you) )?(?:start' +
    '|resume) (?:texting|messaging|contacting) me(?: again)?',
  '(?:you can|you may) (?:text|message|contact) me again',
];
