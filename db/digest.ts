import { createHash } from 'node:crypto';

/** SHA-256 of text or bytes, as lower-case hex. */
export function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
