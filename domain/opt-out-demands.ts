import { union, wordSet } from './opt-out-phrases';

/**
 * A clause that says whom or what to stop. It opens with `opens`, and every further word is one of
 * `allows`, so that "stop texting me" is a demand and "stop texting me before 8" is not. Where
 * `needs` is given, one of its words must follow: "stop the texts", but not "stop the leak".
 */
export interface Demand {
  readonly opens: string;
  readonly allows: ReadonlySet<string>;
  readonly needs?: ReadonlySet<string>;
}

const WHOM = wordSet(
  'me us my this that these those the all any your you from to at on with of up out in it or',
  'and nor',
  'here phone phones cell number numbers family people guys company business a an another w',
);
const DOING = wordSet(
  'texting messaging contacting calling emailing writing bothering spamming harassing bugging',
  'pestering annoying pinging sending soliciting replying responding reaching following hitting',
  'blowing dming talking asking bombarding',
);
const BASE_VERBS = wordSet(
  'text message contact email write bother spam harass bug pester annoy ping solicit reach dm',
  'disturb reply respond talk hit call send follow',
);
const MESSAGES = wordSet(
  'texts messages sms emails promos promotions ads spam marketing communication communications',
  'mailings followups solicitations',
);
const THINGS = union(
  MESSAGES,
  wordSet('calls notifications alerts reminders subscription subscriptions text message email'),
  wordSet('conversation chat thread contact bs crap shit nonsense harassment stuff questions'),
);
const SOON = wordSet(
  'now already immediately forever more further other such every day everyday constantly asap',
  'anymore again ever period once trying try getting receiving anything else her his lol ok',
  'line lines',
);
const NEVER = wordSet(
  'anymore again ever never more further forever period no now at all future about this lol',
  'ok ya line lines',
);
const AGAIN = wordSet('anymore again ever forever period');
const PERSONAL = wordSet('me us number phone cell line here');
const LISTS = wordSet(
  'list lists database databases system systems contacts records record file files directory',
  'mailing marketing texting sms text texts call calling calls customer client message messages',
  'messaging spam subscriber distribution email emails everything name number phone cell info',
  'information contact data details registry service services',
);
const LISTED = union(WHOM, LISTS, SOON, wordSet('off out permanently completely entirely forever'));
const IDENTITY = wordSet(
  'me us number name info information contact data details email phone cell',
);
const OFF = wordSet('off');
const LIST_NAMES = wordSet('list lists database system records contacts file texts messages');

const REQUEST =
  '(?:(?:(?:can|could|would|will) (?:you|yall)|you)(?: guys| people| all)?' +
  '(?: (?:need to|must|should|have to|better|can))? )?' +
  '(?:(?:i|we|id|ive|im)(?: have| am)?(?: already)? (?:want' +
  '|need|would like|like|asked|told|ask|asking|demand)' +
  ' (?:that )?you(?: guys| people| all)?(?: to)? )?';
/** "I would like to", "how do I", "can you": beside a list they change nothing. */
const ANY_REQUEST =
  '(?:(?:i|we|id|ill|you|can|could|would|will|to' +
  '|want|like|need|wish|choose|prefer|how|where|do|be' +
  '|am|im|hereby|trying|have|must|should|get) ){0,7}';

const SUBSCRIBED = wordSet('subscription texts messages alerts notifications text sms');

const APPRECIATED =
  '(?:i would|id) (?:appreciate|love|like|prefer)(?: it)? if you(?: would| could)? ';

const STOPPING: readonly Demand[] = [
  {
    opens:
      `(?:${REQUEST}|${APPRECIATED})(?:stop|stopped|quit` +
      `|cease|discontinue|halt|end|no more|no further|enough)`,
    allows: union(WHOM, DOING, THINGS, SOON, wordSet('reach contact'), wordSet('lets')),
    needs: union(DOING, THINGS, wordSet('reach')),
  },
  { opens: 'cancel(?: (?:my|the|this|these|all|your))*', allows: SUBSCRIBED, needs: SUBSCRIBED },
  {
    opens: 'no',
    allows: union(MESSAGES, NEVER, wordSet('calls or and')),
    needs: wordSet('texts messages sms'),
  },
  {
    opens:
      'how (?:do|can|to)(?: i| we)? (?:stop|(?:get|make)(?= (?:these|the|this|those|your) .*stop))',
    allows: union(WHOM, THINGS, wordSet('stop getting receiving')),
    needs: union(MESSAGES, wordSet('these')),
  },
  {
    opens: '(?:i|we|id)(?: (?:want|would like|wish|need|like))? to stop (?:receiving|getting)',
    allows: union(WHOM, THINGS, SOON),
    needs: THINGS,
  },
  {
    opens:
      '(?:i am|im|my number is|this number is|we are|were) on the(?: national| federal| state)?' +
      ' nocall',
    allows: wordSet('list registry'),
  },
  { opens: 'cease and desist|nocall list|dnc', allows: WHOM },
];

