/**
 * The floor F: the product's own verification, parsing and ingest, and then the provider call in
 * the same process, at once. No queue, no gate, nothing that survives a crash after the commit.
 */
import express from 'express';
import { makeMetaEndpoint } from '../channels/meta/endpoint';
import { makeMessengerSender } from '../channels/meta/messenger-senders';
import { makeHttpClient } from '../channels/http';
import type { RawRequest } from '../channels/port';
import { receive, type Arrival } from '../api/webhooks/receive';
import { openPool } from '../db/database';
import { newId } from '../db/new-id';
import type { InboundElement } from '../domain/inbound';
import { ANSWER, listen, required } from './responder';
import { serveParent } from './parent';

const CALL_TIMEOUT_MS = 10_000;

const pool = openPool({
  connectionString: required('BENCH_DATABASE_URL'),
  max: 10,
  applicationName: 'bench-floor',
  onError: (error) => console.error(error),
});
const endpoint = makeMetaEndpoint({
  appSecrets: [required('META_APP_SECRET')],
  verifyToken: 'bench',
  appId: '900000000000009',
});
const sender = makeMessengerSender({
  http: makeHttpClient(),
  graphUrl: required('META_GRAPH_URL'),
});
const log = {
  info: () => undefined,
  warn: (fields: object, message: string) => console.error(message, fields),
  error: (fields: object, message: string) => console.error(message, fields),
};

async function answerLead(element: InboundElement): Promise<void> {
  if (element.type !== 'message') return;
  const outcome = await sender.send(
    {
      channel: element.channel,
      accountExternalId: element.accountExternalId,
      credentials: { accessToken: 'bench' },
      attemptId: newId('att'),
      to: element.from,
      text: ANSWER,
    },
    { timeoutMs: CALL_TIMEOUT_MS },
  );
  if (outcome.kind !== 'accepted') console.error('the provider did not accept:', outcome);
}

const app = express();
app.post('/webhooks/meta', express.raw({ type: () => true }), async (request, response) => {
  const acceptedAt = new Date().toISOString();
  const acceptedMonotonicMs = performance.now();
  const raw: RawRequest = {
    method: request.method,
    target: request.originalUrl,
    headers: request.headers,
    body: request.body as Buffer,
    publicOrigin: '',
  };
  if (!endpoint.verify(raw)) {
    response.status(401).end();
    return;
  }
  let elements: readonly InboundElement[] = [];
  const remembering = { ...endpoint, parse: (it: RawRequest) => (elements = endpoint.parse(it)) };
  const arrival: Arrival = { request: raw, endpoint: remembering, acceptedAt, acceptedMonotonicMs };
  await receive({ pool, isOpener: () => false, log, reach: () => undefined }, arrival);
  response.type(endpoint.success.contentType).send(endpoint.success.body);
  for (const element of elements) void answerLead(element);
});

void listen(app).then((port) => serveParent({ port }, {}));
