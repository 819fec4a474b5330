import { createHash, createHmac } from 'node:crypto';

/** SHA-256 of text or bytes, as lower-case hex. */
export function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/**
 * The keyed hash of an id that came from outside (C8), as lower-case hex: it joins log lines, and
 * nobody without the key can try phone numbers or provider ids against it.
 */
export function keyedHash(key: string, id: string): string {
  return createHmac('sha256', key).update(id).digest('hex');
}
