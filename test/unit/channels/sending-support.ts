import { makeHttpClient } from '../../../channels/http';
import type { HttpClient } from '../../../channels/http';
import { makeInstagramSender, makeMessengerSender } from '../../../channels/meta/messenger-senders';
import { makeWhatsAppSender } from '../../../channels/meta/whatsapp-sender';
import type { ChannelSender } from '../../../channels/port';
import { makeTwilioSmsSender } from '../../../channels/twilio/sms-sender';
import { CHANNELS } from '../../../domain/inbound';
import type { Channel, LeadAddress } from '../../../domain/inbound';
import type { SendOutcome } from '../../../domain/sending';
import { ATTEMPT, startStandIn } from './support';
import type { StandIn } from './support';

const ACCOUNTS: Readonly<Record<Channel, string>> = {
  messenger: '100000000000001',
  instagram: '17840000000000001',
  whatsapp: '300000000000003',
  sms: '+13125550100',
};

export const ADDRESSES: Readonly<Record<Channel, readonly LeadAddress[]>> = {
  messenger: [{ kind: 'messenger', value: '100000000000001/71' }],
  instagram: [{ kind: 'instagram', value: '17840000000000001/81' }],
  whatsapp: [
    { kind: 'whatsapp-user', value: 'US.1000200030004000' },
    { kind: 'phone', value: '+13125550142' },
  ],
  sms: [{ kind: 'phone', value: '+13125550142' }],
};

export const META: readonly Channel[] = CHANNELS.filter((channel) => channel !== 'sms');

/** A sender of each channel that talks to a stand-in; fresh for each test. */
export interface Sending {
  readonly http: HttpClient;
  readonly provider: StandIn;
  senderOf(channel: Channel, url?: string): ChannelSender;
  send(channel: Channel, parts?: object, url?: string): Promise<SendOutcome>;
  close(): Promise<void>;
}

export async function startSending(): Promise<Sending> {
  const http = makeHttpClient();
  const provider = await startStandIn();
  const senderOf = (channel: Channel, url = provider.url): ChannelSender => {
    if (channel === 'messenger') return makeMessengerSender({ http, graphUrl: url });
    if (channel === 'instagram') return makeInstagramSender({ http, graphUrl: url });
    if (channel === 'whatsapp') return makeWhatsAppSender({ http, graphUrl: url });
    const secrets = { accountSid: 'AC1', authToken: 'token' };
    return makeTwilioSmsSender({ http, apiUrl: url, ...secrets, publicUrl: 'https://our.test/' });
  };
  return {
    http,
    provider,
    senderOf,
    send: (channel, parts = {}, url = provider.url) => {
      const request = {
        channel,
        accountExternalId: ACCOUNTS[channel],
        credentials: { accessToken: 'page-token' },
        attemptId: ATTEMPT,
        to: ADDRESSES[channel],
        text: 'Yes, we do.',
        ...parts,
      };
      return senderOf(channel, url).send(request, { timeoutMs: 1_000 });
    },
    close: async () => {
      await provider.close();
      await http.close();
    },
  };
}

/** A refusal of the provider; final where `parts` say nothing else. */
export const refusal = (code: string, parts: object = {}) => ({
  kind: 'not-accepted',
  code,
  retry: 'never',
  retryAfterMs: null,
  pausesAccount: false,
  optedOut: false,
  ...parts,
});
export const PAUSE = { retry: 'back-off', pausesAccount: true };
