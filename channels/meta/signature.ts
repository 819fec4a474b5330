import { createHash, createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { RawRequest } from '../port';

const SIGNATURE = /^sha256=([0-9a-f]{64})$/;

/** Says whether a request is signed with one of our app secrets. Never throws. */
export type SignatureCheck = (request: Pick<RawRequest, 'headers' | 'body'>) => boolean;

/**
 * Makes the check of `X-Hub-Signature-256` over the raw bytes (providers.md 3.0.2). Instagram may
 * sign with a secret of its own, so several candidates are allowed. Throws where there is none or
 * one is empty: an endpoint that cannot verify must not start.
 */
export function makeSignatureCheck(appSecrets: readonly string[]): SignatureCheck {
  if (appSecrets.length === 0) throw new Error('Meta webhooks need at least one app secret.');
  if (appSecrets.some((secret) => secret.trim() === '')) {
    throw new Error('An app secret of Meta is empty; set it or leave the channel out.');
  }
  const keys = appSecrets.map((secret) => createSecretKey(secret, 'utf8'));
  return ({ headers, body }) => {
    const header = headers['x-hub-signature-256'];
    // A header sent twice is a list or a joined text, and neither has the one permitted form.
    const given = typeof header === 'string' ? SIGNATURE.exec(header)?.[1] : undefined;
    if (given === undefined) return false;
    const givenBytes = Buffer.from(given, 'hex');
    return keys
      .map((key) => timingSafeEqual(createHmac('sha256', key).update(body).digest(), givenBytes))
      .includes(true);
  };
}

/** Compares two texts of any length in constant time, through their digests. */
export function equalInConstantTime(left: string, right: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}
