import { newTraceId } from '../provider-ids';
import type { AnswerFault, Reply } from '../provider-call';
import type { ArmedFault } from '../faults';
import type { SandboxAccount } from '../accounts';

interface GraphError {
  readonly message: string;
  readonly code: number;
  readonly subcode?: number;
  /** WhatsApp puts its explanation here. */
  readonly details?: string;
  readonly type?: string;
  readonly isTransient?: boolean;
}

/** An error body as the Graph API writes it (providers 3.0.4). */
export function graphError(status: number, error: GraphError): Reply {
  const { message, code, subcode, details, isTransient } = error;
  return {
    status,
    body: {
      error: {
        message,
        type: error.type ?? 'OAuthException',
        code,
        ...(subcode === undefined ? {} : { error_subcode: subcode }),
        ...(isTransient === undefined ? {} : { is_transient: isTransient }),
        ...(details === undefined
          ? {}
          : { error_data: { messaging_product: 'whatsapp', details } }),
        fbtrace_id: newTraceId(),
      },
    },
  };
}

/** Error 100: a parameter is missing or wrong. */
export function invalidParameter(message: string, subcode?: number): Reply {
  const base = { message: `(#100) ${message}`, code: 100 };
  return graphError(400, subcode === undefined ? base : { ...base, subcode });
}

/** Error 100 in WhatsApp's form, which keeps the reason in `error_data.details`. */
export function invalidWhatsAppParameter(details: string): Reply {
  return graphError(400, { message: '(#100) Invalid parameter', code: 100, details });
}

/** The answer to a path that names nothing the token may see. */
export function unknownObject(id: string, method: string): Reply {
  const message =
    `Unsupported ${method.toLowerCase()} request. Object with ID '${id}' does not exist, cannot ` +
    'be loaded due to missing permissions, or does not support this operation.';
  return graphError(400, { message, code: 100, subcode: 33, type: 'GraphMethodException' });
}

/** Error 190: no token or a wrong one, or one that has expired (subcode 463). */
export function tokenRefused(reason: 'wrong' | 'expired'): Reply {
  if (reason === 'wrong') {
    const message = 'Invalid OAuth access token - Cannot parse access token';
    return graphError(401, { message, code: 190 });
  }
  const message = 'Error validating access token: Session has expired.';
  return graphError(401, { message, code: 190, subcode: 463 });
}

const WINDOW_POLICY = 'https://developers.facebook.com/docs/messenger-platform/policy-overview';

/** The 24 hours after the customer's last message are over, or there never was one. */
export function outsideWindow(channel: SandboxAccount['channel']): Reply {
  if (channel !== 'whatsapp') {
    const message =
      '(#10) This message is sent outside of allowed window. ' +
      `Learn more about the new policy here: ${WINDOW_POLICY}`;
    return graphError(400, { message, code: 10, subcode: 2018278 });
  }
  return graphError(400, {
    message: '(#131047) Re-engagement message',
    code: 131047,
    details:
      'Message failed to send because more than 24 hours have passed since the customer last ' +
      'replied to this number.',
  });
}

const DEFAULT_RETRY_AFTER_MS = 5_000;

function rateLimited(account: SandboxAccount, armed: ArmedFault): Reply {
  const codes = { messenger: 613, instagram: 80006, whatsapp: 130429, sms: 4 } as const;
  const code = armed.code ?? codes[account.channel];
  const seconds = Math.ceil((armed.ms ?? DEFAULT_RETRY_AFTER_MS) / 1000);
  const usage = { call_count: 100, total_cputime: 30, total_time: 30, type: 'pages' };
  const minutes = { estimated_time_to_regain_access: Math.ceil(seconds / 60) };
  const reply =
    account.channel === 'whatsapp'
      ? graphError(429, {
          message: `(#${code}) Rate limit hit`,
          code,
          details: 'Message failed to send because there were too many messages sent.',
        })
      : graphError(429, { message: `(#${code}) Calls to this api have exceeded the limit.`, code });
  return {
    ...reply,
    headers: {
      'Retry-After': String(seconds),
      'X-Business-Use-Case-Usage': JSON.stringify({
        [account.accountId]: [{ ...usage, ...minutes }],
      }),
    },
  };
}

function serverError(account: SandboxAccount, status: number): Reply {
  if (account.channel === 'whatsapp') {
    const details = 'Message failed to send due to an unknown error.';
    return graphError(status, { message: '(#131000) Something went wrong', code: 131000, details });
  }
  const message = 'An unexpected error has occurred. Please retry your request later.';
  return graphError(status, { message, code: 2, isTransient: true });
}

/** What Meta answers for a fault that is an answer. */
export function metaFaultReply(
  account: SandboxAccount,
  fault: AnswerFault,
  armed: ArmedFault,
): Reply {
  switch (fault) {
    case 'error-500':
      return serverError(account, 500);
    case 'rate-limit':
      return rateLimited(account, armed);
    case 'auth-expired':
      return tokenRefused('expired');
    case 'success-with-inner-error': {
      if (account.channel === 'whatsapp') return serverError(account, 200);
      const message = 'Received malformed response while sending the message.';
      return graphError(200, { message, code: 1357046 });
    }
  }
}
