import { makeTwilioSmsSender } from '../../../channels/twilio/sms-sender';
import { CHANNELS } from '../../../domain/inbound';
import type { Channel } from '../../../domain/inbound';
import { ADDRESSES, META, PAUSE, refusal, startSending } from './sending-support';
import type { Sending } from './sending-support';
import { ATTEMPT, json, startStandIn } from './support';
import type { StandIn } from './support';

const ACCEPTED: Readonly<Record<Channel, readonly [number, object]>> = {
  messenger: [200, { recipient_id: '71', message_id: 'm_1' }],
  instagram: [200, { recipient_id: '81', message_id: 'm_1' }],
  whatsapp: [200, { messaging_product: 'whatsapp', messages: [{ id: 'm_1' }] }],
  sms: [201, { sid: 'm_1', status: 'queued', error_code: null }],
};

let sending: Sending;
let provider: StandIn;
beforeEach(async () => {
  sending = await startSending();
  provider = sending.provider;
});
afterEach(() => sending.close());

const send: Sending['send'] = (...call) => sending.send(...call);

describe('a send that the provider takes', () => {
  it.each(CHANNELS)('on %s is accepted under its id [S3]', async (channel) => {
    provider.answer = json(...ACCEPTED[channel]);
    expect(await send(channel)).toEqual({ kind: 'accepted', providerMessageId: 'm_1' });
    expect(provider.seen).toHaveLength(1);
  });

  it('on Messenger carries the attempt as metadata [C6]', async () => {
    await send('messenger');
    expect(provider.seen).toMatchObject([
      { method: 'POST', path: '/v26.0/100000000000001/messages' },
    ]);
    expect(provider.seen[0]?.headers.authorization).toBe('Bearer page-token');
    expect(JSON.parse(provider.seen[0]?.body ?? '')).toEqual({
      recipient: { id: '71' },
      messaging_type: 'RESPONSE',
      message: { text: 'Yes, we do.', metadata: ATTEMPT },
    });
  });

  it('on Instagram is the recipient and the text', async () => {
    await send('instagram');
    expect(provider.seen[0]?.path).toBe('/v26.0/17840000000000001/messages');
    expect(JSON.parse(provider.seen[0]?.body ?? '')).toEqual({
      recipient: { id: '81' },
      message: { text: 'Yes, we do.' },
    });
  });

  it('on WhatsApp goes to the phone and carries the attempt as callback data [C6]', async () => {
    await send('whatsapp');
    expect(provider.seen[0]?.path).toBe('/v26.0/300000000000003/messages');
    expect(JSON.parse(provider.seen[0]?.body ?? '')).toEqual({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: '13125550142',
      type: 'text',
      text: { body: 'Yes, we do.', preview_url: false },
      biz_opaque_callback_data: ATTEMPT,
    });
  });

  it('on WhatsApp goes to the scoped id, verbatim, where there is no phone', async () => {
    await send('whatsapp', { to: ADDRESSES.whatsapp.slice(0, 1) });
    const body: unknown = JSON.parse(provider.seen[0]?.body ?? '');
    expect(body).toMatchObject({ recipient: 'US.1000200030004000' });
    expect(body).not.toHaveProperty('to');
  });

  it('on WhatsApp leaves as an approved template where it is one, outside every window [S6]', async () => {
    await send('whatsapp', { template: { name: 'check_in', language: 'en_US', text: 'Hi' } });
    expect(JSON.parse(provider.seen[0]?.body ?? '')).toEqual({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: '13125550142',
      type: 'template',
      template: { name: 'check_in', language: { code: 'en_US' } },
      biz_opaque_callback_data: ATTEMPT,
    });
  });

  it('by SMS carries the attempt in the status callback and does not wait for hours [C6]', async () => {
    await send('sms', { text: 'Größe & 100% 🦁' });
    const [request] = provider.seen;
    expect(request?.path).toBe('/2010-04-01/Accounts/AC1/Messages.json');
    expect(request?.headers.authorization).toBe(`Basic ${btoa('AC1:token')}`);
    expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual({
      To: '+13125550142',
      From: '+13125550100',
      Body: 'Größe & 100% 🦁',
      StatusCallback: `https://our.test/webhooks/twilio/status?attempt=${ATTEMPT}`,
      ValidityPeriod: '300',
    });
  });

  it('by SMS may leave through a messaging service', async () => {
    await send('sms', { accountExternalId: 'MG1' });
    const form = new URLSearchParams(provider.seen[0]?.body);
    expect([form.get('MessagingServiceSid'), form.get('From')]).toEqual(['MG1', null]);
  });
});

