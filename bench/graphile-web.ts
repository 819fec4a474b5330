/**
 * The webhook half of the plain responder: message row and job in one transaction, then 200. It
 * has no receipts, no conversations, no debt, no gate and no attempt ledger.
 */
import express from 'express';
import { Pool } from 'pg';
import { makeMetaEndpoint } from '../channels/meta/endpoint';
import type { RawRequest } from '../channels/port';
import type { MessageElement } from '../domain/inbound';
import { listen, required } from './responder';
import { serveParent } from './parent';

const pool = new Pool({ connectionString: required('BENCH_DATABASE_URL'), max: 10 });
const endpoint = makeMetaEndpoint({
  appSecrets: [required('META_APP_SECRET')],
  verifyToken: 'bench',
  appId: '900000000000009',
});

async function store(element: MessageElement): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query({
      name: 'insert-message',
      text: `insert into bench_messages (account, lead, body) values ($1, $2, $3)`,
      values: [element.accountExternalId, element.from[0]?.value, element.text],
    });
    await client.query({
      name: 'add-job',
      text: `select graphile_worker.add_job('answer', $1::json)`,
      values: [JSON.stringify({ account: element.accountExternalId, to: element.from })],
    });
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

const app = express();
app.post('/webhooks/meta', express.raw({ type: () => true }), async (request, response) => {
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
  for (const element of endpoint.parse(raw)) {
    if (element.type === 'message') await store(element);
  }
  response.type(endpoint.success.contentType).send(endpoint.success.body);
});

void listen(app).then((port) => serveParent({ port }, {}));
