import type { QuarantinedElement } from '../../domain/inbound';
import { canonicalText, sha256Hex } from '../canonical';
import type { RawRequest } from '../port';

/** Twilio sends one element per request and never says when it happened (providers.md 5.2.4). */
export function smsFrame(account: string, eventKey: string, stable: readonly unknown[]) {
  return {
    path: '$',
    channel: 'sms',
    accountExternalId: account,
    eventKey,
    stableContent: canonicalText(stable),
    source: { at: null, precision: 'none' },
  } as const;
}

/** A whole request that cannot be read, keyed by its bytes (spec IN4). */
export function quarantinedRequest(
  { body }: RawRequest,
  account: string,
  reason: string,
  mayBeLeadMessage: boolean,
): QuarantinedElement {
  const digest = sha256Hex(body);
  return {
    ...smsFrame(account, `unreadable:${digest}`, [digest]),
    type: 'quarantined',
    reason,
    mayBeLeadMessage,
  };
}

/** `value` where it is a number that a person can be reached at, E.164 with its plus sign. */
export function phoneNumberOf(value: string | null): string | null {
  return value !== null && /^\+[1-9]\d{4,14}$/.test(value) ? value : null;
}

/** A message id that can be stored as a key; Twilio's are 34 plain characters. */
export function isSid(value: string | null): value is string {
  return value !== null && /^[\x21-\x7E]{1,128}$/.test(value);
}
