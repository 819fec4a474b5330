import { randomInt } from 'node:crypto';
import type { SandboxContext } from '../context';
import type { Reply } from '../provider-call';
import { textOf } from '../values';
import { graphError, invalidParameter } from './graph-errors';
import { metaWebhookUrl } from './meta-webhook';

const HANDSHAKE_TIMEOUT_MS = 5_000;

/**
 * `POST /{app id}/subscriptions`: Meta proves the callback before it stores it, with a GET that
 * must come back with the challenge and nothing else (providers 3.0.1).
 */
export async function subscribeApp(context: SandboxContext, body: unknown): Promise<Reply> {
  const callback = textOf(body, 'callback_url') ?? metaWebhookUrl(context);
  const verifyToken = textOf(body, 'verify_token') ?? context.settings.metaVerifyToken;
  if (textOf(body, 'object') === null) return invalidParameter('The parameter object is required');
  const challenge = String(randomInt(1_000_000_000, 2_000_000_000));
  const query = new URLSearchParams({
    'hub.mode': 'subscribe',
    'hub.challenge': challenge,
    'hub.verify_token': verifyToken,
  });
  const separator = callback.includes('?') ? '&' : '?';
  const url = `${callback}${separator}${query.toString()}`;
  const echoed = await context.courier.client.get(url, HANDSHAKE_TIMEOUT_MS);
  if (echoed?.status === 200 && echoed.body === challenge) {
    return { status: 200, body: { success: true } };
  }
  const message =
    '(#2200) Callback verification failed with the following errors: ' +
    `HTTP Status Code = ${echoed?.status ?? 0}; HTTP Message = ${echoed?.body.slice(0, 80) ?? 'none'}`;
  return graphError(400, { message, code: 2200 });
}
