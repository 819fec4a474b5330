import type { SandboxAccount } from '../accounts';
import type { SandboxContext } from '../context';
import type { Webhook } from '../courier';
import type { WebhookNature } from '../faults';
import { metaBody, metaLegacySignature, metaSignature } from '../signatures';
import type { SignedRequest } from '../webhook-client';

/** One webhook of Meta before it is written and signed. */
export interface MetaDelivery {
  readonly account: SandboxAccount;
  readonly nature: WebhookNature;
  readonly payload: unknown;
  /** The payload with the same event id and other content. */
  readonly altered: () => unknown;
  readonly onAttempt?: (status: number) => void;
}

function sign(appSecret: string, payload: unknown): SignedRequest {
  const body = metaBody(payload);
  return {
    body,
    headers: {
      'content-type': 'application/json',
      accept: '*/*',
      'user-agent': 'facebookexternalua',
      'x-hub-signature': metaLegacySignature(appSecret, body),
      'x-hub-signature-256': metaSignature(appSecret, body),
    },
  };
}

/** The address that Meta calls for every product of the app. */
export function metaWebhookUrl(context: SandboxContext): string {
  return `${context.settings.publicUrl}/webhooks/meta`;
}

/** Writes and signs one webhook of Meta; every try of it carries the same bytes. */
export function metaWebhook(context: SandboxContext, delivery: MetaDelivery): Webhook {
  const { account, nature, payload, altered, onAttempt } = delivery;
  const { metaAppSecret } = context.settings;
  return {
    channel: account.channel,
    account: account.externalId,
    nature,
    provider: 'meta',
    url: metaWebhookUrl(context),
    original: sign(metaAppSecret, payload),
    altered: () => sign(metaAppSecret, altered()),
    ...(onAttempt === undefined ? {} : { onAttempt }),
  };
}
