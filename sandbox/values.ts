/**
 * Reading of request bodies whose shape nobody has promised: wrong types read as absent, so that
 * the providers' own "parameter is required" answers come out instead of a crash.
 */

/** Says whether `value` is a plain object (not null, not a list). */
function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The member `key` of `value`, or undefined where there is none. */
export function memberOf(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** The text under `key`, or null where it is missing, empty or no text. */
export function textOf(value: unknown, key: string): string | null {
  const member = memberOf(value, key);
  return typeof member === 'string' && member !== '' ? member : null;
}

/** The length of `text` in code points, which is what Meta counts as characters. */
export function characterCount(text: string): number {
  return Array.from(text).length;
}

/** The first value of a query parameter or form field that may be repeated. */
export function firstText(value: unknown): string | null {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' && first !== '' ? first : null;
}
