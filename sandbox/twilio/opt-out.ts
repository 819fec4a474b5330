import type { SandboxContext } from '../context';
import type { SandboxAccount } from '../accounts';
import type { Person } from '../people';

const STOP_WORDS = new Set([
  ...['STOP', 'UNSUBSCRIBE', 'END', 'QUIT', 'STOPALL', 'REVOKE', 'OPTOUT', 'CANCEL'],
]);
const START_WORDS = new Set(['START', 'UNSTOP', 'YES']);
const HELP_WORDS = new Set(['HELP', 'INFO']);

const STOPPED =
  'You have successfully been unsubscribed. You will not receive any more messages from this ' +
  'number. Reply START to resubscribe.';
const STARTED =
  'You have successfully been re-subscribed to messages from this number. Reply HELP for help. ' +
  'Reply STOP to unsubscribe. Msg&Data Rates May Apply.';
const HELP = 'Reply STOP to unsubscribe. Msg&Data Rates May Apply.';

/**
 * Does what Twilio does on its default keywords, which must be the whole message: it blocks or
 * unblocks the number itself. Returns its own answer to the phone, or null where it stays silent.
 */
export function applyOptOutKeyword(
  context: SandboxContext,
  account: SandboxAccount,
  message: { readonly person: Person; readonly text: string },
): string | null {
  const { person } = message;
  const word = message.text.trim().toUpperCase();
  const blocked = context.sms.isBlocked(account.externalId, person.phone);
  if (STOP_WORDS.has(word)) {
    context.sms.setBlocked(account.externalId, person.phone, true);
    return blocked ? null : STOPPED;
  }
  if (START_WORDS.has(word) && blocked) {
    context.sms.setBlocked(account.externalId, person.phone, false);
    return STARTED;
  }
  return HELP_WORDS.has(word) && !blocked ? HELP : null;
}
