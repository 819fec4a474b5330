import type { Handshake, WebhookEndpoint } from '../port';
import { readMetaBody } from './parse';
import { equalInConstantTime, makeSignatureCheck } from './signature';

export interface MetaEndpointOptions {
  /** Candidates, any of which may have signed; Instagram's may differ (providers.md 3.0.2). */
  readonly appSecrets: readonly string[];
  readonly verifyToken: string;
  /** Our own app: an echo that carries it confirms our send. */
  readonly appId: string;
}

/**
 * Makes the one webhook endpoint of Messenger, Instagram and WhatsApp (contract.md, Webhooks).
 * Throws where a secret, the verify token or the app id is empty.
 */
export function makeMetaEndpoint(options: MetaEndpointOptions): WebhookEndpoint {
  const { verifyToken, appId } = options;
  if (verifyToken.trim() === '') throw new Error('The verify token of Meta is empty.');
  if (appId.trim() === '') {
    throw new Error('The app id of Meta is empty: every echo of ours would look like a person.');
  }
  return {
    provider: 'meta',
    verify: makeSignatureCheck(options.appSecrets),
    handshake: (query) => answerHandshake(query, verifyToken),
    parse: ({ body }) => readMetaBody(body, appId),
    success: { contentType: 'text/plain', body: 'EVENT_RECEIVED' },
  };
}

function answerHandshake(query: URLSearchParams, verifyToken: string): Handshake {
  const challenge = query.get('hub.challenge');
  const isSubscription = query.get('hub.mode') === 'subscribe';
  const isKnown = equalInConstantTime(query.get('hub.verify_token') ?? '', verifyToken);
  return isSubscription && isKnown && challenge !== null
    ? { kind: 'accepted', body: challenge }
    : { kind: 'refused' };
}
