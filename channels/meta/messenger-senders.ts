import type { LeadAddress } from '../../domain/inbound';
import type { SendRequest } from '../../domain/sending';
import { notAccepted, outcomeOf } from '../outcomes';
import type { ErrorRule } from '../outcomes';
import type { ChannelSender } from '../port';
import type { WireRecord } from '../wire-json';
import { readBackFromConversations } from './conversations';
import { INSTAGRAM_ERRORS, MESSENGER_ERRORS } from './errors';
import { graphWaitMs, makeGraphApi, readGraphError } from './graph';
import type { GraphOptions } from './graph';

const REPLY_WINDOW_MS = 24 * 60 * 60 * 1000;
/** Counted in UTF-16 units, which are never fewer than Meta's characters (providers.md 3.1.11). */
const MESSENGER_UNITS_MAX = 2_000;
/** Instagram counts the bytes of the UTF-8 form (providers.md 3.2.11). */
const INSTAGRAM_BYTES_MAX = 1_000;

interface Dialect {
  readonly channel: 'messenger' | 'instagram';
  readonly errors: readonly ErrorRule[];
  fits(text: string): boolean;
  bodyOf(leadId: string, request: SendRequest): WireRecord;
}

const MESSENGER: Dialect = {
  channel: 'messenger',
  errors: MESSENGER_ERRORS,
  fits: (text) => text !== '' && text.length <= MESSENGER_UNITS_MAX,
  bodyOf: (leadId, { text, attemptId }) => ({
    recipient: { id: leadId },
    messaging_type: 'RESPONSE',
    message: { text, metadata: attemptId },
  }),
};

const INSTAGRAM: Dialect = {
  channel: 'instagram',
  errors: INSTAGRAM_ERRORS,
  fits: (text) => text !== '' && Buffer.byteLength(text, 'utf8') <= INSTAGRAM_BYTES_MAX,
  // Whether Instagram takes and returns `metadata` is not documented, so nothing rests on it.
  bodyOf: (leadId, { text }) => ({ recipient: { id: leadId }, message: { text } }),
};

/** Makes the sender of Facebook Messenger (providers.md 3.1.8 to 3.1.11). */
export function makeMessengerSender(options: GraphOptions): ChannelSender {
  return makeSender(MESSENGER, options);
}

/** Makes the sender of Instagram direct messages (providers.md 3.2.8 to 3.2.11). */
export function makeInstagramSender(options: GraphOptions): ChannelSender {
  return makeSender(INSTAGRAM, options);
}

function makeSender(dialect: Dialect, options: GraphOptions): ChannelSender {
  const graph = makeGraphApi(options);
  const { channel } = dialect;
  return {
    channel,
    replyWindowMs: REPLY_WINDOW_MS,
    canReadBack: true,
    fits: (text) => dialect.fits(text),
    send: async (request, { timeoutMs }) => {
      const { accountExternalId, credentials } = request;
      const leadId = scopedIdOf(request.to, channel, accountExternalId);
      if (leadId === null) return notAccepted('no-address', 'never');
      const { accessToken } = credentials;
      if (!accessToken) return notAccepted('no-credentials', 'pause');
      const ending = await graph.post(
        { segments: [accountExternalId, 'messages'], accessToken, timeoutMs },
        dialect.bodyOf(leadId, request),
      );
      return outcomeOf(ending, {
        rules: dialect.errors,
        readError: readGraphError,
        readId: ({ message_id: id }) => (typeof id === 'string' && id !== '' ? id : null),
        waitMs: graphWaitMs,
      });
    },
    readBack: async (request) => {
      const leadId = scopedIdOf(request.to, channel, request.accountExternalId);
      if (leadId === null) return { kind: 'unavailable', code: 'no-address' };
      return readBackFromConversations(graph, { platform: channel, leadId, request });
    },
  };
}

/** The lead's id within this account: what stands behind `<account>/` in the address. */
function scopedIdOf(
  to: readonly LeadAddress[],
  kind: LeadAddress['kind'],
  account: string,
): string | null {
  const prefix = `${account}/`;
  const address = to.find((it) => it.kind === kind && it.value.startsWith(prefix));
  return address?.value.slice(prefix.length) ?? null;
}
