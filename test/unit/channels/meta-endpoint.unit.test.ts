import fc from 'fast-check';
import { makeMetaEndpoint } from '../../../channels/meta/endpoint';
import { APP_ID, metaEndpoint, metaSignature, rawRequest } from './support';

const BODY = Buffer.from('{"object":"page","entry":[]}');
const HEX = metaSignature(BODY).slice('sha256='.length);

function verify(body: Buffer, header: string | string[] | undefined): boolean {
  return metaEndpoint().verify(rawRequest({ body, headers: { 'x-hub-signature-256': header } }));
}

describe('the signature of Meta', () => {
  it.each([
    ['an escaped control character in upper case', Buffer.from('{"t":"\\u001B"}')],
    ['an escaped control character in lower case', Buffer.from('{"t":"\\u001b"}')],
    ['escaped slashes', Buffer.from('{"u":"https:\\/\\/cdn.example.test\\/a"}')],
    ['a raw emoji', Buffer.from('{"t":"🦁"}')],
    ['an escaped emoji', Buffer.from('{"t":"\\ud83e\\udd81"}')],
    ['a number that a serialiser would shorten', Buffer.from('{"n":1.0}')],
    ['duplicate keys', Buffer.from('{"a":1,"a":2}')],
    ['a byte order mark', Buffer.from('\uFEFF{"a":1}')],
    ['a trailing newline', Buffer.from('{"a":1}\n')],
    ['line ends of two characters', Buffer.from('{"a":\r\n1}\r\n')],
    ['a byte that is not UTF-8', Buffer.from([0x7b, 0xe9, 0x7d])],
    ['no body at all', Buffer.alloc(0)],
  ])('holds over the received bytes with %s [IN1]', (_name, body) => {
    expect(verify(body, metaSignature(body))).toBe(true);
    expect(verify(Buffer.concat([body, Buffer.from(' ')]), metaSignature(body))).toBe(false);
  });

  it('tells the two spellings of one escape apart [IN1]', () => {
    const signed = metaSignature(Buffer.from('{"t":"\\u001B"}'));
    expect(verify(Buffer.from('{"t":"\\u001b"}'), signed)).toBe(false);
  });

  it.each([
    ['a missing header', undefined],
    ['an empty header', ''],
    ['no digits', 'sha256='],
    ['63 digits', `sha256=${HEX.slice(1)}`],
    ['65 digits', `sha256=${HEX}0`],
    ['64 letters that are no digits', `sha256=${'z'.repeat(64)}`],
    ['64 characters of two bytes', `sha256=${'é'.repeat(64)}`],
    ['two headers as a list', [`sha256=${HEX}`, `sha256=${HEX}`]],
    ['two headers joined', `sha256=${HEX}, sha256=${HEX}`],
    ['upper-case digits', `sha256=${HEX.toUpperCase()}`],
    ['the legacy form', `sha1=${HEX}`],
    ['digits without a scheme', HEX],
    ['a line end behind the digits', `sha256=${HEX}\n`],
  ])('refuses %s without throwing [IN4]', (_name, header) => {
    expect(verify(BODY, header)).toBe(false);
  });

  it('accepts any of several candidate secrets, and no other [IN1]', () => {
    const endpoint = metaEndpoint(['first-secret', 'second-secret']);
    const signedWith = (secret: string) =>
      endpoint.verify(
        rawRequest({ body: BODY, headers: { 'x-hub-signature-256': metaSignature(BODY, secret) } }),
      );
    expect(['first-secret', 'second-secret', 'third-secret'].map(signedWith)).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('never throws, whatever stands in the header [IN1]', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.uint8Array(), (header, bytes) => {
        expect(verify(Buffer.from(bytes), header)).toBe(false);
      }),
    );
  });
});

describe('setting up the endpoint of Meta', () => {
  const complete = { appSecrets: ['secret'], verifyToken: 'token', appId: APP_ID };

  it.each([
    ['no secret', { ...complete, appSecrets: [] }, /at least one app secret/],
    ['an empty secret', { ...complete, appSecrets: ['secret', ''] }, /app secret of Meta is empty/],
    ['a blank secret', { ...complete, appSecrets: [' '] }, /app secret of Meta is empty/],
    ['an empty verify token', { ...complete, verifyToken: '' }, /verify token of Meta is empty/],
    ['an empty app id', { ...complete, appId: '' }, /app id of Meta is empty/],
  ])('fails clearly with %s [IN1]', (_name, options, message) => {
    expect(() => makeMetaEndpoint(options)).toThrow(message);
  });
});

describe('the handshake of Meta', () => {
  const ask = (query: string) => metaEndpoint().handshake?.(new URLSearchParams(query));

  it('answers with the challenge where mode and token are right [IN4]', () => {
    const query = 'hub.mode=subscribe&hub.verify_token=verify-me&hub.challenge=1158201444';
    expect(ask(query)).toEqual({ kind: 'accepted', body: '1158201444' });
  });

  it.each([
    'hub.mode=subscribe&hub.verify_token=wrong&hub.challenge=1',
    'hub.mode=subscribe&hub.challenge=1',
    'hub.mode=unsubscribe&hub.verify_token=verify-me&hub.challenge=1',
    'hub.mode=subscribe&hub.verify_token=verify-me',
    '',
  ])('refuses the query "%s" [IN4]', (query) => {
    expect(ask(query)).toEqual({ kind: 'refused' });
  });
});

describe('the success answer of Meta', () => {
  it('is plain text [IN2]', () => {
    expect(metaEndpoint().success.contentType).toBe('text/plain');
  });
});
