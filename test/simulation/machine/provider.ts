import type { SendOutcome } from '../../../domain/sending';
import { at, type Attempt } from '../model/facts';
import type { ProviderAnswer } from './actions';
import { countFault, noteSometimes, type World } from './world';

const REFUSAL = {
  kind: 'not-accepted',
  retry: 'back-off',
  retryAfterMs: null,
  pausesAccount: false,
  optedOut: false,
} as const;

/** What `deliver` records where it did not begin the call. */
export const NOT_STARTED: SendOutcome = { ...REFUSAL, code: 'call_not_started' };

const UNKNOWN: SendOutcome = { kind: 'unknown', code: 'read_timeout' };

const REFUSALS: Record<
  Exclude<ProviderAnswer, 'accept' | 'accept-unheard' | 'unheard'>,
  SendOutcome
> = {
  'rate-limit': { ...REFUSAL, code: 'rate_limited', retryAfterMs: 20_000 },
  'upstream-error': { ...REFUSAL, code: 'upstream' },
  refuse: { ...REFUSAL, code: 'refused', retry: 'never' },
  credentials: { ...REFUSAL, code: 'credentials', pausesAccount: true },
  'opted-out': { ...REFUSAL, code: 'opted_out', retry: 'never', optedOut: true },
};

/** One call: the provider's own ledger takes what it accepts, whoever hears of it. */
export function callProvider(
  world: World,
  attempt: Attempt,
  answer: ProviderAnswer = 'accept',
): SendOutcome {
  if (answer !== 'accept') countFault(world, `provider ${answer}`);
  switch (answer) {
    case 'accept':
      return { kind: 'accepted', providerMessageId: accept(world, attempt) };
    case 'accept-unheard':
      accept(world, attempt);
      noteSometimes(world, 'provider accepted, answer lost');
      return UNKNOWN;
    case 'unheard':
      return UNKNOWN;
    default:
      return REFUSALS[answer];
  }
}

function accept(world: World, attempt: Attempt): string {
  const providerMessageId = `provider-${world.accepted.length}`;
  const { account } = at(world.facts.conversations, attempt.conversation);
  world.accepted.push({
    sendId: attempt.sendId,
    attemptId: attempt.id,
    conversation: attempt.conversation,
    account,
    providerMessageId,
  });
  return providerMessageId;
}
