import type { Channel } from '../domain/inbound';
import { makeHttpClient } from './http';
import type { HttpClient } from './http';
import { makeMetaEndpoint } from './meta/endpoint';
import type { MetaEndpointOptions } from './meta/endpoint';
import { makeInstagramSender, makeMessengerSender } from './meta/messenger-senders';
import { makeWhatsAppSender } from './meta/whatsapp-sender';
import { notAccepted } from './outcomes';
import type { ChannelSender, WebhookEndpoint } from './port';
import { makeTwilioSmsEndpoint } from './twilio/sms-endpoint';
import { makeTwilioSmsSender } from './twilio/sms-sender';
import { makeTwilioStatusEndpoint } from './twilio/status-endpoint';

/** Everything that the channels need to know; a provider that is left out is not connected. */
export interface ChannelsOptions {
  /** Our own origin, which providers sign and call. */
  readonly publicUrl: string;
  readonly meta?: MetaEndpointOptions & {
    readonly graphUrl: string;
    /** Where Instagram's own login is used; else `graphUrl`. */
    readonly instagramGraphUrl?: string;
    readonly graphVersion?: string;
  };
  readonly twilio?: {
    readonly apiUrl: string;
    readonly accountSid: string;
    /** The first sends; all of them may sign (providers.md 5.0, rotation). */
    readonly authTokens: readonly string[];
  };
}

export interface Channels {
  readonly endpoints: {
    readonly meta?: WebhookEndpoint;
    readonly twilioSms?: WebhookEndpoint;
    readonly twilioStatus?: WebhookEndpoint;
  };
  readonly senders: Readonly<Record<Channel, ChannelSender>>;
  /** Waits for the calls in flight and gives the connections back. */
  close(): Promise<void>;
}

/**
 * Builds all channels from typed options. Throws where a connected provider lacks a secret: a
 * channel that cannot verify or send must not start.
 */
export function makeChannels(options: ChannelsOptions): Channels {
  const http = makeHttpClient();
  const { twilio } = options;
  return {
    endpoints: {
      ...(options.meta === undefined ? {} : { meta: makeMetaEndpoint(options.meta) }),
      ...(twilio === undefined
        ? {}
        : {
            twilioSms: makeTwilioSmsEndpoint(twilio),
            twilioStatus: makeTwilioStatusEndpoint(twilio),
          }),
    },
    senders: { ...metaSenders(options, http), sms: smsSender(options, http) },
    close: () => http.close(),
  };
}

function metaSenders({ meta }: ChannelsOptions, http: HttpClient) {
  if (meta === undefined) {
    return {
      messenger: makeUnconnectedSender('messenger'),
      instagram: makeUnconnectedSender('instagram'),
      whatsapp: makeUnconnectedSender('whatsapp'),
    };
  }
  const { graphUrl, instagramGraphUrl = graphUrl, graphVersion } = meta;
  const common = { http, ...(graphVersion === undefined ? {} : { graphVersion }) };
  return {
    messenger: makeMessengerSender({ ...common, graphUrl }),
    instagram: makeInstagramSender({ ...common, graphUrl: instagramGraphUrl }),
    whatsapp: makeWhatsAppSender({ ...common, graphUrl }),
  };
}

function smsSender({ publicUrl, twilio }: ChannelsOptions, http: HttpClient): ChannelSender {
  if (twilio === undefined) return makeUnconnectedSender('sms');
  const { apiUrl, accountSid, authTokens } = twilio;
  return makeTwilioSmsSender({
    http,
    apiUrl,
    accountSid,
    authToken: authTokens[0] ?? '',
    publicUrl,
  });
}

/** Stands where a provider is not connected: nothing leaves, and the account shows why (IN4). */
function makeUnconnectedSender(channel: Channel): ChannelSender {
  return {
    channel,
    replyWindowMs: null,
    canReadBack: false,
    fits: (text) => text !== '',
    send: () => Promise.resolve(notAccepted('not-connected', 'pause')),
    readBack: () => Promise.resolve({ kind: 'unavailable', code: 'not-connected' }),
  };
}
