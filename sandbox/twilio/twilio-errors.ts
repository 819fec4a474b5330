import type { ArmedFault } from '../faults';
import type { AnswerFault, Reply } from '../provider-call';

/** An error body as Twilio writes it (providers 5.2.10). */
export function twilioError(status: number, code: number, message: string): Reply {
  const moreInfo = `https://www.twilio.com/docs/errors/${code}`;
  return { status, body: { code, message, more_info: moreInfo, status } };
}

/** Error 20003: no credentials, or wrong ones. */
export function notAuthenticated(): Reply {
  const reply = twilioError(401, 20003, 'Authenticate');
  return { ...reply, headers: { 'WWW-Authenticate': 'Basic realm="Twilio API"' } };
}

/** Error 20404: the path names nothing. */
export function notFound(path: string): Reply {
  return twilioError(404, 20404, `The requested resource ${path} was not found`);
}

const DEFAULT_RETRY_AFTER_MS = 5_000;

/** What Twilio answers for a fault that is an answer. */
export function twilioFaultReply(fault: AnswerFault, armed: ArmedFault): Reply {
  switch (fault) {
    case 'error-500':
      return twilioError(500, 20500, 'Internal Server Error');
    case 'success-with-inner-error':
      return { ...twilioError(500, 20500, 'Internal Server Error'), status: 200 };
    case 'auth-expired':
      return notAuthenticated();
    case 'rate-limit': {
      const seconds = Math.ceil((armed.ms ?? DEFAULT_RETRY_AFTER_MS) / 1000);
      const reply = twilioError(429, armed.code ?? 20429, 'Too Many Requests');
      return { ...reply, headers: { 'Retry-After': String(seconds) } };
    }
  }
}
