import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import { isSandboxChannel, SANDBOX_CHANNELS, type SandboxChannel } from '../channels';
import type { SandboxContext } from '../context';
import { memberOf } from '../values';
import { streamEvents } from './event-stream';
import { parsePhoneOrder } from './phone-order';
import { actOnPhone } from './phone-service';

/** Above the largest body that an app must refuse, so that this can be tested too. */
const BODY_LIMIT = '8mb';
const THREADS_LISTED = 200;

/** Answers with an error that a person can act on. */
export function refuse(response: Response, status: number, error: string): void {
  response.status(status).json({ error });
}

/** The channel of a path or body; answers 404 with the known ones and returns null otherwise. */
export function channelOr404(response: Response, value: unknown): SandboxChannel | null {
  if (isSandboxChannel(value)) return value;
  const known = SANDBOX_CHANNELS.join(', ');
  refuse(response, 404, `Unknown channel "${String(value)}". Known are: ${known}.`);
  return null;
}

/** Turns unreadable bodies into 400 and the sandbox's own failures into 500. */
export function jsonErrors(context: SandboxContext) {
  return (error: unknown, _request: Request, response: Response, _next: NextFunction): void => {
    if (memberOf(error, 'type') === undefined) {
      context.settings.onError(error);
      refuse(response, 500, 'The sandbox failed; its log says why.');
    } else refuse(response, 400, 'The body is no readable JSON of at most 8 MB.');
  };
}

/** The customer's phone: what leads do, and what they see. */
export function phoneRouter(context: SandboxContext): Router {
  const router = express.Router();
  router.use(express.json({ limit: BODY_LIMIT }));
  router.get('/events', (request, response) => streamEvents(context, request, response));
  router.post('/:channel/messages', async (request, response) => {
    const channel = channelOr404(response, request.params.channel);
    if (channel === null) return;
    const order = parsePhoneOrder(request.body);
    if ('refusal' in order) {
      refuse(response, 400, order.refusal);
      return;
    }
    const answer = await actOnPhone(context, channel, order);
    if ('refusal' in answer) {
      refuse(response, 400, answer.refusal);
      return;
    }
    response.json(answer);
  });
  router.get('/:channel/threads', (request, response) => {
    const channel = channelOr404(response, request.params.channel);
    if (channel === null) return;
    response.json(context.threads.list(channel, THREADS_LISTED));
  });
  router.get('/:channel/threads/:lead', (request, response) => {
    const channel = channelOr404(response, request.params.channel);
    if (channel === null) return;
    response.json(context.threads.entries(channel, request.params.lead));
  });
  router.use(jsonErrors(context));
  return router;
}
