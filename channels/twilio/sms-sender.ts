import type { HttpClient, HttpEnding } from '../http';
import { notAccepted, outcomeOf, retryAfterMs } from '../outcomes';
import type { ProviderError } from '../outcomes';
import type { ChannelSender } from '../port';
import type { WireRecord } from '../wire-json';
import { TWILIO_ERRORS } from './errors';
import { judgeList } from './read-back';

/** Counted in UTF-16 units, which are never fewer than Twilio's characters (5.2.11). */
const UNITS_MAX = 1_600;
/** By default a text may wait in Twilio's queue for ten hours and leave stale (5.2.8). */
const VALIDITY_SECONDS = 300;
/** One page is plenty: texts between one pair of numbers since the attempt. */
const LIST_PAGE_SIZE = 50;

export interface TwilioSmsSenderOptions {
  readonly http: HttpClient;
  /** `https://api.twilio.com`, or the sandbox. */
  readonly apiUrl: string;
  readonly accountSid: string;
  readonly authToken: string;
  /** Our own origin, which Twilio calls back for statuses. */
  readonly publicUrl: string;
}

/**
 * Makes the sender of SMS over Twilio (providers.md 5.2.8 to 5.2.11). Throws where the account sid
 * or token is empty.
 */
export function makeTwilioSmsSender(options: TwilioSmsSenderOptions): ChannelSender {
  const { http, accountSid, authToken } = options;
  if (accountSid.trim() === '' || authToken.trim() === '') {
    throw new Error('The account sid or auth token of Twilio is empty.');
  }
  const apiBase = new URL(options.apiUrl).href.replace(/\/$/, '');
  const messagesUrl = `${apiBase}/2010-04-01/Accounts/${encodeURIComponent(accountSid)}/Messages.json`;
  const statusUrl = `${options.publicUrl.replace(/\/$/, '')}/webhooks/twilio/status`;
  const credentials = Buffer.from(`${accountSid}:${authToken}`).toString('base64');
  const authorization = `Basic ${credentials}`;

  const post = (form: Record<string, string>, timeoutMs: number): Promise<HttpEnding> =>
    http.call({
      method: 'POST',
      url: new URL(messagesUrl),
      headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
      timeoutMs,
    });

  return {
    channel: 'sms',
    replyWindowMs: null,
    canReadBack: true,
    fits: (text) => text !== '' && text.length <= UNITS_MAX,
    send: async ({ accountExternalId, attemptId, to, text }, { timeoutMs }) => {
      const phone = to.find(({ kind }) => kind === 'phone')?.value;
      if (phone === undefined) return notAccepted('no-address', 'never');
      const isService = accountExternalId.startsWith('MG');
      const form = {
        To: phone,
        [isService ? 'MessagingServiceSid' : 'From']: accountExternalId,
        Body: text,
        StatusCallback: `${statusUrl}?attempt=${encodeURIComponent(attemptId)}`,
        ValidityPeriod: String(VALIDITY_SECONDS),
      };
      return outcomeOf(await post(form, timeoutMs), {
        rules: TWILIO_ERRORS,
        readError: readTwilioError,
        readId: ({ sid }) => (typeof sid === 'string' && sid !== '' ? sid : null),
        waitMs: retryAfterMs,
      });
    },
    readBack: async (request) => {
      const phone = request.to.find(({ kind }) => kind === 'phone')?.value;
      if (phone === undefined) return { kind: 'unavailable', code: 'no-address' };
      const url = new URL(messagesUrl);
      const isService = request.accountExternalId.startsWith('MG');
      url.search = new URLSearchParams({
        To: phone,
        ...(isService ? {} : { From: request.accountExternalId }),
        PageSize: String(LIST_PAGE_SIZE),
      }).toString();
      const headers = { authorization };
      const { timeoutMs } = request;
      const ending = await http.call({ method: 'GET', url, headers, body: null, timeoutMs });
      return judgeList(ending, { phone, request });
    },
  };
}

/** Twilio's error body; a message has no `code`, and its own `error_code` is a later matter. */
function readTwilioError({ code, sid }: WireRecord): ProviderError | null {
  if (sid !== undefined || typeof code !== 'string') return null;
  return { code: Number(code), subcode: null };
}
