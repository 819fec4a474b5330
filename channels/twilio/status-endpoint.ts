import type { InboundElement, StatusElement } from '../../domain/inbound';
import { isId } from '../../domain/ids';
import type { RawRequest, WebhookEndpoint } from '../port';
import { fieldOf, readForm } from './form';
import { isSid, quarantinedRequest, smsFrame } from './reading';
import { makeTwilioCheck } from './signature';
import type { TwilioEndpointOptions } from './signature';

/** Twilio's statuses in the words of the product (providers.md 5.2.5). */
const STATUSES: Readonly<Record<string, StatusElement['status']>> = {
  accepted: 'queued',
  scheduled: 'queued',
  queued: 'queued',
  sending: 'queued',
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  undelivered: 'failed',
  failed: 'failed',
  canceled: 'failed',
};

/**
 * Makes the endpoint of status callbacks. Our attempt id comes back in the query of the address
 * that we gave at sending, so a callback proves the acceptance even where the answer was lost
 * (providers.md 5.2.9). Throws where an auth token is missing or empty.
 */
export function makeTwilioStatusEndpoint(options: TwilioEndpointOptions): WebhookEndpoint {
  return {
    provider: 'twilio',
    verify: makeTwilioCheck(options),
    parse: (request) => [readStatus(request)],
    success: { contentType: 'text/xml', body: '<Response/>' },
  };
}

function readStatus(request: RawRequest): InboundElement {
  const form = readForm(request.body);
  if (form === null) return quarantinedRequest(request, '', 'too many parameters', false);
  const account = fieldOf(form, 'From') ?? '';
  const sid = ['MessageSid', 'SmsSid'].map((name) => fieldOf(form, name)).find(isSid);
  const wireStatus = fieldOf(form, 'MessageStatus') ?? fieldOf(form, 'SmsStatus') ?? '';
  const status = Object.hasOwn(STATUSES, wireStatus) ? STATUSES[wireStatus] : undefined;
  if (sid === undefined) return quarantinedRequest(request, account, 'MessageSid: missing', false);
  if (status === undefined) {
    return quarantinedRequest(request, account, 'MessageStatus: unknown', false);
  }
  const errorCode = errorCodeOf(fieldOf(form, 'ErrorCode'), wireStatus);
  // A failure that names its reason is news after one that does not, so the key holds the code.
  const key = ['status', sid, wireStatus, ...(errorCode === null ? [] : [errorCode])].join(':');
  return {
    ...smsFrame(account, key, [key]),
    type: 'status',
    providerMessageId: sid,
    status,
    attemptRef: attemptOf(request.target),
    errorCode,
    watermark: null,
  };
}

/** Twilio writes 0 for none; a cancelled message has no code, so its status says why. */
function errorCodeOf(code: string | null, wireStatus: string): string | null {
  if (code !== null && /^[1-9]\d{0,9}$/.test(code)) return code;
  return wireStatus === 'canceled' ? 'canceled' : null;
}

function attemptOf(target: string): string | null {
  const queryAt = target.indexOf('?');
  if (queryAt === -1) return null;
  const [query = ''] = target.slice(queryAt + 1).split('#');
  const attempt = new URLSearchParams(query).get('attempt');
  return isId('att', attempt) ? attempt : null;
}
