import { createHmac } from 'node:crypto';

const ESCAPED = /[\u007f-\uffff/]/g;

function escapeUnit(unit: string): string {
  if (unit === '/') return '\\/';
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * Writes a payload as Meta does: non-ASCII as `\uXXXX` in lower-case hex and `/` as `\/`, so a
 * receiver that parses and serialises before it verifies fails here as in production.
 */
export function metaBody(payload: unknown): string {
  return JSON.stringify(payload).replace(ESCAPED, escapeUnit);
}

/** The value of `X-Hub-Signature-256` over the exact body (providers 3.0.2). */
export function metaSignature(appSecret: string, body: string): string {
  return `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`;
}

/** The value of the legacy header `X-Hub-Signature`, which Meta still sends beside the other. */
export function metaLegacySignature(appSecret: string, body: string): string {
  return `sha1=${createHmac('sha1', appSecret).update(body).digest('hex')}`;
}

/**
 * The value of `X-Twilio-Signature` (providers 5.0): the URL as requested, without its fragment,
 * then every parameter name with its distinct values, both sorted, without separators.
 */
export function twilioSignature(authToken: string, url: string, form: URLSearchParams): string {
  const names = [...new Set(form.keys())].sort();
  const parameters = names.map((name) =>
    [...new Set(form.getAll(name))]
      .sort()
      .map((value) => name + value)
      .join(''),
  );
  return createHmac('sha1', authToken)
    .update(url + parameters.join(''))
    .digest('base64');
}
