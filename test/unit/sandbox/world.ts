import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { startSandbox, type Sandbox } from '../../../sandbox/server';
import type { SandboxOptions } from '../../../sandbox/settings';

/** One request that the app under test would have received. */
export interface Received {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Waiter {
  readonly count: number;
  readonly matches: (request: Received) => boolean;
  readonly resolve: (requests: Received[]) => void;
}

/** A receiving HTTP server in place of the app under test. */
export interface Receiver {
  readonly url: string;
  readonly requests: readonly Received[];
  /** The status of the next answers, in turn; 200 when there is none left. */
  readonly statuses: number[];
  /** Called before each answer, for tests of what happens meanwhile. */
  onRequest: (request: Received) => void;
  /** Resolves when `count` requests that match have arrived, in order of arrival. */
  readonly arrived: (
    count: number,
    matches?: (request: Received) => boolean,
  ) => Promise<Received[]>;
  readonly close: () => Promise<void>;
}

/** Listens on `port`, or on a free one. */
export async function startReceiver(listenOn = 0): Promise<Receiver> {
  const requests: Received[] = [];
  const waiters = new Set<Waiter>();
  const settle = () => {
    for (const waiter of waiters) {
      const found = requests.filter(waiter.matches);
      if (found.length < waiter.count) continue;
      waiters.delete(waiter);
      waiter.resolve(found.slice(0, waiter.count));
    }
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: target = '', headers } = request;
      const received = { method, target, headers, body: Buffer.concat(chunks).toString() };
      receiver.onRequest(received);
      requests.push(received);
      response.statusCode = receiver.statuses.shift() ?? 200;
      response.end(new URL(target, 'http://any').searchParams.get('hub.challenge') ?? '');
      settle();
    });
  });
  server.listen(listenOn, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}`,
    requests,
    statuses: [],
    onRequest: () => undefined,
    arrived: (count, matches = () => true) =>
      new Promise((resolve) => {
        waiters.add({ count, matches, resolve });
        settle();
      }),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** A sandbox and the app that it calls. */
export interface World {
  readonly sandbox: Sandbox;
  readonly app: Receiver;
  readonly close: () => Promise<void>;
}

export async function startWorld(options: SandboxOptions = {}): Promise<World> {
  const app = await startReceiver();
  const settings = { port: 0, publicUrl: app.url, echoDelayMs: 0, metaRetryDelaysMs: [] };
  const sandbox = await startSandbox({ ...settings, ...options });
  const close = async () => {
    await sandbox.close();
    await app.close();
  };
  return { sandbox, app, close };
}

/** Calls the sandbox and reads the JSON of its answer, if there is any. */
export async function call(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  const body: unknown = text === '' ? null : JSON.parse(text);
  return { status: response.status, headers: response.headers, body };
}

export function postJson(url: string, body: unknown, headers = {}): Promise<Answer> {
  return call(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

/** Acts on the phone of a lead. */
export function phone(world: World, channel: string, message: object): Promise<Answer> {
  return postJson(`${world.sandbox.url}/phone/${channel}/messages`, message);
}

export function armFault(world: World, fault: object): Promise<Answer> {
  return postJson(`${world.sandbox.url}/faults`, fault);
}

/** The value under a dotted path, or undefined. */
export function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((current, key) => {
    if (typeof current !== 'object' || current === null) return undefined;
    return (current as Record<string, unknown>)[key];
  }, value);
}

/** The text under a dotted path; fails the test where there is none. */
export function textAt(value: unknown, path: string): string {
  const found = at(value, path);
  if (typeof found !== 'string') throw new Error(`No text at ${path}: ${JSON.stringify(value)}`);
  return found;
}

export function parsed(request: Received | undefined): unknown {
  return JSON.parse(request?.body ?? 'null');
}

const PATHS = {
  messenger: '100000000000001',
  instagram: '17840000000000001',
  whatsapp: '300000000000003',
} as const;

/** Sends through the Graph API as the app under test would. */
export function graphSend(
  world: World,
  channel: keyof typeof PATHS,
  body: object,
  init: RequestInit = {},
): Promise<Answer> {
  return call(`${world.sandbox.url}/graph/v26.0/${PATHS[channel]}/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer sandbox-token' },
    body: JSON.stringify(body),
    ...init,
  });
}

