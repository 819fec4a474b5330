import { z } from 'zod';
import type { ReadBack } from '../../domain/sending';
import type { HttpEnding } from '../http';
import { bodyOf } from '../outcomes';
import type { ReadBackRequest } from '../port';

/** `date_created` has whole seconds, rounded down, and their clock is not ours. */
const TIME_ALLOWANCE_MS = 2_000;
/** Trial accounts put this in front of every text (providers.md 5.2.9). */
const TRIAL_PREFIX = 'Sent from your Twilio trial account - ';

const messageSchema = z.object({
  sid: z.string(),
  from: z.string().nullish(),
  to: z.string().nullish(),
  messaging_service_sid: z.string().nullish(),
  body: z.string().nullish(),
  direction: z.string(),
  date_created: z.string(),
});
type ListedMessage = z.infer<typeof messageSchema>;

const listSchema = z.object({
  messages: z.array(messageSchema),
  next_page_uri: z.string().nullish(),
});

/** Whom the list was asked about. */
export interface ListedAttempt {
  readonly phone: string;
  readonly request: ReadBackRequest;
}

/**
 * Looks for our text in Twilio's list of messages (providers.md 5.2.9). The list is filtered here
 * by `date_created`, because `date_sent` is null until the text leaves. Absence is claimed only
 * where the page reaches back before the attempt.
 */
export function judgeList(ending: HttpEnding, attempt: ListedAttempt): ReadBack {
  if (ending.kind !== 'answered') return { kind: 'unavailable', code: ending.code };
  if (ending.status !== 200) return { kind: 'unavailable', code: `http-${ending.status}` };
  const list = listSchema.safeParse(bodyOf(ending.body));
  if (!list.success) return { kind: 'unavailable', code: 'unreadable-list' };
  const earliestMs = Date.parse(attempt.request.attemptedAt) - TIME_ALLOWANCE_MS;
  const { messages, next_page_uri: nextPage } = list.data;
  const match = messages.find(
    (message) => isOurs(message, attempt) && Date.parse(message.date_created) >= earliestMs,
  );
  if (match !== undefined) return { kind: 'found', providerMessageId: match.sid };
  const reachesBack = messages.some((it) => Date.parse(it.date_created) < earliestMs);
  return reachesBack || !nextPage
    ? { kind: 'absent' }
    : { kind: 'unavailable', code: 'list-too-short' };
}

function isOurs(message: ListedMessage, { phone, request }: ListedAttempt): boolean {
  const { accountExternalId: account, text } = request;
  const isFromUs = message.from === account || message.messaging_service_sid === account;
  if (message.direction !== 'outbound-api' || message.to !== phone || !isFromUs) return false;
  const body = comparable(message.body ?? '');
  return body === comparable(text) || body === comparable(TRIAL_PREFIX + text);
}

/** Smart encoding replaces typographic characters by plain ones (providers.md 5.2.9). */
function comparable(text: string): string {
  return text
    .replace(/[‘’‚‛]/gu, "'")
    .replace(/[“”„‟«»]/gu, '"')
    .replace(/[‐‑‒–—―]/gu, '-')
    .replace(/…/gu, '...')
    .replace(/[\u00A0\u2002-\u200A\u202F]/gu, ' ')
    .replace(/[\u200B\u2060\uFEFF]/gu, '');
}
