import { timingSafeEqual } from 'node:crypto';
import {
  getSignatureAlgorithm,
  HMAC_SHA1,
  HMAC_SHA256,
  validateRequest,
} from 'twilio/lib/webhooks/webhooks';
import { sha256Hex } from '../canonical';
import type { RawRequest } from '../port';
import { readForm } from './form';

export interface TwilioEndpointOptions {
  /**
   * Secrets that may have signed: primary and secondary auth token during a rotation, and the
   * shared signing key where the account uses one (providers.md 5.0).
   */
  readonly authTokens: readonly string[];
}

const ALGORITHMS: ReadonlySet<string> = new Set([HMAC_SHA1, HMAC_SHA256]);
const BODY_DIGEST = /[?&]bodySHA256=([0-9a-f]{64})(?:&|$)/i;

/**
 * Makes the check of `X-Twilio-Signature` with Twilio's own helper (providers.md 5.0), over the
 * configured origin and the target exactly as received. Throws where a token is missing or empty.
 * The check itself never throws.
 */
export function makeTwilioCheck(options: TwilioEndpointOptions): (request: RawRequest) => boolean {
  const { authTokens } = options;
  if (authTokens.length === 0) throw new Error('Twilio webhooks need at least one auth token.');
  if (authTokens.some((token) => token.trim() === '')) {
    throw new Error('An auth token of Twilio is empty; set it or leave the channel out.');
  }
  return (request) => {
    const signature = request.headers['x-twilio-signature'];
    const algorithm = algorithmOf(request.headers['x-twilio-webhooks-signature-settings']);
    if (typeof signature !== 'string' || signature === '' || algorithm === null) return false;
    const parameters = signedParameters(request);
    if (parameters === null) return false;
    return urlsOf(request).some((url) =>
      authTokens
        .map((token) => isSignedWith(token, { signature, url, parameters, algorithm }))
        .includes(true),
    );
  };
}

interface Signed {
  readonly signature: string;
  readonly url: string;
  readonly parameters: Record<string, string | string[]>;
  readonly algorithm: string;
}

function isSignedWith(token: string, signed: Signed): boolean {
  const { signature, url, parameters, algorithm } = signed;
  try {
    return validateRequest(token, signature, url, parameters, algorithm);
  } catch {
    // The helper normalises the address with `new URL`, which refuses a broken target.
    return false;
  }
}

/** Null for an algorithm that neither Twilio's page nor its helper knows. */
function algorithmOf(settings: string | string[] | undefined): string | null {
  if (Array.isArray(settings)) return null;
  const algorithm = getSignatureAlgorithm(settings).toUpperCase();
  return ALGORITHMS.has(algorithm) ? algorithm : null;
}

/**
 * The address Twilio signed: our origin from the configuration, never from a header. A fragment
 * holds Twilio's connection settings; it is not sent, but a proxy may hand it through.
 */
function urlsOf({ publicOrigin, target }: RawRequest): readonly string[] {
  if (!target.startsWith('/')) return [];
  const url = publicOrigin.replace(/\/$/, '') + target;
  const fragmentAt = url.indexOf('#');
  return fragmentAt === -1 ? [url] : [url.slice(0, fragmentAt), url];
}

/** What is signed besides the address: the form, or for JSON nothing but the body's digest. */
function signedParameters({ target, body, method }: RawRequest): Signed['parameters'] | null {
  if (method === 'GET') return {};
  const digest = BODY_DIGEST.exec(target)?.[1];
  if (digest !== undefined) {
    const given = Buffer.from(digest.toLowerCase());
    return timingSafeEqual(Buffer.from(sha256Hex(body)), given) ? {} : null;
  }
  const form = readForm(body);
  if (form === null) return null;
  // Own properties are defined, not assigned, so a parameter named `__proto__` is a plain one.
  return Object.fromEntries(
    [...form].map(([name, values]) => [
      name,
      values.length === 1 ? (values[0] ?? '') : [...values],
    ]),
  );
}
