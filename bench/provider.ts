/**
 * The benchmark's provider: it takes sends as Meta's Graph API and Twilio do, answers in their
 * form, and writes down when each request had arrived in full. The sandbox does much more for
 * each send, which would be measured too.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sharedMs, wallMs } from './clock';
import { serveParent } from './parent';

/** One send that the provider accepted. */
export interface ProviderSend {
  readonly atMs: number;
  readonly wallMs: number;
  /** When the answer was written; null while it is held back or after the caller hung up. */
  answeredAtMs: number | null;
  readonly to: string;
  readonly text: string;
  /** The attempt id, where the sender passed one. */
  readonly correlation: string | null;
  readonly messageId: string;
}

interface Settings {
  /** How long a real provider would take to answer. */
  readonly answerAfterMs: number;
  /** Where echoes go, as Messenger sends them; null for none. */
  readonly echoes: {
    readonly url: string;
    readonly appSecret: string;
    readonly appId: string;
  } | null;
}

let settings: Settings = { answerAfterMs: 0, echoes: null };
let sends: ProviderSend[] = [];
const threads = new Map<string, ProviderSend[]>();

function accept(
  send: Pick<ProviderSend, 'to' | 'text' | 'correlation' | 'messageId'>,
): ProviderSend {
  const accepted = { ...send, atMs: sharedMs(), wallMs: wallMs(), answeredAtMs: null };
  sends.push(accepted);
  threads.set(send.to, [accepted, ...(threads.get(send.to) ?? [])]);
  return accepted;
}

function answerJson(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

function answerSend(send: ProviderSend, response: ServerResponse, status: number, body: object) {
  const reply = () => {
    if (response.destroyed) return;
    send.answeredAtMs = sharedMs();
    answerJson(response, status, body);
  };
  if (settings.answerAfterMs > 0) setTimeout(reply, settings.answerAfterMs);
  else reply();
}

interface GraphBody {
  readonly recipient: { readonly id: string };
  readonly message: { readonly text: string; readonly metadata?: string };
}

function takeGraphSend(page: string, text: string, response: ServerResponse): void {
  const { recipient, message } = JSON.parse(text) as GraphBody;
  const send = accept({
    to: recipient.id,
    text: message.text,
    correlation: message.metadata ?? null,
    messageId: `m_${randomUUID().replaceAll('-', '')}`,
  });
  answerSend(send, response, 200, { recipient_id: send.to, message_id: send.messageId });
  if (settings.echoes !== null) void sendEcho(page, send, settings.echoes);
}

async function sendEcho(
  page: string,
  send: ProviderSend,
  { url, appSecret, appId }: NonNullable<Settings['echoes']>,
): Promise<void> {
  const { to, text, messageId: mid, correlation: metadata } = send;
  const message = { mid, text, is_echo: true, app_id: appId, ...(metadata && { metadata }) };
  const item = { sender: { id: page }, recipient: { id: to }, timestamp: Date.now(), message };
  const entry = [{ id: page, time: Date.now(), messaging: [item] }];
  const body = JSON.stringify({ object: 'page', entry });
  const signature = createHmac('sha256', appSecret).update(body).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'x-hub-signature-256': `sha256=${signature}`,
  };
  const response = await fetch(url, { method: 'POST', headers, body });
  await response.arrayBuffer();
}

function takeTwilioSend(text: string, response: ServerResponse): void {
  const form = new URLSearchParams(text);
  const callback = form.get('StatusCallback');
  const send = accept({
    to: form.get('To') ?? '',
    text: form.get('Body') ?? '',
    correlation: callback === null ? null : new URL(callback).searchParams.get('attempt'),
    messageId: `SM${randomUUID().replaceAll('-', '')}`,
  });
  answerSend(send, response, 201, twilioMessage(send, form.get('From')));
}

function twilioMessage(send: ProviderSend, from: string | null): object {
  return {
    sid: send.messageId,
    from,
    to: send.to,
    body: send.text,
    direction: 'outbound-api',
    status: 'queued',
    date_created: new Date(send.wallMs).toUTCString(),
    error_code: null,
  };
}

/** Messenger's way to look a conversation up, for attempts whose answer was lost (C6). */
function readGraph(url: URL, response: ServerResponse): void {
  const [, , , node = '', edge] = url.pathname.split('/');
  if (edge === 'conversations') {
    const lead = url.searchParams.get('user_id') ?? '';
    answerJson(response, 200, { data: [{ id: `t_${lead}` }] });
    return;
  }
  const data = (threads.get(node.slice(2)) ?? []).slice(0, 20).map((send) => ({
    id: send.messageId,
    created_time: new Date(send.wallMs).toISOString(),
    from: { id: 'page' },
    message: send.text,
  }));
  answerJson(response, 200, { id: node, messages: { data } });
}

function readTwilio(url: URL, response: ServerResponse): void {
  const from = url.searchParams.get('From');
  const list = threads.get(url.searchParams.get('To') ?? '') ?? [];
  const messages = list.map((send) => twilioMessage(send, from));
  answerJson(response, 200, { messages, next_page_uri: null });
}

function route(request: IncomingMessage, response: ServerResponse, body: string): void {
  const url = new URL(request.url ?? '/', 'http://provider');
  const isGraph = url.pathname.startsWith('/graph/');
  if (request.method === 'GET') {
    if (isGraph) readGraph(url, response);
    else readTwilio(url, response);
    return;
  }
  const [, , , page = ''] = url.pathname.split('/');
  if (isGraph) takeGraphSend(page, body, response);
  else takeTwilioSend(body, response);
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => route(request, response, Buffer.concat(chunks).toString('utf8')));
});
// Longer than any pause of the load, so that no sender meets a closing connection.
server.keepAliveTimeout = 120_000;

function takeSends(): ProviderSend[] {
  const taken = sends;
  sends = [];
  return taken;
}

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  serveParent(
    { port },
    {
      settings: (argument) => {
        settings = argument as Settings;
      },
      count: () => sends.length,
      take: takeSends,
      /** Sends so far without forgetting them. */
      peek: () => sends,
    },
  );
});
