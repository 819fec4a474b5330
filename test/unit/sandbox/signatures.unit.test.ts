/**
 * Goal: what the sandbox signs is what a real provider would have signed. Method: Twilio's own
 * helper and an HMAC written here anew judge the bytes that a receiving server really got.
 */
import { createHmac } from 'node:crypto';
import { validateRequest } from 'twilio/lib/webhooks/webhooks';
import { metaBody, twilioSignature } from '../../../sandbox/signatures';
import { conversation, parsed, phone, postJson, smsSend, startWorld, type World } from './world';

let world: World;

beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

describe('Meta', () => {
  const text = 'Boiler 🔥 out — 24/7? é';

  it.each(['messenger', 'instagram', 'whatsapp'])(
    'signs the escaped bytes that it sends on %s, so that only a raw check accepts them',
    async (channel) => {
      await phone(world, channel, { lead: 'Robin Fields', text });
      const [request] = world.app.requests;
      const expected = createHmac('sha256', 'sandbox-app-secret')
        .update(request?.body ?? '')
        .digest('hex');
      expect(request?.headers['x-hub-signature-256']).toBe(`sha256=${expected}`);
      expect(request?.body).toContain('Boiler \\ud83d\\udd25 out \\u2014 24\\/7? \\u00e9');
      expect(request?.body).toMatch(/^[\x20-\x7e]+$/);
      expect(JSON.stringify(parsed(request))).toContain(text);
    },
  );

  it('escapes lone surrogates and NUL without changing what they decode to', () => {
    const payload = { text: 'a\u0000b\ud83d c\udc00' };
    expect(metaBody(payload)).toBe('{"text":"a\\u0000b\\ud83d c\\udc00"}');
    expect(JSON.parse(metaBody(payload))).toEqual(payload);
  });

  it('proves a callback with the handshake before it accepts the subscription', async () => {
    const url = `${world.sandbox.url}/graph/v26.0/900000000000009/subscriptions`;
    const token = { authorization: 'Bearer sandbox-token' };
    const accepted = await postJson(url, { object: 'page', verify_token: 'sesame' }, token);
    expect(accepted).toMatchObject({ status: 200, body: { success: true } });
    expect(world.app.requests[0]?.target).toMatch(
      /^\/webhooks\/meta\?hub\.mode=subscribe&hub\.challenge=\d+&hub\.verify_token=sesame$/,
    );
    world.app.statuses.push(403);
    const refused = await postJson(url, { object: 'page' }, token);
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 2200 } } });
  });
});

describe('Twilio', () => {
  const form = (body: string | undefined) => Object.fromEntries(new URLSearchParams(body));

  it('signs inbound messages so that the official helper accepts them', async () => {
    await phone(world, 'sms', { lead: 'Robin Fields', text: 'Same day? 😀 100% & more' });
    const [request] = world.app.requests;
    const signature = String(request?.headers['x-twilio-signature']);
    const url = `${world.app.url}/webhooks/twilio/sms`;
    expect(validateRequest('sandbox-auth-token', signature, url, form(request?.body))).toBe(true);
    expect(validateRequest('other-token', signature, url, form(request?.body))).toBe(false);
    expect(request?.headers['i-twilio-idempotency-token']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('signs and requests a callback with its query exactly as it was given', async () => {
    const { address } = await conversation(world, 'sms');
    const target = "/cb?step=2&msg=Couldn%27t+find+it.&a='1'";
    const StatusCallback = `${world.app.url}${target}#rc=2&rp=all`;
    await smsSend(world, { To: address, Body: 'Yes, we do.', StatusCallback });
    const [callback] = await world.app.arrived(1, (r) => r.target.startsWith('/cb'));
    expect(callback?.target).toBe(target);
    const signature = String(callback?.headers['x-twilio-signature']);
    const url = `${world.app.url}${target}`;
    expect(validateRequest('sandbox-auth-token', signature, url, form(callback?.body))).toBe(true);
  });

  it('signs a repeated form key with its distinct values in order, as the helper does', () => {
    const url = 'https://unsilent.example.test/webhooks/twilio/sms';
    const repeated = new URLSearchParams('Addr=b&Addr=a&Addr=b&Body=hi');
    const signature = twilioSignature('token', url, repeated);
    const parameters = { Addr: ['b', 'a', 'b'], Body: 'hi' };
    expect(validateRequest('token', signature, url, parameters)).toBe(true);
  });

  it('signs over the public address also when the app is reached at another one', async () => {
    const publicUrl = 'https://unsilent.example.test';
    const proxied = await startWorld({ publicUrl, reachableAt: world.app.url });
    await phone(proxied, 'sms', { lead: 'Robin Fields', text: 'Hello' });
    const [request] = world.app.requests;
    const signature = String(request?.headers['x-twilio-signature']);
    const url = `${publicUrl}/webhooks/twilio/sms`;
    expect(validateRequest('sandbox-auth-token', signature, url, form(request?.body))).toBe(true);
    expect(request?.headers.host).toBe('unsilent.example.test');
    await proxied.close();
  });
});