export function graphGet(world: World, path: string): Promise<Answer> {
  const headers = { authorization: 'Bearer sandbox-token' };
  return call(`${world.sandbox.url}/graph/v26.0/${path}`, { headers });
}

const TWILIO_SID = 'AC00000000000000000000000000000001';
const TWILIO_BASIC = Buffer.from(`${TWILIO_SID}:sandbox-auth-token`).toString('base64');

export const twilioMessages = (world: World) =>
  `${world.sandbox.url}/twilio/2010-04-01/Accounts/${TWILIO_SID}/Messages.json`;

export const twilioHeaders = { authorization: `Basic ${TWILIO_BASIC}` };

/** Sends through the Twilio API as the app under test would. */
export function smsSend(
  world: World,
  form: Record<string, string>,
  init: RequestInit = {},
): Promise<Answer> {
  return call(twilioMessages(world), {
    method: 'POST',
    headers: twilioHeaders,
    body: new URLSearchParams({ From: '+13125550100', ...form }),
    ...init,
  });
}

export type AnyChannel = keyof typeof PATHS | 'sms';
export const ALL_CHANNELS: readonly AnyChannel[] = ['messenger', 'instagram', 'whatsapp', 'sms'];

/** A lead that has just written, and how the app sends it an answer. */
export interface Conversation {
  readonly lead: string;
  readonly address: string;
  readonly send: (text: string, init?: RequestInit) => Promise<Answer>;
}

function addressIn(channel: AnyChannel, request: Received | undefined): string {
  if (channel === 'sms') return new URLSearchParams(request?.body).get('From') ?? '';
  const body = parsed(request);
  return channel === 'whatsapp'
    ? textAt(body, 'entry.0.changes.0.value.messages.0.from')
    : textAt(body, 'entry.0.messaging.0.sender.id');
}

/** Lets a lead write first, so that the app may answer on any channel in the same words. */
export async function conversation(
  world: World,
  channel: AnyChannel,
  lead = 'Robin Fields',
): Promise<Conversation> {
  const { body } = await phone(world, channel, { lead, text: 'Do you fix water heaters?' });
  const id = textAt(body, 'providerMessageId');
  const inbound = world.app.requests.find((r) => r.body.replaceAll('\\/', '/').includes(id));
  const address = addressIn(channel, inbound);
  const send = (text: string, init: RequestInit = {}) => {
    if (channel === 'sms') {
      const StatusCallback = `${world.app.url}/webhooks/twilio/status?attempt=att_1`;
      return smsSend(world, { To: address, Body: text, StatusCallback }, init);
    }
    if (channel === 'whatsapp') {
      const content = { type: 'text', text: { body: text }, biz_opaque_callback_data: 'att_1' };
      return graphSend(
        world,
        channel,
        { messaging_product: 'whatsapp', to: address, ...content },
        init,
      );
    }
    const message = { text, metadata: 'att_1' };
    return graphSend(world, channel, { recipient: { id: address }, message }, init);
  };
  return { lead, address, send };
}

export async function ledgerTexts(world: World): Promise<unknown[]> {
  const { body } = await call(`${world.sandbox.url}/ledger`);
  return (body as unknown[]).map((entry) => at(entry, 'text'));
}

/** What the customer sees, as pairs of side and text. */
export async function threadOf(world: World, channel: string, lead: string): Promise<string[]> {
  const name = encodeURIComponent(lead);
  const { body } = await call(`${world.sandbox.url}/phone/${channel}/threads/${name}`);
  return (body as unknown[]).map((entry) => `${textAt(entry, 'from')}: ${textAt(entry, 'text')}`);
}
