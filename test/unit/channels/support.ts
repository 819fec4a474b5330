import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { InboundElement } from '../../../domain/inbound';
import type { RawRequest, WebhookEndpoint } from '../../../channels/port';
import { makeMetaEndpoint } from '../../../channels/meta/endpoint';

export const APP_ID = '900000000000009';
const APP_SECRET = 'meta-app-secret';
export const ATTEMPT = `att_${'0123456789abcdef'.repeat(2)}`;
export const ORIGIN = 'https://hooks.example.test';

/** A request as the api hands it on; only what a test cares about is named. */
export function rawRequest(parts: Partial<RawRequest>): RawRequest {
  return {
    method: 'POST',
    target: '/webhooks/meta',
    headers: {},
    body: Buffer.alloc(0),
    publicOrigin: ORIGIN,
    ...parts,
  };
}

export function metaEndpoint(appSecrets: readonly string[] = [APP_SECRET]): WebhookEndpoint {
  return makeMetaEndpoint({ appSecrets, verifyToken: 'verify-me', appId: APP_ID });
}

export function metaSignature(body: Buffer, secret = APP_SECRET): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** Parses a payload of Meta's the way the endpoint does. */
export function parseMeta(payload: unknown): readonly InboundElement[] {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  return metaEndpoint().parse(rawRequest({ body: Buffer.from(text) }));
}

/** The one element of a type that a payload gives; anything else fails the test. */
export function only<Type extends InboundElement['type']>(
  elements: readonly InboundElement[],
  type: Type,
): InboundElement & { type: Type } {
  expect(elements.map((element) => element.type)).toEqual([type]);
  const [first] = elements;
  if (!isOfType(first, type)) throw new Error(`no ${type}`);
  return first;
}

function isOfType<Type extends InboundElement['type']>(
  element: InboundElement | undefined,
  type: Type,
): element is InboundElement & { type: Type } {
  return element?.type === type;
}

/** A request that the stand-in for a provider has seen. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface StandIn {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  /** What the next requests are answered with; it may answer nothing at all. */
  answer: (response: ServerResponse, request: SeenRequest) => void;
  close(): Promise<void>;
}

/** Starts a stand-in for a provider on a free local port. */
export async function startStandIn(): Promise<StandIn> {
  const seen: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const one = { method, path, headers, body: Buffer.concat(chunks).toString('utf8') };
      seen.push(one);
      standIn.answer(response, one);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const standIn: StandIn = {
    url: `http://127.0.0.1:${port}`,
    seen,
    answer: (response) => response.end('{}'),
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => {
          resolve();
        });
      }),
  };
  return standIn;
}

/** Answers with JSON. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}) {
  return (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}
