/** A form body of Twilio's: each name with its values, in the order they came. */
export type Form = ReadonlyMap<string, readonly string[]>;

/** Real requests have some thirty parameters; the check of a forged one must stay cheap. */
const PARAMETERS_MAX = 1_000;
const AMPERSAND = 0x26;

/**
 * Reads a form body the way browsers do: repeats kept, `+` as space, no brackets, no prototypes.
 * Null where it has more parameters than any request of Twilio's.
 */
export function readForm(body: Buffer): Form | null {
  if (hasTooMany(body)) return null;
  const form = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(body.toString('utf8'))) {
    const values = form.get(name);
    if (values === undefined) form.set(name, [value]);
    else values.push(value);
  }
  return form;
}

/** The value of a parameter, the first where it is repeated; null where it is missing or empty. */
export function fieldOf(form: Form, name: string): string | null {
  const value = form.get(name)?.[0];
  return value === undefined || value === '' ? null : value;
}

function hasTooMany(body: Buffer): boolean {
  let separators = 0;
  for (const byte of body) separators += byte === AMPERSAND ? 1 : 0;
  return separators >= PARAMETERS_MAX;
}
