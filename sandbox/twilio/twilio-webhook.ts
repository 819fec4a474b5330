import type { SandboxContext } from '../context';
import type { Webhook } from '../courier';
import type { WebhookNature } from '../faults';
import { newIdempotencyToken } from '../provider-ids';
import { twilioSignature } from '../signatures';
import { splitUrl, type SignedRequest } from '../webhook-client';

/** One webhook of Twilio before it is written and signed. */
export interface TwilioDelivery {
  /** The business's number. */
  readonly account: string;
  readonly nature: WebhookNature;
  readonly url: string;
  readonly form: Readonly<Record<string, string>>;
  /** Fields that the fault `webhook-altered` changes; the sid stays. */
  readonly altered: Readonly<Record<string, string>>;
  readonly onAttempt?: (status: number) => void;
}

function sign(
  context: SandboxContext,
  url: string,
  request: { readonly form: Readonly<Record<string, string>>; readonly token: string },
): SignedRequest {
  const form = new URLSearchParams({ ...request.form });
  const signed = splitUrl(url)?.signed ?? url;
  return {
    body: form.toString(),
    headers: {
      'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
      accept: '*/*',
      'user-agent': 'TwilioProxy/1.1',
      'i-twilio-idempotency-token': request.token,
      'x-twilio-signature': twilioSignature(context.settings.twilioAuthToken, signed, form),
    },
  };
}

/** The address that Twilio calls for messages to the businesses' numbers. */
export function inboundSmsUrl(context: SandboxContext): string {
  return `${context.settings.publicUrl}/webhooks/twilio/sms`;
}

/** Writes and signs one webhook of Twilio; every try of it carries the same token and bytes. */
export function twilioWebhook(context: SandboxContext, delivery: TwilioDelivery): Webhook {
  const { account, nature, url, form, altered, onAttempt } = delivery;
  const token = newIdempotencyToken();
  return {
    channel: 'sms',
    account,
    nature,
    provider: 'twilio',
    url,
    original: sign(context, url, { form, token }),
    altered: () =>
      sign(context, url, { form: { ...form, ...altered }, token: newIdempotencyToken() }),
    ...(onAttempt === undefined ? {} : { onAttempt }),
  };
}
