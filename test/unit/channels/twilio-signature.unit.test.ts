import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import type { RawRequest } from '../../../channels/port';
import { makeTwilioSmsEndpoint } from '../../../channels/twilio/sms-endpoint';
import { makeTwilioStatusEndpoint } from '../../../channels/twilio/status-endpoint';
import { ORIGIN, rawRequest } from './support';

const TOKEN = 'twilio-auth-token';
const TARGET = '/webhooks/twilio/sms';

/** Signs the way Twilio's page describes it, written apart from the helper under test. */
function sign(url: string, pairs: readonly (readonly [string, string])[] = [], how = {}): string {
  const { token, hash } = { token: TOKEN, hash: 'sha1', ...how };
  const distinct = new Set(pairs.map(([name, value]) => JSON.stringify([name, value])));
  const parsed = [...distinct].map((pair) => JSON.parse(pair) as [string, string]);
  const sorted = parsed.sort(([nameA, valueA], [nameB, valueB]) =>
    nameA === nameB ? (valueA < valueB ? -1 : 1) : nameA < nameB ? -1 : 1,
  );
  const data = url + sorted.map(([name, value]) => name + value).join('');
  return createHmac(hash, token).update(data).digest('base64');
}

function verify(
  parts: Partial<RawRequest>,
  signature: string | string[] | undefined,
  tokens = [TOKEN],
) {
  const { headers, ...others } = parts;
  const endpoint = makeTwilioSmsEndpoint({ authTokens: tokens });
  return endpoint.verify(
    rawRequest({
      target: TARGET,
      ...others,
      headers: { ...headers, 'x-twilio-signature': signature },
    }),
  );
}

const form = (text: string) => Buffer.from(text);

