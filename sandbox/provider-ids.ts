import { randomBytes, randomUUID } from 'node:crypto';

/** A Messenger message id in its usual form: `m_` and an opaque text. */
export function newMessengerId(): string {
  return `m_${randomBytes(36).toString('base64url')}`;
}

/** An Instagram message id; real ones are long too (providers 3.2.4). */
export function newInstagramId(): string {
  return `aWdfZAG1faXRlbToxOjE${randomBytes(84).toString('base64url')}`;
}

/** A WhatsApp message id. It is plain base64 as in reality, so it holds `/`, `+` and `=`. */
export function newWhatsAppId(): string {
  return `wamid.HBgL${randomBytes(31).toString('base64')}`;
}

/** A Twilio message sid: `SM` and 32 hex digits. */
export function newMessageSid(): string {
  return `SM${randomBytes(16).toString('hex')}`;
}

/** The `fbtrace_id` of one Graph API error. */
export function newTraceId(): string {
  return `A${randomBytes(16).toString('base64url')}`;
}

/** The value of Twilio's `I-Twilio-Idempotency-Token`, equal on all tries of one webhook. */
export function newIdempotencyToken(): string {
  return randomUUID();
}
