import { Webhook } from 'standardwebhooks';
import { makeHttpClient } from '../../../channels/http';
import type { HttpClient } from '../../../channels/http';
import { makePostSigned } from '../../../channels/signed-webhook';
import type { PostOutcome, SignedPost } from '../../../channels/port';
import { startStandIn } from './support';
import type { StandIn } from './support';

const SECRET = `whsec_${Buffer.from('a secret of twenty-four bytes').toString('base64')}`;

/** A post tells apart what the receiver took, what it surely did not, and what nobody knows. */
describe('a signed webhook', () => {
  let http: HttpClient;
  let receiver: StandIn;

  beforeEach(async () => {
    http = makeHttpClient();
    receiver = await startStandIn();
  });
  afterEach(async () => {
    await receiver.close();
    await http.close();
  });

  const post = (changes: Partial<SignedPost> = {}): Promise<PostOutcome> =>
    makePostSigned(http)({
      url: `${receiver.url}/hooks/crm`,
      secret: SECRET,
      id: 'rcp_1:crm-upsert:v1',
      body: { name: 'Zoë' },
      timeoutMs: 2_000,
      ...changes,
    });

  it('carries a signature that the library of the receiver accepts, over the exact bytes [IN2]', async () => {
    expect(await post()).toEqual({ kind: 'accepted' });
    const [seen] = receiver.seen;
    expect(seen).toMatchObject({ method: 'POST', path: '/hooks/crm' });
    const headers = Object.fromEntries(
      Object.entries(seen?.headers ?? {}).map(([name, value]) => [name, String(value)]),
    );
    expect(headers['webhook-id']).toBe('rcp_1:crm-upsert:v1');
    expect(new Webhook(SECRET).verify(seen?.body ?? '', headers)).toEqual({ name: 'Zoë' });
  });

  it('repeats the same id for the same message, so that the receiver can drop it [IN2]', async () => {
    await post();
    await post();
    expect(receiver.seen.map(({ headers }) => headers['webhook-id'])).toEqual([
      'rcp_1:crm-upsert:v1',
      'rcp_1:crm-upsert:v1',
    ]);
  });

  const backOff = { kind: 'not-accepted', retry: 'back-off', pausesAccount: false };
  const never = { kind: 'not-accepted', retry: 'never', pausesAccount: false };
  it.each([
    [200, {}, { kind: 'accepted' }],
    [202, {}, { kind: 'accepted' }],
    [204, {}, { kind: 'accepted' }],
    [307, { location: '/elsewhere' }, { ...never, code: 'http-307' }],
    [400, {}, { ...never, code: 'http-400' }],
    [401, {}, { ...backOff, pausesAccount: true, code: 'http-401' }],
    [403, {}, { ...backOff, pausesAccount: true, code: 'http-403' }],
    [404, {}, { ...never, code: 'http-404' }],
    [408, {}, { kind: 'unknown', code: 'http-408' }],
    [410, {}, { ...never, code: 'http-410' }],
    [429, {}, { ...backOff, retryAfterMs: null }],
    [429, { 'retry-after': '7' }, { ...backOff, retryAfterMs: 7_000 }],
    [500, {}, { kind: 'unknown', code: 'http-500' }],
    [502, { 'retry-after': '7' }, { kind: 'unknown', code: 'http-502' }],
    [503, {}, { kind: 'unknown', code: 'http-503' }],
    [503, { 'retry-after': '7' }, { ...backOff, code: 'http-503', retryAfterMs: 7_000 }],
  ] as const)(
    'the answer %d with %o is judged once [IN4] [C6]',
    async (status, headers, expected) => {
      receiver.answer = (response) => response.writeHead(status, { ...headers }).end();
      expect(await post()).toMatchObject(expected);
      expect(receiver.seen).toHaveLength(1);
    },
  );

  it('is not accepted where nobody listens [C6]', async () => {
    const closed = await startStandIn();
    await closed.close();
    expect(await post({ url: closed.url })).toMatchObject({ ...backOff, code: 'ECONNREFUSED' });
  });

  it('is unknown where the answer does not come in time [C6]', async () => {
    receiver.answer = () => undefined;
    expect(await post({ timeoutMs: 150 })).toEqual({ kind: 'unknown', code: 'timeout' });
    expect(receiver.seen).toHaveLength(1);
  });

  it('is unknown where the connection breaks behind the request [C6]', async () => {
    receiver.answer = (response) => response.socket?.destroy();
    expect(await post()).toMatchObject({ kind: 'unknown' });
  });

  it('is accepted where only the rest of a 2xx was cut off, because nobody reads it [C6]', async () => {
    receiver.answer = (response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{');
      setImmediate(() => response.socket?.destroy());
    };
    expect(await post()).toEqual({ kind: 'accepted' });
  });

  it('does not read an answer without end', async () => {
    receiver.answer = (response) => response.end('x'.repeat(2 * 1024 * 1024));
    expect(await post()).toEqual({ kind: 'accepted' });
  });

  it.each(['', 'no url', 'ftp://example.test/', 'file:///tmp/x'])(
    'posts nothing to the address %p',
    async (url) => {
      expect(await post({ url })).toMatchObject({ ...never, code: 'bad-url' });
    },
  );

  it.each(['', 'whsec_', 'whsec_not base64!'])(
    'posts nothing under the secret %p and asks for a new one [IN4]',
    async (secret) => {
      expect(await post({ secret })).toMatchObject({
        ...backOff,
        pausesAccount: true,
        code: 'bad-secret',
      });
      expect(receiver.seen).toHaveLength(0);
    },
  );
});
