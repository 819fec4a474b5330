import type { InboundElement, Media } from '../../domain/inbound';
import type { RawRequest, WebhookEndpoint } from '../port';
import { fieldOf, readForm } from './form';
import type { Form } from './form';
import { isReactionFallback, twilioOptOut } from './keywords';
import { isSid, phoneNumberOf, quarantinedRequest, smsFrame } from './reading';
import { makeTwilioCheck } from './signature';
import type { TwilioEndpointOptions } from './signature';

/** No message in the answer: Twilio would send it without an id, and again on a retry (5.2.3). */
const EMPTY_TWIML = { contentType: 'text/xml', body: '<Response/>' };
/** Twilio attaches up to ten media to one message (providers.md 5.2.6). */
const MEDIA_MAX = 10;

/**
 * Makes the endpoint of incoming texts, MMS included (providers.md 5.2.3). Throws where an auth
 * token is missing or empty.
 */
export function makeTwilioSmsEndpoint(options: TwilioEndpointOptions): WebhookEndpoint {
  return {
    provider: 'twilio',
    verify: makeTwilioCheck(options),
    parse: (request) => [readSms(request)],
    success: EMPTY_TWIML,
  };
}

function readSms(request: RawRequest): InboundElement {
  const form = readForm(request.body);
  if (form === null) return quarantinedRequest(request, '', 'too many parameters', true);
  const account = fieldOf(form, 'To') ?? '';
  const sid = ['MessageSid', 'SmsMessageSid', 'SmsSid']
    .map((name) => fieldOf(form, name))
    .find(isSid);
  if (sid === undefined) return quarantinedRequest(request, account, 'MessageSid: missing', true);
  const sender = fieldOf(form, 'From');
  const from = phoneNumberOf(sender);
  if (from === null) {
    // Short codes and sender names are machines; anything else in this place may be a person.
    const isMachine = /^(?:\d{3,8}|[A-Za-z0-9 ]{1,11})$/.test(sender ?? '');
    return quarantinedRequest(request, account, 'From: no phone number', !isMachine);
  }
  const body = form.get('Body')?.[0] ?? '';
  const media = mediaOf(form);
  if (media.length === 0 && isReactionFallback(body)) {
    const key = `reaction:${sid}`;
    return { ...smsFrame(account, key, [key]), type: 'note', kind: 'reaction', history: null };
  }
  const optOut = twilioOptOut(fieldOf(form, 'OptOutType'), body);
  // The addresses of media stay the same for one message, unlike those of other providers.
  const stable = ['message', from, body, media.map(({ reference }) => reference)];
  return {
    ...smsFrame(account, `message:${sid}`, stable),
    type: 'message',
    providerMessageId: sid,
    from: [{ kind: 'phone', value: from }],
    profileName: null,
    text: body === '' ? null : body,
    media,
    unsupported: false,
    providerOptOut: optOut,
    // Twilio answers its stop words itself and blocks every send after them.
    providerConfirmsOptOut: optOut === 'stop',
  };
}

function mediaOf(form: Form): Media[] {
  const count = Number(fieldOf(form, 'NumMedia') ?? '0');
  if (!Number.isInteger(count) || count <= 0) return [];
  return Array.from({ length: Math.min(count, MEDIA_MAX) }, (_, index) => ({
    kind: kindOf(fieldOf(form, `MediaContentType${index}`) ?? ''),
    reference: fieldOf(form, `MediaUrl${index}`) ?? `media-${index}`,
  }));
}

function kindOf(contentType: string): Media['kind'] {
  const type = contentType.toLowerCase();
  if (type.startsWith('image/')) return 'image';
  if (type.startsWith('audio/')) return 'audio';
  if (type.startsWith('video/')) return 'video';
  return type === '' ? 'other' : 'file';
}
