import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import { createHash } from 'node:crypto';
import type { SandboxAccount } from '../accounts';
import type { SandboxContext } from '../context';
import { contentOf, contentTypeOf, kindOfMediaId } from '../media';
import { answer, applyLatency, type Reply } from '../provider-call';
import { firstText, memberOf, textOf } from '../values';
import { graphError, metaFaultReply, tokenRefused, unknownObject } from './graph-errors';
import { asPageAccount, servePageSend } from './page-send';
import { listConversations, readConversation } from './read-back';
import { subscribeApp } from './subscriptions';
import { serveWhatsAppSend } from './whatsapp-send';

const BODY_LIMIT = '1mb';

function tokenOf(request: Request): string | null {
  const header = request.headers.authorization ?? '';
  const bearer = /^(?:Bearer|OAuth) (.+)$/i.exec(header)?.[1];
  return bearer ?? firstText(request.query['access_token']) ?? textOf(request.body, 'access_token');
}

/** Unknown versions and tokens are refused before anything of the request is looked at. */
function refuseStranger(context: SandboxContext, request: Request): Reply | null {
  const version = firstText(request.params['version']) ?? '';
  if (!/^v\d+\.\d+$/.test(version)) {
    const message = `Unknown path components: ${request.path}`;
    return graphError(400, { message, code: 2500 });
  }
  return tokenOf(request) === context.settings.metaAccessToken ? null : tokenRefused('wrong');
}

/** An expired token is met by reads too; the other call faults wait for a send. */
function readFault(context: SandboxContext, account: SandboxAccount): Reply | null {
  const armed = context.faults.take(account.channel, ['auth-expired']);
  return armed === null ? null : metaFaultReply(account, 'auth-expired', armed);
}

async function serveMessages(
  context: SandboxContext,
  request: Request<{ id: string }>,
  response: Response,
): Promise<void> {
  const account = context.accounts.findAtMeta(request.params.id);
  if (account === null) {
    answer(response, unknownObject(request.params.id, 'POST'));
    return;
  }
  await applyLatency(context, account.channel);
  const page = asPageAccount(account);
  const exchange = { request, response };
  if (page !== null) return servePageSend(context, page, exchange);
  return serveWhatsAppSend(context, account, exchange);
}

async function serveConversations(
  context: SandboxContext,
  request: Request<{ id: string }>,
  response: Response,
): Promise<void> {
  const account = context.accounts.findAtMeta(request.params.id);
  const page = account === null ? null : asPageAccount(account);
  if (page === null) {
    answer(response, unknownObject(request.params.id, 'GET'));
    return;
  }
  await applyLatency(context, page.channel);
  answer(response, readFault(context, page) ?? listConversations(context, page, request.query));
}

function mediaReply(context: SandboxContext, id: string): Reply | null {
  const kind = kindOfMediaId(id);
  if (kind === null || context.accounts.findAtMeta(id) !== null) return null;
  const content = contentOf(kind);
  const sha256 = createHash('sha256').update(content).digest('base64');
  const file = { mime_type: contentTypeOf(kind), sha256, file_size: content.length };
  const url = `${context.self.url}/media/${id}`;
  return { status: 200, body: { messaging_product: 'whatsapp', id, url, ...file } };
}

function serveObject(
  context: SandboxContext,
  request: Request<{ id: string }>,
  response: Response,
): void {
  const { id } = request.params;
  const account = context.accounts.findAtMeta(id);
  if (account !== null) {
    const refused = readFault(context, account);
    answer(response, refused ?? { status: 200, body: { id, name: account.name } });
    return;
  }
  const media = mediaReply(context, id);
  if (media !== null) {
    answer(response, media);
    return;
  }
  answer(response, readConversation(context, id, request.query));
}

/** The part of Meta's Graph API that messaging needs, under any version (providers 3.0–3.3). */
export function graphRouter(context: SandboxContext): Router {
  const router = express.Router();
  router.use(express.json({ limit: BODY_LIMIT }));
  router.use('/:version', (request, response, next) => {
    const refusal = refuseStranger(context, request);
    if (refusal === null) next();
    else answer(response, refusal);
  });
  router.post('/:version/:id/messages', (req, res) => serveMessages(context, req, res));
  router.get('/:version/:id/conversations', (req, res) => serveConversations(context, req, res));
  router.post('/:version/:id/subscriptions', async (request, response) => {
    answer(response, await subscribeApp(context, request.body));
  });
  router.get('/:version/:id/subscribed_apps', (_request, response) => {
    const { metaAppId } = context.settings;
    answer(response, { status: 200, body: { data: [{ id: metaAppId, name: 'Sandbox app' }] } });
  });
  router.post('/:version/:id/subscribed_apps', (_request, response) => {
    answer(response, { status: 200, body: { success: true } });
  });
  router.get('/:version/:id', (req, res) => serveObject(context, req, res));
  router.use('/:version/:id', (request: Request<{ id: string }>, response) => {
    answer(response, unknownObject(request.params.id, request.method));
  });
  router.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    if (memberOf(error, 'type') === undefined) {
      context.settings.onError(error);
      answer(response, graphError(500, { message: 'The sandbox failed.', code: 1 }));
    } else answer(response, graphError(400, { message: '(#100) Invalid request body', code: 100 }));
  });
  return router;
}
