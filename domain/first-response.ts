import { mentionsAmountOrPromise } from './amounts';
import { hasPhrase, phraseIndex } from './phrases';
import { normalizeForMatching, wordsOf } from './text';
import type { BusinessProfile, FirstResponseVerdict, Understanding } from './understanding';

/** Ways to ask which job it is, as they stand in a line of words. */
const JOB_QUESTIONS = phraseIndex(
  'help with, help you with, what do you need, what job, which job, what service, which service',
  'what work, like done, would you like us to, need done, going on, what happened',
  'le podemos ayudar, podemos ayudarle, que trabajo, que servicio, que necesita, que paso',
  'que sucede, le ayudamos, que le gustaria',
);

/**
 * Whether a reply counts as a first response (spec L5). It does where it names the service that
 * the lead asked for (or asks which one, while that is unknown), asks a question, and promises no
 * time, availability or price. Everything else is a mere acknowledgement.
 */
export function classifyFirstResponse(
  text: string,
  profile: BusinessProfile,
  understanding: Understanding,
): FirstResponseVerdict {
  if (!text.includes('?') || mentionsAmountOrPromise(text)) return 'acknowledgement';
  const words = wordsOf(normalizeForMatching(text));
  const names = phraseIndex(...serviceNames(profile, understanding));
  const relevant = hasPhrase(words, names.size > 0 ? names : JOB_QUESTIONS);
  return relevant ? 'meaningful' : 'acknowledgement';
}

function serviceNames(profile: BusinessProfile, understanding: Understanding): string[] {
  const service = profile.services.find(({ id }) => id === understanding.serviceId);
  const names = service ? [service.label, ...service.words] : [];
  return understanding.jobLabel === null ? names : [...names, understanding.jobLabel];
}
