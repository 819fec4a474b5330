import { createHmac } from 'node:crypto';
import {
  createServer,
  request,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { Pool } from 'pg';
import { makeWebhookRouter } from '../../api/webhooks/router';
import { makeChannels } from '../../channels/registry';
import type { WakeTarget } from '../../db/due';
import { databaseClock } from '../../db/clock';
import { DEMO_ACCOUNTS } from '../../dev/demo';
import { makeWorld, type World } from './world';

export const APP_ID = '900000000000009';
const APP_SECRET = 'app-secret-of-tests';
const VERIFY_TOKEN = 'verify-token-of-tests';
const AUTH_TOKEN = 'auth-token-of-tests';
/** The origin that providers sign: the configured one, not the port of the test. */
const ORIGIN = 'https://hooks.example.test';

const [MESSENGER_ACCOUNT, INSTAGRAM, WHATSAPP, SMS_ACCOUNT] = DEMO_ACCOUNTS;
export const MESSENGER = MESSENGER_ACCOUNT;
export const SMS = SMS_ACCOUNT;

const PAGE: string = MESSENGER.externalId;

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface LogLine {
  readonly level: 'warn' | 'error';
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** The webhook addresses of the product behind real HTTP, and what came of the requests. */
export interface WebhookServer {
  readonly logged: LogLine[];
  readonly woken: WakeTarget[];
  get(path: string): Promise<Answer>;
  post(path: string, body: Buffer, headers: OutgoingHttpHeaders): Promise<Answer>;
  /** Posts a delivery of Meta's, signed over its bytes as Meta signs. */
  postMeta(payload: unknown): Promise<Answer>;
  /** Posts an incoming text, signed over address and sorted parameters as Twilio signs. */
  postSms(parameters: Readonly<Record<string, string>>): Promise<Answer>;
  /** Posts a status callback to the address that the sender gave. */
  postSmsStatus(parameters: Readonly<Record<string, string>>, attemptId: string): Promise<Answer>;
  close(): Promise<void>;
}

/** A world whose time is the database's, as in production, with its webhook addresses. */
export interface WebhookWorld {
  readonly world: World;
  readonly server: WebhookServer;
  /** How many rows the table holds. */
  count(table: string): Promise<number>;
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** Makes a world with the demo business and its webhook addresses. */
export async function makeWebhookWorld(): Promise<WebhookWorld> {
  const world = await makeWorld({ clock: databaseClock });
  const server = await startWebhooks(world.database.service);
  return {
    world,
    server,
    count: async (table) =>
      Number((await world.rows(`select count(*) from ${table}`))[0]?.['count']),
    reset: async () => {
      server.logged.length = 0;
      server.woken.length = 0;
      await world.reset();
    },
    close: async () => {
      await server.close();
      await world.close();
    },
  };
}

/** Starts the real router with the real channels over a pool, on a free local port. */
export async function startWebhooks(pool: Pool): Promise<WebhookServer> {
  const logged: LogLine[] = [];
  const woken: WakeTarget[] = [];
  const note = (level: LogLine['level']) => (fields: LogLine['fields'], message: string) => {
    logged.push({ level, fields, message });
  };
  const channels = makeChannels({
    publicUrl: ORIGIN,
    meta: {
      appSecrets: [APP_SECRET],
      verifyToken: VERIFY_TOKEN,
      appId: APP_ID,
      graphUrl: 'https://graph.example.test',
    },
    twilio: {
      apiUrl: 'https://twilio.example.test',
      accountSid: `AC${'0'.repeat(32)}`,
      authTokens: [AUTH_TOKEN],
    },
  });
  const app = express();
  app.use(
    '/webhooks',
    makeWebhookRouter({
      pool,
      isOpener: (text) => /^(hi|hello)\W*$/i.test(text),
      log: { info: () => undefined, warn: note('warn'), error: note('error') },
      endpoints: channels.endpoints,
      publicUrl: ORIGIN,
      waker: { wakeSoon: (targets) => void woken.push(...targets) },
      reach: () => undefined,
    }),
  );
  const server = createServer(app);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const post: WebhookServer['post'] = (path, body, headers) =>
    call({ port, method: 'POST', path, headers }, body);
  return {
    logged,
    woken,
    get: (path) => call({ port, method: 'GET', path }),
    post,
    postMeta: (payload) => {
      const body = metaBytes(payload);
      return post('/webhooks/meta', body, metaHeaders(body));
    },
    postSms: (parameters) => postForm(post, '/webhooks/twilio/sms', parameters),
    postSmsStatus: (parameters, attemptId) =>
      postForm(post, `/webhooks/twilio/status?attempt=${attemptId}`, parameters),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await channels.close();
    },
  };
}

/** The bytes of a payload: as they are, or as JSON. */
export function metaBytes(payload: unknown): Buffer {
  if (Buffer.isBuffer(payload)) return payload;
  return Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload));
}

