import { makeChannels } from '../../../channels/registry';
import type { Channels } from '../../../channels/registry';
import { CHANNELS } from '../../../domain/inbound';
import { APP_ID, ATTEMPT, json, startStandIn } from './support';

const META = {
  appSecrets: ['secret'],
  verifyToken: 'token',
  appId: APP_ID,
  graphUrl: 'http://127.0.0.1:9',
};
const TWILIO = { apiUrl: 'http://127.0.0.1:9', accountSid: 'AC1', authTokens: ['new', 'old'] };
const PUBLIC_URL = 'https://our.test';

describe('the channels of one process', () => {
  const made: Channels[] = [];
  const make = (options: Parameters<typeof makeChannels>[0]) => {
    const channels = makeChannels(options);
    made.push(channels);
    return channels;
  };
  afterEach(() => Promise.all(made.splice(0).map((channels) => channels.close())));

  it('have an endpoint for each connected provider and a sender for each channel', () => {
    const { endpoints, senders } = make({ publicUrl: PUBLIC_URL, meta: META, twilio: TWILIO });
    expect(Object.keys(endpoints).sort()).toEqual(['meta', 'twilioSms', 'twilioStatus']);
    expect(CHANNELS.map((channel) => senders[channel].channel)).toEqual(CHANNELS);
    expect(endpoints.meta?.provider).toBe('meta');
    expect(endpoints.twilioStatus?.provider).toBe('twilio');
  });

  it('send nothing for a provider that is not connected, and say so [IN4]', async () => {
    const { endpoints, senders } = make({ publicUrl: PUBLIC_URL });
    expect(endpoints).toEqual({});
    for (const channel of CHANNELS) {
      const common = { accountExternalId: '1', credentials: {}, attemptId: ATTEMPT, to: [] };
      const request = { ...common, channel, text: 'Hi' };
      expect(await senders[channel].send(request, { timeoutMs: 100 })).toMatchObject({
        kind: 'not-accepted',
        code: 'not-connected',
        pausesAccount: true,
      });
    }
  });

  it.each([
    ['an empty app secret', { meta: { ...META, appSecrets: [''] } }],
    ['an empty verify token', { meta: { ...META, verifyToken: '' } }],
    ['an empty auth token', { twilio: { ...TWILIO, authTokens: [''] } }],
    ['an empty account sid', { twilio: { ...TWILIO, accountSid: '' } }],
    ['no auth token', { twilio: { ...TWILIO, authTokens: [] } }],
  ])('refuse to start with %s [IN1]', (_name, options) => {
    expect(() => makeChannels({ publicUrl: PUBLIC_URL, ...options })).toThrow(/empty|at least one/);
  });

  it('take version and address of the Graph API from the options', async () => {
    const provider = await startStandIn();
    provider.answer = json(200, { message_id: 'm_1' });
    const graph = { graphUrl: 'http://127.0.0.1:9', instagramGraphUrl: provider.url };
    const meta = { ...META, ...graph, graphVersion: 'v27.0' };
    const { senders } = make({ publicUrl: PUBLIC_URL, meta });
    const outcome = await senders.instagram.send(
      {
        channel: 'instagram',
        accountExternalId: '178',
        credentials: { accessToken: 'token' },
        attemptId: ATTEMPT,
        to: [{ kind: 'instagram', value: '178/81' }],
        text: 'Hi',
      },
      { timeoutMs: 1_000 },
    );
    expect(outcome).toEqual({ kind: 'accepted', providerMessageId: 'm_1' });
    expect(provider.seen[0]?.path).toBe('/v27.0/178/messages');
    await provider.close();
  });
});
