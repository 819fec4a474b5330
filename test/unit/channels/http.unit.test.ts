import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { makeHttpClient } from '../../../channels/http';
import type { HttpClient, HttpEnding } from '../../../channels/http';
import { startStandIn } from './support';
import type { StandIn } from './support';

/**
 * A call tells apart what the provider can have seen of it: nothing (`unsent`), perhaps all of it
 * (`lost`), or all of it with an answer. Every case also counts what reached the other side.
 */
describe('one call to a provider', () => {
  let http: HttpClient;
  let provider: StandIn;

  beforeEach(async () => {
    http = makeHttpClient();
    provider = await startStandIn();
  });
  afterEach(async () => {
    await provider.close();
    await http.close();
  });

  const call = (url = provider.url, timeoutMs = 2_000): Promise<HttpEnding> =>
    http.call({
      method: 'POST',
      url: new URL('/path?q=1', url),
      headers: { 'content-type': 'text/plain' },
      body: 'hello',
      timeoutMs,
    });

  it('hands the whole answer over [C6]', async () => {
    provider.answer = (response) => {
      response.writeHead(201, { 'x-kind': 'test' });
      response.write('a');
      setImmediate(() => response.end('b'));
    };
    const ending = await call();
    expect(ending).toMatchObject({ kind: 'answered', status: 201, headers: { 'x-kind': 'test' } });
    expect(ending.kind === 'answered' && ending.body.toString()).toBe('ab');
    expect(provider.seen).toMatchObject([{ method: 'POST', path: '/path?q=1', body: 'hello' }]);
  });

  it('keeps its connection for the next call', async () => {
    const ports = new Set<number | undefined>();
    provider.answer = (response) => {
      ports.add(response.socket?.remotePort);
      response.end('{}');
    };
    await call();
    // The client takes a connection back once the answer is handed over.
    await new Promise((resolve) => setImmediate(resolve));
    await call();
    expect(ports.size).toBe(1);
  });

  it('is unsent where the connection is refused [C6]', async () => {
    const closed = await startStandIn();
    await closed.close();
    expect(await call(closed.url)).toEqual({ kind: 'unsent', code: 'ECONNREFUSED' });
  });

  it('is unsent where the name is unknown [C6]', async () => {
    const ending = await call('http://no-such-host.invalid');
    expect(ending.kind).toBe('unsent');
  });

  it('is unsent where TLS fails, because nothing was written yet [C6]', async () => {
    const ending = await call(provider.url.replace('http:', 'https:'));
    expect(ending.kind).toBe('unsent');
    expect(provider.seen).toHaveLength(0);
  });

  it('is unsent where a header cannot be written at all', async () => {
    const headers = { authorization: 'Bearer a\nb' };
    const url = new URL(provider.url);
    const ending = await http.call({ method: 'GET', url, headers, body: null, timeoutMs: 1_000 });
    expect(ending.kind).toBe('unsent');
    expect(provider.seen).toHaveLength(0);
  });

  it('is lost where the answer does not come in time, and is not repeated [C6]', async () => {
    provider.answer = () => undefined;
    const ending = await call(provider.url, 150);
    expect(ending).toMatchObject({ kind: 'lost', code: 'timeout', status: null });
    provider.answer = (response) => response.end('{}');
    await call();
    expect(provider.seen).toHaveLength(2);
  });

  it('is lost where the body trickles past the time-out, although bytes keep coming [C6]', async () => {
    let trickle: NodeJS.Timeout | undefined;
    provider.answer = (response) => {
      response.writeHead(200);
      trickle = setInterval(() => response.write('x'), 20);
    };
    const ending = await call(provider.url, 200);
    clearInterval(trickle);
    expect(ending).toMatchObject({ kind: 'lost', code: 'timeout', status: 200 });
    expect(provider.seen).toHaveLength(1);
  });

  it('is lost where the connection breaks after the request, and is not repeated [C6]', async () => {
    provider.answer = (response) => response.socket?.destroy();
    expect(await call()).toMatchObject({ kind: 'lost', status: null });
    expect(provider.seen).toHaveLength(1);
  });

  it('is lost where the connection breaks inside the answer [C6]', async () => {
    provider.answer = (response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.socket?.destroy());
    };
    expect(await call()).toMatchObject({ kind: 'lost', status: 200 });
    expect(provider.seen).toHaveLength(1);
  });

  it('is lost where the answer is larger than any answer of a provider', async () => {
    provider.answer = (response) => response.end('x'.repeat(2 * 1024 * 1024));
    const ending = await call();
    expect(ending).toMatchObject({ kind: 'lost', code: 'UND_ERR_RES_EXCEEDED_MAX_SIZE' });
    expect(provider.seen).toHaveLength(1);
  });

  it('follows no redirect', async () => {
    provider.answer = (response) => response.writeHead(307, { location: '/elsewhere' }).end();
    expect(await call()).toMatchObject({ kind: 'answered', status: 307 });
    expect(provider.seen).toHaveLength(1);
  });

  it.each([Number.NaN, -1, 0])('with the time-out %p is unsent at once', async (timeoutMs) => {
    expect(await call(provider.url, timeoutMs)).toMatchObject({ kind: 'unsent' });
    expect(provider.seen).toHaveLength(0);
  });

  it.each([Number.POSITIVE_INFINITY, 2 ** 31])(
    'with the time-out %p is not cut off',
    async (ms) => {
      expect(await call(provider.url, ms)).toMatchObject({ kind: 'answered' });
    },
  );
});

describe('a connection that the provider closed while it was idle', () => {
  let server: Server;
  const seen: string[] = [];
  const sockets: Socket[] = [];

  beforeEach(async () => {
    seen.length = 0;
    sockets.length = 0;
    server = createServer((socket) => {
      sockets.push(socket);
      socket.on('data', (bytes) => {
        seen.push(bytes.toString());
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
      });
      socket.on('error', () => socket.destroy());
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  it('never makes one call reach the provider twice [C6]', async () => {
    const http = makeHttpClient();
    const { port } = server.address() as AddressInfo;
    const url = new URL(`http://127.0.0.1:${port}/`);
    const call = () =>
      http.call({ method: 'POST', url, headers: {}, body: 'once', timeoutMs: 2_000 });
    await call();
    sockets[0]?.end();
    const ending = await call();
    expect(ending.kind).not.toBe('unsent');
    expect(seen).toHaveLength(2);
    await http.close();
  });
});