/** Meta's headers over the bytes (providers.md 3.0.2). */
export function metaHeaders(body: Buffer, secret = APP_SECRET): OutgoingHttpHeaders {
  const digest = createHmac('sha256', secret).update(body).digest('hex');
  return { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${digest}` };
}

/** The signed headers of a form of Twilio's (providers.md 5.0). */
export function twilioHeaders(
  path: string,
  parameters: Readonly<Record<string, string>>,
  { token = AUTH_TOKEN, origin = ORIGIN } = {},
): OutgoingHttpHeaders {
  const sorted = Object.keys(parameters).sort();
  const signed = origin + path + sorted.map((name) => `${name}${parameters[name] ?? ''}`).join('');
  return {
    'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
    'x-twilio-signature': createHmac('sha1', token).update(signed).digest('base64'),
  };
}

function postForm(
  post: WebhookServer['post'],
  path: string,
  parameters: Readonly<Record<string, string>>,
): Promise<Answer> {
  const body = Buffer.from(new URLSearchParams({ ...parameters }).toString());
  return post(path, body, twilioHeaders(path, parameters));
}

interface Call {
  readonly port: number;
  readonly method: string;
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
}

/** One request on a connection of its own; the answer counts even where it comes before the end. */
function call({ port, method, path, headers = {} }: Call, body?: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false });
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString('utf8'),
        });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** A handshake's address with the right or another verify token. */
export function handshakePath(token = VERIFY_TOKEN): string {
  const query = {
    'hub.mode': 'subscribe',
    'hub.challenge': '1158201444',
    'hub.verify_token': token,
  };
  return `/webhooks/meta?${new URLSearchParams(query).toString()}`;
}

/** One item of `messaging[]` in which a lead writes to the demo page. */
export function pageMessage(
  mid: string,
  text: string | null,
  { lead = '8000000000000001', atMs = Date.now(), account = PAGE } = {},
): Record<string, unknown> {
  return {
    sender: { id: lead },
    recipient: { id: account },
    timestamp: atMs,
    message: text === null ? { mid, attachments: [PICTURE] } : { mid, text },
  };
}

const PICTURE = { type: 'image', payload: { url: 'https://cdn.example.test/a.jpg' } };

/** A delivery of a page with the given messaging items in one entry. */
export function pageDelivery(...messaging: readonly unknown[]): Record<string, unknown> {
  return { object: 'page', entry: [{ id: MESSENGER.externalId, time: Date.now(), messaging }] };
}

/** A delivery of Instagram with the given messaging items in one entry. */
export function instagramDelivery(...messaging: readonly unknown[]): Record<string, unknown> {
  return {
    object: 'instagram',
    entry: [{ id: INSTAGRAM.externalId, time: Date.now(), messaging }],
  };
}

/** A delivery of the demo WhatsApp number with one change. */
export function whatsAppDelivery(
  value: Readonly<Record<string, unknown>>,
  field = 'messages',
  numberId = WHATSAPP.externalId as string,
): Record<string, unknown> {
  const metadata = { display_phone_number: '+1 312-555-0100', phone_number_id: numberId };
  const change = { field, value: { messaging_product: 'whatsapp', metadata, ...value } };
  return {
    object: 'whatsapp_business_account',
    entry: [{ id: '200000000000002', changes: [change] }],
  };
}

/** One text message on WhatsApp of the person with that number. */
export function whatsAppText(id: string, body: string, from = '13125550142') {
  const timestamp = String(Math.floor(Date.now() / 1000));
  return { from, id, timestamp, type: 'text', text: { body } };
}

/** An incoming text as Twilio posts it. */
export function smsParameters(
  sid: string,
  body: string,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    MessageSid: sid,
    From: '+13125550142',
    To: SMS.externalId,
    Body: body,
    NumMedia: '0',
    ...more,
  };
}

/** A message of the business on the demo page, as its echo; `by` is the app that sent it. */
export function pageEcho(
  mid: string,
  text: string,
  by: { readonly app?: string; readonly lead?: string; readonly metadata?: string } = {},
): Record<string, unknown> {
  return echoFrom(MESSENGER.externalId, mid, text, by);
}

/** The same on the demo Instagram account, which seldom says who sent it. */
export function instagramEcho(
  mid: string,
  text: string,
  by: { readonly app?: string; readonly lead?: string } = {},
): Record<string, unknown> {
  return echoFrom(INSTAGRAM.externalId, mid, text, by);
}

function echoFrom(
  account: string,
  mid: string,
  text: string,
  by: { readonly app?: string; readonly lead?: string; readonly metadata?: string },
): Record<string, unknown> {
  const { app, lead = '8000000000000001', metadata } = by;
  return {
    sender: { id: account },
    recipient: { id: lead },
    timestamp: Date.now(),
    message: { mid, text, is_echo: true, app_id: app, metadata },
  };
}

/** One item of `messaging[]` in which a lead writes to the demo Instagram account. */
export function instagramMessage(mid: string, text: string): Record<string, unknown> {
  return pageMessage(mid, text, { account: INSTAGRAM.externalId });
}
