import express, {
  Router,
  type ErrorRequestHandler,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import type { Channels } from '../../channels/registry';
import type { RawRequest, WebhookEndpoint } from '../../channels/port';
import type { Waker } from '../../upkeep/waker';
import { receive, type ReceiveDependencies } from './receive';

/** IN4: larger bodies are refused with 413 and an alert. */
const BODY_BYTES_MAX = 2 * 1024 * 1024;

export interface WebhookDependencies extends ReceiveDependencies {
  readonly endpoints: Channels['endpoints'];
  readonly publicUrl: string;
  readonly waker: Pick<Waker, 'wakeSoon'>;
}

/**
 * The webhook addresses of `contract.md`. Mounted before every body parser, because signatures
 * are made over the bytes as they came (IN1).
 */
export function makeWebhookRouter(dependencies: WebhookDependencies): Router {
  const router = Router();
  // A compressed body would be checked after our own unpacking; providers send none.
  const rawBody = express.raw({ type: () => true, limit: BODY_BYTES_MAX, inflate: false });
  const { meta, twilioSms, twilioStatus } = dependencies.endpoints;
  if (meta !== undefined) {
    router.get('/meta', answerHandshake(meta));
    router.post('/meta', rawBody, answerDelivery(dependencies, meta));
  }
  if (twilioSms !== undefined) {
    router.post('/twilio/sms', rawBody, answerDelivery(dependencies, twilioSms));
  }
  if (twilioStatus !== undefined) {
    router.post('/twilio/status', rawBody, answerDelivery(dependencies, twilioStatus));
  }
  router.use((_request, response) => {
    response.status(404).end();
  });
  router.use(refuseBody(dependencies));
  return router;
}

function answerHandshake(endpoint: WebhookEndpoint): RequestHandler {
  return (request, response) => {
    const query = new URLSearchParams(request.originalUrl.split('?')[1] ?? '');
    const answer = endpoint.handshake?.(query) ?? { kind: 'refused' };
    if (answer.kind === 'accepted') {
      response.type('text/plain').send(answer.body);
      return;
    }
    response.status(403).end();
  };
}

function answerDelivery(
  dependencies: WebhookDependencies,
  endpoint: WebhookEndpoint,
): RequestHandler {
  return async (request, response) => {
    const acceptedAt = new Date().toISOString();
    const acceptedMonotonicMs = performance.now();
    const raw = toRawRequest(request, dependencies.publicUrl);
    if (!endpoint.verify(raw)) {
      dependencies.log.warn({ path: request.path }, 'a webhook failed authenticity');
      response.status(401).end();
      return;
    }
    try {
      const arrival = { request: raw, endpoint, acceptedAt, acceptedMonotonicMs };
      const result = await receive(dependencies, arrival);
      // Success is answered only here: the facts are committed (T1, IN2).
      response.type(endpoint.success.contentType).send(endpoint.success.body);
      await dependencies.reach('webhook:answered', endpoint.provider);
      dependencies.waker.wakeSoon(result.wake, 'inbound');
    } catch (error) {
      dependencies.log.error({ error }, 'an authentic webhook could not be stored');
      response.status(503).end();
    }
  };
}

function toRawRequest(request: Request, publicOrigin: string): RawRequest {
  const body: unknown = request.body;
  return {
    method: request.method,
    target: request.originalUrl,
    headers: request.headers,
    body: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
    publicOrigin,
  };
}

/** What the body parser refuses: too large, cut off, encoded. The process lives on. */
function refuseBody({ log }: WebhookDependencies): ErrorRequestHandler {
  return (error: unknown, request, response: Response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    const status = statusOf(error);
    log.error({ path: request.path, status }, 'a webhook body was refused');
    response.status(status).end();
  };
}

function statusOf(error: unknown): number {
  if (typeof error === 'object' && error !== null && 'status' in error) {
    const { status } = error;
    if (typeof status === 'number' && status >= 400 && status < 500) return status;
  }
  return 503;
}