describe('an answer without a code of the provider', () => {
  const cases = CHANNELS.flatMap((channel) =>
    (
      [
        [400, refusal('http-400')],
        [401, refusal('http-401', PAUSE)],
        [404, refusal('http-404')],
        [429, refusal('http-429', { retry: 'back-off' })],
        [408, { kind: 'unknown', code: 'http-408' }],
        [302, { kind: 'unknown', code: 'http-302' }],
        [500, { kind: 'unknown', code: 'http-500' }],
        [502, { kind: 'unknown', code: 'http-502' }],
        [503, { kind: 'unknown', code: 'http-503' }],
        [200, { kind: 'unknown', code: 'unreadable-success' }],
      ] as const
    ).map(([status, outcome]) => [channel, status, outcome] as const),
  );

  it.each(cases)('on %s is judged by its status %d [C6]', async (channel, status, outcome) => {
    provider.answer = (response) => response.writeHead(status).end('<html>Bad gateway</html>');
    expect(await send(channel)).toEqual(outcome);
    expect(provider.seen).toHaveLength(1);
  });

  it.each(CHANNELS)('on %s that is a bare success stays unknown [C6]', async (channel) => {
    provider.answer = json(200, { ok: true });
    expect(await send(channel)).toEqual({ kind: 'unknown', code: 'unreadable-success' });
  });

  it.each([
    ['messenger', { error: { code: 1357046 } }, '1357046'],
    ['messenger', { message_id: 'm_1', error: { code: 190 } }, '190'],
    ['whatsapp', { error: { code: 131000 } }, '131000'],
    ['instagram', { error: 'broken' }, 'without-code'],
    ['sms', { code: 20500, message: 'x' }, '20500'],
  ] as const)(
    'but a success of %s with an error inside stays unknown [C6]',
    async (channel, body, code) => {
      provider.answer = json(200, body);
      expect(await send(channel)).toEqual({ kind: 'unknown', code: `success-with-error-${code}` });
      expect(provider.seen).toHaveLength(1);
    },
  );

  it('keeps the ids of an accepted message digit for digit', async () => {
    provider.answer = (response) => response.end('{"message_id":9007199254740993}');
    const outcome = await send('messenger');
    expect(outcome).toEqual({ kind: 'accepted', providerMessageId: '9007199254740993' });
  });
});

describe('a call without an answer', () => {
  it.each(CHANNELS)('on %s was surely not sent where nobody listens [C6]', async (channel) => {
    const closed = await startStandIn();
    await closed.close();
    expect(await send(channel, {}, closed.url)).toEqual(
      refusal('ECONNREFUSED', { retry: 'back-off' }),
    );
  });

  it.each(CHANNELS)(
    'on %s is unknown where the connection breaks after the request [C6]',
    async (channel) => {
      provider.answer = (response) => response.socket?.destroy();
      expect(await send(channel)).toMatchObject({ kind: 'unknown' });
      expect(provider.seen).toHaveLength(1);
    },
  );

  it.each(CHANNELS)('on %s is unknown where the time is over [C6]', async (channel) => {
    provider.answer = () => undefined;
    expect(await send(channel)).toEqual({ kind: 'unknown', code: 'timeout' });
    expect(provider.seen).toHaveLength(1);
  });

  it('in full is unknown after a success and refused after a refusal [C6]', async () => {
    const cutOff = (status: number) => {
      provider.answer = (response) => {
        response.writeHead(status, { 'content-length': '100' });
        response.write('{"message', () => response.socket?.destroy());
      };
      return send('messenger');
    };
    expect(await cutOff(200)).toMatchObject({ kind: 'unknown' });
    expect(await cutOff(500)).toMatchObject({ kind: 'unknown' });
    expect(await cutOff(400)).toEqual(refusal('http-400'));
  });

  it('of a sane size is unknown after a success [C6]', async () => {
    provider.answer = (response) => response.end(' '.repeat(2 * 1024 * 1024));
    expect(await send('whatsapp')).toMatchObject({ kind: 'unknown' });
    expect(provider.seen).toHaveLength(1);
  });
});

describe('a send that cannot start', () => {
  it.each(CHANNELS)('on %s for want of an address fails without a call [IN4]', async (channel) => {
    expect(await send(channel, { to: [] })).toEqual(refusal('no-address'));
    expect(provider.seen).toHaveLength(0);
  });

  it("on Messenger never goes to another page's lead", async () => {
    const to = [{ kind: 'messenger', value: '100000000000002/71' }];
    expect(await send('messenger', { to })).toEqual(refusal('no-address'));
  });

  it.each(META)('on %s without a token pauses the account [IN4]', async (channel) => {
    expect(await send(channel, { credentials: {} })).toEqual(refusal('no-credentials', PAUSE));
    expect(provider.seen).toHaveLength(0);
  });

  it.each([
    ['an empty sid', { accountSid: '', authToken: 'token' }],
    ['an empty token', { accountSid: 'AC1', authToken: ' ' }],
  ])('by SMS with %s does not even set up', (_name, secrets) => {
    const options = {
      http: sending.http,
      apiUrl: provider.url,
      publicUrl: 'https://our.test',
      ...secrets,
    };
    expect(() => makeTwilioSmsSender(options)).toThrow(/Twilio is empty/);
  });
});

describe('what fits one message', () => {
  it.each([
    ['messenger', 'x'.repeat(2_000), true],
    ['messenger', 'x'.repeat(2_001), false],
    ['instagram', 'x'.repeat(1_000), true],
    ['instagram', 'x'.repeat(1_001), false],
    ['instagram', 'é'.repeat(500), true],
    ['instagram', `${'é'.repeat(500)}x`, false],
    ['instagram', '🦁'.repeat(250), true],
    ['instagram', '🦁'.repeat(251), false],
    ['whatsapp', 'x'.repeat(4_096), true],
    ['whatsapp', 'x'.repeat(4_097), false],
    ['sms', 'x'.repeat(1_600), true],
    ['sms', 'x'.repeat(1_601), false],
    ...CHANNELS.map((channel) => [channel, '', false] as const),
  ] as const)('on %s is decided by its own count', (channel, text, fits) => {
    expect(sending.senderOf(channel).fits(text)).toBe(fits);
  });

  it.each([
    ['messenger', 86_400_000, true],
    ['instagram', 86_400_000, true],
    ['whatsapp', 86_400_000, false],
    ['sms', null, true],
  ] as const)('%s has its window and its way to read back [C6]', (channel, windowMs, reads) => {
    const { replyWindowMs, canReadBack } = sending.senderOf(channel);
    expect([replyWindowMs, canReadBack]).toEqual([windowMs, reads]);
  });
});