describe('the signature of Twilio', () => {
  it.each([
    [
      'plain parameters',
      'From=%2B13125550142&Body=Hi',
      [
        ['From', '+13125550142'],
        ['Body', 'Hi'],
      ],
    ],
    ['a plus as a space', 'Body=a+b', [['Body', 'a b']]],
    ['NUL in the text', 'Body=hi%00there', [['Body', 'hi\u0000there']]],
    ['an emoji', 'Body=%F0%9F%A6%81', [['Body', '🦁']]],
    [
      'an empty value',
      'Body=&From=1',
      [
        ['Body', ''],
        ['From', '1'],
      ],
    ],
    [
      'a key with brackets',
      'a[]=1&a[]=2',
      [
        ['a[]', '1'],
        ['a[]', '2'],
      ],
    ],
    [
      'a key named __proto__',
      '__proto__=1&Body=x',
      [
        ['__proto__', '1'],
        ['Body', 'x'],
      ],
    ],
    ['a key named constructor', 'constructor=1', [['constructor', '1']]],
    ['repeats in one order', 'Addr=%2B15550100&Addr=%2B15550101', repeats()],
    ['repeats in the other order', 'Addr=%2B15550101&Addr=%2B15550100', repeats()],
    ['identical repeats', 'Addr=x&Addr=x', [['Addr', 'x']]],
    ['40 repeats', manyRepeats().text, manyRepeats().pairs],
    ['no parameters', '', []],
  ] as const)('holds with %s, and not once a value is changed [IN1]', (_name, text, pairs) => {
    const signature = sign(ORIGIN + TARGET, pairs);
    expect(verify({ body: form(text) }, signature)).toBe(true);
    expect(verify({ body: form(`${text}&Tampered=1`) }, signature)).toBe(false);
  });

  it.each([
    ['a query in the order it came', '/voice?step=2&msg=Couldn%27t+find+it.&a=1'],
    ['a query with raw quotes', "/voice?msg=Couldn't+find"],
    ['a path with an escape', '/webhooks/twilio/sms%2Fx'],
    ['an empty query', '/voice?'],
  ])('is checked over the received target with %s [IN1]', (_name, target) => {
    expect(verify({ target }, sign(ORIGIN + target))).toBe(true);
  });

  it('refuses another order of the query [IN1]', () => {
    expect(verify({ target: '/voice?b=2&a=1' }, sign(`${ORIGIN}/voice?a=1&b=2`))).toBe(false);
  });

  it.each([
    ['an origin without a port', 'https://h.example.test', 'https://h.example.test:443'],
    ['an origin with the default port', 'https://h.example.test:443', 'https://h.example.test'],
    ['a plain origin', 'http://h.example.test', 'http://h.example.test:80'],
    ['a local origin', 'http://localhost:3000', 'http://localhost:3000'],
    ['an origin with a slash at its end', 'https://h.example.test/', 'https://h.example.test'],
  ])('holds for %s, however Twilio writes the port [IN1]', (_name, publicOrigin, signedOrigin) => {
    expect(verify({ publicOrigin }, sign(signedOrigin + TARGET))).toBe(true);
  });

  it('holds with and without the fragment of connection settings [IN1]', () => {
    const signature = sign(ORIGIN + TARGET);
    expect(verify({}, signature)).toBe(true);
    expect(verify({ target: `${TARGET}#rc=3&rp=all` }, signature)).toBe(true);
    const withFragment = sign(`${ORIGIN}${TARGET}#rc=3&rp=all`);
    expect(verify({ target: `${TARGET}#rc=3&rp=all` }, withFragment)).toBe(true);
  });

  it('does not let a header choose the host [IN1]', () => {
    const headers = {
      host: 'evil.example.test',
      'x-forwarded-host': 'evil.example.test',
      'x-forwarded-proto': 'https',
      forwarded: 'host=evil.example.test',
    };
    expect(verify({ headers }, sign(`https://evil.example.test${TARGET}`))).toBe(false);
    expect(verify({ headers }, sign(ORIGIN + TARGET))).toBe(true);
  });

  it.each([
    ['missing', undefined],
    ['empty', ''],
    ['no base64', 'z'.repeat(64)],
    ['cut short', sign(ORIGIN + TARGET).slice(0, -2)],
    ['of multibyte characters', 'é'.repeat(28)],
    ['sent twice', [sign(ORIGIN + TARGET), sign(ORIGIN + TARGET)]],
    ['made with another token', sign(ORIGIN + TARGET, [], { token: 'other' })],
  ])('is refused without throwing where it is %s [IN4]', (_name, signature) => {
    expect(verify({}, signature)).toBe(false);
  });

  it.each(['http://evil.example.test/', '*', '', '//'])(
    'is refused without throwing for the target "%s" [IN4]',
    (target) => {
      expect(verify({ target }, sign(ORIGIN + TARGET))).toBe(false);
    },
  );

  it('accepts the old and the new token during a rotation [IN1]', () => {
    const tokens = ['new-token', 'old-token'];
    const results = ['new-token', 'old-token', 'older-token'].map((token) =>
      verify({}, sign(ORIGIN + TARGET, [], { token }), tokens),
    );
    expect(results).toEqual([true, true, false]);
  });

  describe('under the settings header', () => {
    const settings = (value: string | string[]) => ({
      'x-twilio-webhooks-signature-settings': value,
    });

    it.each([
      ['key=webhooks_1,algorithm=HMAC_SHA256', 'sha256', true],
      ['key=webhooks_1,algorithm=HMAC_SHA256', 'sha1', false],
      ['key=webhooks_1,algorithm=HMAC_SHA1', 'sha1', true],
      ['key=webhooks_1', 'sha1', true],
      ['algorithm=HMAC_MD5', 'md5', false],
      ['algorithm=HMAC_MD5', 'sha1', false],
    ])('"%s" accepts %s: %s [IN1]', (value, hash, accepted) => {
      const signature = sign(ORIGIN + TARGET, [['Body', 'x']], { hash });
      expect(verify({ headers: settings(value), body: form('Body=x') }, signature)).toBe(accepted);
    });

    it('sent twice is refused [IN4]', () => {
      const headers = settings(['algorithm=HMAC_SHA1', 'algorithm=HMAC_SHA256']);
      expect(verify({ headers }, sign(ORIGIN + TARGET))).toBe(false);
    });
  });

  it('covers a JSON body through its digest in the address [IN1]', () => {
    const body = Buffer.from('{"a":"é"}');
    const digest = createHash('sha256').update(body).digest('hex');
    const target = `${TARGET}?bodySHA256=${digest}`;
    const signature = sign(ORIGIN + target);
    expect(verify({ target, body }, signature)).toBe(true);
    expect(verify({ target, body: Buffer.from('{"a":"e"}') }, signature)).toBe(false);
  });

  it('is not computed for a body of more parameters than Twilio ever sends [IN4]', () => {
    const pairs = Array.from({ length: 1_001 }, (_, index) => [`p${index}`, ''] as const);
    const body = form(pairs.map(([name]) => `${name}=`).join('&'));
    expect(verify({ body }, sign(ORIGIN + TARGET, pairs))).toBe(false);
  });

  it('never throws, whatever arrives [IN1]', () => {
    const noise = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(noise, noise, noise, fc.uint8Array(), (target, signature, settings, bytes) => {
        const headers = { 'x-twilio-webhooks-signature-settings': settings };
        const request = { target: `/${target}`, headers, body: Buffer.from(bytes) };
        expect(verify(request, signature)).toBe(false);
      }),
    );
  });
});

describe('setting up an endpoint of Twilio', () => {
  it.each([
    ['no token', []],
    ['an empty token', ['']],
    ['a blank token beside a good one', ['token', ' ']],
  ])('fails clearly with %s [IN1]', (_name, authTokens) => {
    expect(() => makeTwilioSmsEndpoint({ authTokens })).toThrow(/auth token/);
    expect(() => makeTwilioStatusEndpoint({ authTokens })).toThrow(/auth token/);
  });
});

function repeats() {
  return [
    ['Addr', '+15550100'],
    ['Addr', '+15550101'],
  ] as const;
}

function manyRepeats() {
  const values = Array.from({ length: 40 }, (_, index) => String((index * 7) % 40));
  return {
    text: values.map((value) => `Addr=${value}`).join('&'),
    pairs: values.map((value) => ['Addr', value] as const),
  };
}
