import type { LeadAddress } from '../../domain/inbound';
import type { SendRequest } from '../../domain/sending';
import { notAccepted, outcomeOf } from '../outcomes';
import type { ChannelSender } from '../port';
import { isWireRecord } from '../wire-json';
import type { WireRecord } from '../wire-json';
import { WHATSAPP_ERRORS } from './errors';
import { graphWaitMs, makeGraphApi, readGraphError } from './graph';
import type { GraphOptions } from './graph';

const REPLY_WINDOW_MS = 24 * 60 * 60 * 1000;
/** Counted in UTF-16 units, which are never fewer than WhatsApp's characters (3.3.11). */
const UNITS_MAX = 4_096;

/**
 * Makes the sender of WhatsApp (providers.md 3.3.8 to 3.3.11). WhatsApp has no API to read
 * messages back: after an unknown outcome only a status with our attempt id can prove the send.
 */
export function makeWhatsAppSender(options: GraphOptions): ChannelSender {
  const graph = makeGraphApi(options);
  return {
    channel: 'whatsapp',
    replyWindowMs: REPLY_WINDOW_MS,
    canReadBack: false,
    fits: (text) => text !== '' && text.length <= UNITS_MAX,
    send: async (request, { timeoutMs }) => {
      const { accountExternalId, credentials, attemptId, to } = request;
      const recipient = recipientOf(to);
      if (recipient === null) return notAccepted('no-address', 'never');
      const { accessToken } = credentials;
      if (!accessToken) return notAccepted('no-credentials', 'pause');
      const ending = await graph.post(
        { segments: [accountExternalId, 'messages'], accessToken, timeoutMs },
        {
          messaging_product: 'whatsapp',
          recipient_type: 'individual',
          ...recipient,
          ...contentOf(request),
          biz_opaque_callback_data: attemptId,
        },
      );
      return outcomeOf(ending, {
        rules: WHATSAPP_ERRORS,
        readError: readGraphError,
        readId: messageIdOf,
        waitMs: graphWaitMs,
      });
    },
    readBack: () => Promise.resolve({ kind: 'unavailable', code: 'no-read-api' }),
  };
}

/** Free text, or an approved template, which needs no open window (providers.md 3.3.8). */
function contentOf({ text, template }: SendRequest): WireRecord {
  if (template === undefined || template === null) {
    return { type: 'text', text: { body: text, preview_url: false } };
  }
  const { name, language } = template;
  return { type: 'template', template: { name, language: { code: language } } };
}

/** The phone where there is one; a person known by username alone has only the scoped id. */
function recipientOf(to: readonly LeadAddress[]): WireRecord | null {
  const phone = to.find(({ kind }) => kind === 'phone');
  if (phone !== undefined) return { to: phone.value.replace(/^\+/, '') };
  const user = to.find(({ kind }) => kind === 'whatsapp-user');
  return user === undefined ? null : { recipient: user.value };
}

function messageIdOf({ messages }: WireRecord): string | null {
  const first: unknown = Array.isArray(messages) ? messages[0] : undefined;
  const id = isWireRecord(first) ? first.id : undefined;
  return typeof id === 'string' && id !== '' ? id : null;
}