const FORBIDDING: readonly Demand[] = [
  {
    opens: '(?:dont|never)(?: you)?(?: ever)?(?: call or| call and)? (?:text|message|contact)',
    allows: union(WHOM, BASE_VERBS, NEVER),
  },
  {
    opens:
      '(?:dont|never|no)(?: you)?(?: ever)?(?: call or)? (?:email|write|bother|spam|harass|bug' +
      '|pester|annoy|ping|solicit|reach|dm|disturb|reply|respond|talk|hit|followups|follow)',
    allows: union(WHOM, BASE_VERBS, NEVER),
    needs: wordSet('me us'),
  },
  { opens: 'dont(?: you)? call', allows: union(WHOM, NEVER), needs: AGAIN },
  {
    opens: 'dont(?: you)?(?: ever)? call (?:or|and|nor) (?:text|message|contact|email|write)',
    allows: union(WHOM, NEVER),
  },
  {
    opens: '(?:never|dont ever|dont you ever) call',
    allows: union(WHOM, BASE_VERBS, NEVER),
    needs: PERSONAL,
  },
  {
    opens: '(?:dont|never)(?: ever)? send',
    allows: union(WHOM, THINGS, NEVER, wordSet('anything else other')),
    needs: union(THINGS, wordSet('anything')),
  },
  {
    opens:
      '(?:(?:i|we) )?(?:dont|no longer|never) (?:want|need|wish|like|care|accept|consent|agree)',
    allows: union(WHOM, THINGS, NEVER, wordSet('be to receive get see have hear')),
    needs: MESSAGES,
  },
  {
    opens:
      '(?:(?:i|we) )?(?:dont|no longer|never) (?:want|wish|like|care|consent|agree)(?: to)?' +
      '(?: (?:be|being|get))? (?:contacted|texted|messaged|bothered|emailed|spammed)',
    allows: union(WHOM, NEVER),
  },
  {
    opens:
      '(?:(?:i|we) )?(?:dont|no longer|never) (?:want|wish|like|care)(?: to)?' +
      ' (?:hear|talk|speak|chat) (?:from|to|with)(?: any of)? you',
    allows: union(WHOM, NEVER),
  },
  {
    opens:
      '(?:(?:i|we) )?(?:dont|no longer) (?:want|like|need) you(?: guys| people)?(?: to)?' +
      ' (?:text|message|contact|bother|write|email|texting|messaging|contacting)',
    allows: union(WHOM, BASE_VERBS, NEVER),
  },
  {
    opens: '(?:im |i am )?not interested in',
    allows: union(WHOM, THINGS, NEVER, wordSet('receiving getting')),
    needs: MESSAGES,
  },
];

const LEAVING: readonly Demand[] = [
  {
    opens: `${ANY_REQUEST}(?:take|get|strike|cross|scrub)(?= (?:me|us|my|this) )`,
    allows: LISTED,
    needs: OFF,
  },
  {
    opens: `${ANY_REQUEST}(?:take|pull|get) (?:me|us|my|this)(?=.* out of )`,
    allows: LISTED,
    needs: LIST_NAMES,
  },
  {
    opens:
      `${ANY_REQUEST}(?:remove|delete|erase|lose|forget` +
      `|wipe)(?: all)?(?= (?:me|us|my|this)(?: |$))`,
    allows: LISTED,
    needs: IDENTITY,
  },
  {
    opens: `${ANY_REQUEST}(?<=be |get )(?:removed|deleted|unsubscribed|taken off|left alone)`,
    allows: LISTED,
  },
  {
    opens:
      `${ANY_REQUEST}(?:my|this) (?:name|number|phone number|info)(?: needs to| should)?(?: be)?` +
      ' (?:removed|deleted|taken off|erased)',
    allows: LISTED,
  },
  { opens: `${ANY_REQUEST}off`, allows: LISTED, needs: LIST_NAMES },
  {
    opens:
      `${ANY_REQUEST}(?:unsubscribe|unsub|optout|optingout` +
      `|(?:opt|opting) (?:me|us|(?:my|this) number) out)`,
    allows: union(LISTED, THINGS),
  },
  {
    opens: '(?:put|add) (?:me|us|my number|this number) (?:on|to)(?: (?:your|the|a))?',
    allows: union(LISTED, wordSet('dont no call contact text dnc nocall list now')),
    needs: wordSet('dont dnc nocall'),
  },
  {
    opens:
      '(?:i )?(?:hereby )?(?:revoke|withdraw|rescind|take back)(?: (?:my|all|any|prior))*' +
      ' (?:consent|permission|authorization)(?: [a-z]+){0,7}',
    allows: WHOM,
  },
  {
    opens:
      '(?:i|you|we) (?:never|dont|didnt|no longer) (?:gave|give|have|had)(?: you| my| any)*' +
      ' (?:consent|permission|authorization)(?: [a-z]+){0,5}',
    allows: WHOM,
  },
  {
    opens:
      `${REQUEST}(?:leave (?:me|us) (?:alone|be)|go away` +
      `|get lost|buzz off|fuck off|piss off|bug off` +
      '|back off|knock it off|cut it out|shut up and leave me alone)',
    allows: SOON,
  },
];

/** The demands for silence in English. */
export const ENGLISH_DEMANDS: readonly Demand[] = [...STOPPING, ...FORBIDDING, ...LEAVING];
