import type { MessageElement } from '../../domain/inbound';

type OptOut = MessageElement['providerOptOut'];

/**
 * Twilio's default keywords on long codes (providers.md 5.2.11), matched on the whole message.
 * YES opts in at Twilio too, but it is also the plain answer to a question, so it stays a turn.
 */
const KEYWORDS: Readonly<Record<string, Exclude<OptOut, null>>> = {
  STOP: 'stop',
  UNSUBSCRIBE: 'stop',
  END: 'stop',
  QUIT: 'stop',
  STOPALL: 'stop',
  REVOKE: 'stop',
  OPTOUT: 'stop',
  CANCEL: 'stop',
  START: 'start',
  UNSTOP: 'start',
  HELP: 'help',
  INFO: 'help',
};

/** `OptOutType` of Advanced Opt-Out (providers.md 5.2.3). */
const OPT_OUT_TYPES: Readonly<Record<string, Exclude<OptOut, null>>> = {
  STOP: 'stop',
  START: 'start',
  HELP: 'help',
};

/**
 * What Twilio itself makes of the message: its own flag first, then its default words (spec S2).
 */
export function twilioOptOut(optOutType: string | null, body: string): OptOut {
  return (
    ownEntry(OPT_OUT_TYPES, (optOutType ?? '').trim().toUpperCase()) ??
    ownEntry(KEYWORDS, body.trim().toUpperCase())
  );
}

const VERBS = 'Liked|Disliked|Loved|Laughed at|Emphasi[sz]ed|Questioned';
const REMOVED =
  'Removed (?:a|an) (?:like|dislike|heart|laugh|exclamation|exclamation mark|question mark) from';
const EMOJI =
  '[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\p{Regional_Indicator}\\u200D\\uFE0F]+';
const QUOTED = '[“"][\\s\\S]*[”"]';
const THING =
  '(?:an? )?(?:image|photo|picture|movie|video|attachment|audio message|voice message|sticker|link|contact|location|file)';

/** The sentences that phones send for a reaction where the other side has no reactions. */
const REACTIONS: readonly RegExp[] = [
  new RegExp(`^(?:${VERBS}|${REMOVED}) (?:${QUOTED}|${THING})$`, 'u'),
  new RegExp(`^(?:Reacted |Removed )?(?:an? )?${EMOJI} (?:to|from) (?:${QUOTED}|${THING})$`, 'u'),
];

/** Invisible characters that Google's phones put around the quoted text. */
const INVISIBLE = /[\u200A\u200B\u2060\uFEFF]/gu;

/**
 * Says whether the text is a carrier's stand-in for a reaction, such as `Liked “…”`, which is no
 * turn (providers.md 5.2.5). Only the whole message counts: words after the quote are the lead's.
 */
export function isReactionFallback(body: string): boolean {
  const text = body.replace(INVISIBLE, '').trim();
  return REACTIONS.some((pattern) => pattern.test(text));
}

function ownEntry<Value>(table: Readonly<Record<string, Value>>, key: string): Value | null {
  return Object.hasOwn(table, key) ? (table[key] ?? null) : null;
}
