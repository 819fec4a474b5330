import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import type { SandboxContext } from '../context';
import { answer, applyLatency, type Reply } from '../provider-call';
import { memberOf } from '../values';
import { listMessages, messageResource } from './sms-list';
import { serveSmsSend } from './sms-send';
import { notAuthenticated, notFound, twilioError, twilioFaultReply } from './twilio-errors';

const BODY_LIMIT = '1mb';

/** Basic authentication with account sid and auth token. */
function authenticates(context: SandboxContext, header: string | undefined): boolean {
  const encoded = /^Basic (.+)$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return false;
  const { twilioAccountSid, twilioAuthToken } = context.settings;
  return Buffer.from(encoded, 'base64').toString() === `${twilioAccountSid}:${twilioAuthToken}`;
}

/** An expired token is met by reads too; the other call faults wait for a send. */
function readFault(context: SandboxContext): Reply | null {
  const armed = context.faults.take('sms', ['auth-expired']);
  return armed === null ? null : twilioFaultReply('auth-expired', armed);
}

/** The part of Twilio's 2010 API that messaging needs (providers 5.2). */
export function twilioRouter(context: SandboxContext): Router {
  const router = express.Router();
  const account = '/2010-04-01/Accounts/:sid';
  router.use(account, async (request, response, next) => {
    await applyLatency(context, 'sms');
    if (!authenticates(context, request.headers.authorization)) {
      answer(response, notAuthenticated());
    } else if (request.params.sid !== context.settings.twilioAccountSid) {
      answer(response, notFound(request.originalUrl));
    } else next();
  });
  const form = express.urlencoded({ extended: false, limit: BODY_LIMIT });
  router.post(`${account}/Messages.json`, form, (request, response) =>
    serveSmsSend(context, request, response),
  );
  router.get(`${account}/Messages.json`, (request: Request<{ sid: string }>, response) => {
    const refused = readFault(context);
    answer(response, refused ?? listMessages(context, request.params.sid, request.query));
  });
  router.get(`${account}/Messages/:message`, (request: Request<{ message: string }>, response) => {
    const record = context.sms.get(request.params.message.replace(/\.json$/, ''));
    const refused = readFault(context);
    if (refused !== null) answer(response, refused);
    else if (record === null) answer(response, notFound(request.originalUrl));
    else answer(response, { status: 200, body: messageResource(record) });
  });
  router.use((request, response) => answer(response, notFound(request.originalUrl)));
  router.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    if (memberOf(error, 'type') === undefined) {
      context.settings.onError(error);
      answer(response, twilioError(500, 20500, 'Internal Server Error'));
    } else answer(response, twilioError(400, 20001, 'The request body cannot be read.'));
  });
  return router;
}
