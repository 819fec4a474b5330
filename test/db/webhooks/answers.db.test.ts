import type { OutgoingHttpHeaders } from 'node:http';
import { FACT_TABLES } from '../../support/facts';
import {
  handshakePath,
  makeWebhookWorld,
  metaBytes,
  metaHeaders,
  MESSENGER,
  pageDelivery,
  pageMessage,
  smsParameters,
  twilioHeaders,
  type WebhookServer,
  type WebhookWorld,
} from '../../support/webhooks';

const BODY_BYTES_MAX = 2 * 1024 * 1024;
const delivery = metaBytes(pageDelivery(pageMessage('m_1', 'My water heater leaks')));
const sms = smsParameters('SM1', 'My water heater leaks');
const smsBody = Buffer.from(new URLSearchParams(sms).toString());

describe('an answer to a webhook', () => {
  let webhooks: WebhookWorld;
  let server: WebhookServer;
  beforeAll(async () => {
    webhooks = await makeWebhookWorld();
    server = webhooks.server;
  });
  afterEach(() => webhooks.reset());
  afterAll(() => webhooks.close());

  async function storedRows(): Promise<number> {
    const counts = await Promise.all(FACT_TABLES.map((table) => webhooks.count(table)));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  it('is 200 with the word that Meta wants, once the message and its debt are stored [IN4] [T1]', async () => {
    const answer = await server.post('/webhooks/meta', delivery, metaHeaders(delivery));
    expect(answer).toMatchObject({ status: 200, body: 'EVENT_RECEIVED' });
    expect(await webhooks.world.conversation()).toMatchObject({ channel: 'messenger' });
    const [owed] = await webhooks.world.rows(
      'select owed_since is not null as owed from conversations',
    );
    expect(owed).toEqual({ owed: true });
    expect(server.woken).toHaveLength(1);
    expect(server.logged).toEqual([]);
  });

  it('is 200 with empty TwiML for a text, so that Twilio sends nothing by itself [IN4]', async () => {
    const answer = await server.postSms(sms);
    expect(answer).toMatchObject({ status: 200, body: '<Response/>' });
    expect(answer.headers['content-type']).toMatch(/^text\/xml/);
    expect(await webhooks.count('messages')).toBe(1);
  });

  const forged: readonly (readonly [string, OutgoingHttpHeaders])[] = [
    ['without a signature', {}],
    ['with an empty signature', { 'x-hub-signature-256': '' }],
    ['with a signature of another secret', metaHeaders(delivery, 'another-secret')],
    ['with the signature of another body', metaHeaders(Buffer.from('{}'))],
    ['with a signature that is no hex', { 'x-hub-signature-256': `sha256=${'z'.repeat(64)}` }],
    ['with the old kind of signature', { 'x-hub-signature': 'sha1=00' }],
    [
      'with the signature in capitals',
      {
        'x-hub-signature-256': String(metaHeaders(delivery)['x-hub-signature-256']).toUpperCase(),
      },
    ],
  ];
  it.each(forged)(
    'is 401 for a delivery of Meta %s, and nothing is stored [IN4] [INV-5]',
    async (_name, headers) => {
      const answer = await server.post('/webhooks/meta', delivery, headers);
      expect(answer.status).toBe(401);
      expect(answer.body).toBe('');
      expect(await storedRows()).toBe(0);
      expect(server.woken).toEqual([]);
      expect(server.logged.map(({ message }) => message)).toEqual([
        'a webhook failed authenticity',
      ]);
    },
  );

  it.each([
    ['without a signature', '/webhooks/twilio/sms', {}],
    [
      'with another token',
      '/webhooks/twilio/sms',
      twilioHeaders('/webhooks/twilio/sms', sms, { token: 'x' }),
    ],
    [
      'signed for another path',
      '/webhooks/twilio/sms',
      twilioHeaders('/webhooks/twilio/status', sms),
    ],
    [
      'signed without its query',
      '/webhooks/twilio/status?attempt=att_1',
      twilioHeaders('/webhooks/twilio/status', sms),
    ],
  ])('is 401 for Twilio %s, and nothing is stored [IN4] [INV-5]', async (_name, path, headers) => {
    expect((await server.post(path, smsBody, headers)).status).toBe(401);
    expect(await storedRows()).toBe(0);
  });

  it('is the challenge for a handshake with the right verify token [IN4]', async () => {
    const answer = await server.get(handshakePath());
    expect(answer).toMatchObject({ status: 200, body: '1158201444' });
    expect(answer.headers['content-type']).toMatch(/^text\/plain/);
  });

  it.each([
    ['the wrong verify token', handshakePath('guessed')],
    ['an empty verify token', handshakePath('')],
    ['no query at all', '/webhooks/meta'],
  ])('is 403 for a handshake with %s [IN4]', async (_name, path) => {
    expect(await server.get(path)).toMatchObject({ status: 403, body: '' });
  });

  it.each([
    ['GET', '/webhooks'],
    ['POST', '/webhooks/nobody'],
    ['GET', '/webhooks/twilio/sms'],
    ['POST', '/webhooks/twilio/voice-of-nobody'],
    ['POST', '/webhooks/meta/more'],
    ['POST', '/webhooks/meta%2f..%2fadmin'],
  ])('is 404 for %s %s, signed or not [IN4]', async (method, path) => {
    const answer =
      method === 'GET'
        ? await server.get(path)
        : await server.post(path, delivery, metaHeaders(delivery));
    expect(answer.status).toBe(404);
    expect(await storedRows()).toBe(0);
  });

  it('is 413 with an alert over 2 MB, and the process lives on [IN4]', async () => {
    const tooLarge = Buffer.alloc(BODY_BYTES_MAX + 1, 0x20);
    const answer = await server.post('/webhooks/meta', tooLarge, metaHeaders(tooLarge));
    expect(answer.status).toBe(413);
    expect(server.logged).toEqual([
      {
        level: 'error',
        fields: { path: '/meta', status: 413 },
        message: 'a webhook body was refused',
      },
    ]);
    expect(await storedRows()).toBe(0);
    expect(await server.postMeta(delivery)).toMatchObject({ status: 200 });
  });

  it('is 413 for an endless body without a length, and the process lives on [IN4]', async () => {
    const tooLarge = Buffer.alloc(BODY_BYTES_MAX + 1, 0x20);
    const headers = { ...metaHeaders(tooLarge), 'transfer-encoding': 'chunked' };
    expect((await server.post('/webhooks/meta', tooLarge, headers)).status).toBe(413);
    expect(await server.postMeta(delivery)).toMatchObject({ status: 200 });
  });

  it('is 200 for exactly 2 MB, and all of it is kept [IN4]', async () => {
    const text = 'x'.repeat(100);
    const json = metaBytes(pageDelivery(pageMessage('m_2', text)));
    const body = Buffer.concat([json, Buffer.alloc(BODY_BYTES_MAX - json.length, 0x20)]);
    expect(await server.postMeta(body)).toMatchObject({ status: 200 });
    const [raw] = await webhooks.world.rows('select body, body_bytes from raw_deliveries');
    expect(raw?.['body_bytes']).toBe(BODY_BYTES_MAX);
    expect(body.equals(raw?.['body'] as Buffer)).toBe(true);
    expect(await webhooks.count('messages')).toBe(1);
  });

  it('is 415 for a compressed body, which no provider sends, and stores nothing [IN4]', async () => {
    const headers = { ...metaHeaders(delivery), 'content-encoding': 'gzip' };
    expect((await server.post('/webhooks/meta', delivery, headers)).status).toBe(415);
    expect(await storedRows()).toBe(0);
  });

  it.each([['host'], ['x-forwarded-host'], ['x-original-host']])(
    'is 401 for a signature made for the host that %s names: the origin is the configured one [IN1] [INV-5]',
    async (header) => {
      const path = '/webhooks/twilio/sms';
      const forged = twilioHeaders(path, sms, { origin: 'https://evil.example.test' });
      const named = { [header]: 'evil.example.test', 'x-forwarded-proto': 'https' };
      expect((await server.post(path, smsBody, { ...forged, ...named })).status).toBe(401);
      expect(await storedRows()).toBe(0);
      const ours = { ...twilioHeaders(path, sms), ...named };
      expect((await server.post(path, smsBody, ours)).status).toBe(200);
    },
  );

  it('keeps the bytes of an authentic delivery exactly as they came [IN2] [INV-1]', async () => {
    const text = `{"object":"page", "entry":[{"id":${MESSENGER.externalId},"messaging":[{
      "sender":{"id":"8000000000000001"},"recipient":{"id":"${MESSENGER.externalId}"},
      "timestamp":1.0e3,"message":{"mid":"m_3","text":"caf\\u00e9 \\/ \\ud83d\\ude00 😀"}}]}]}\r\n`;
    const body = Buffer.concat([Buffer.from('\ufeff'), Buffer.from(text)]);
    expect(await server.postMeta(body)).toMatchObject({ status: 200 });
    const [raw] = await webhooks.world.rows(
      `select body, target, provider, content_type, body_sha256,
         encode(sha256(body), 'hex') as of_body from raw_deliveries`,
    );
    expect(raw).toMatchObject({
      target: '/webhooks/meta',
      provider: 'meta',
      content_type: 'application/json',
      body_sha256: raw?.['of_body'],
    });
    expect(body.equals(raw?.['body'] as Buffer)).toBe(true);
    expect(await webhooks.world.rows('select text from messages')).toEqual([
      { text: 'café / 😀 😀' },
    ]);
  });
});
