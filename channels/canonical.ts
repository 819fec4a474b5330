import { createHash } from 'node:crypto';

/** The SHA-256 of `content` as 64 lower-case hex digits; text is taken as UTF-8. */
export function sha256Hex(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/**
 * The same text for the same wire value, whatever the order of its keys, so that a redelivery
 * gives the digest of the first delivery (spec IN3). Lone surrogates and NUL come out escaped.
 */
export function canonicalText(value: unknown): string {
  return JSON.stringify(withSortedKeys(value ?? null));
}

function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(
    ([key, inner]) => [key, withSortedKeys(inner)] as const,
  );
  // Own properties are defined, not assigned, so a key named `__proto__` stays a plain key.
  return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)));
}
