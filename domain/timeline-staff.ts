import { STAFF_RULES } from './staff-decisions';

/**
 * What a person decided about a send, told in a sentence; null where no person did. `noun` names
 * the send without article, `wait` says "at once" or "in 5 min".
 */
export function staffDecisionText(rule: string | null, noun: string, wait: string): string | null {
  switch (rule) {
    case STAFF_RULES.draft:
      return `The drafted ${noun} waits until a person approves it.`;
    case STAFF_RULES.approved:
      return `A person approved the ${noun}; it may leave ${wait}.`;
    case STAFF_RULES.reply:
      return 'A person wrote to the lead; it may leave at once.';
    case STAFF_RULES.sendNow:
      return `A person decided that the ${noun} does not wait any longer.`;
    case STAFF_RULES.postpone:
      return `A person postponed the ${noun}; it may leave ${wait}.`;
    default:
      return null;
  }
}
