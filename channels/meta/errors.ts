import type { ErrorRule } from '../outcomes';

/** WhatsApp lets about one message per 6 s through to the same person (providers.md 3.3.10). */
const SAME_RECIPIENT_WAIT_MS = 6_000;

/** Codes of the Graph API itself, the same for all products; special rows stand before them. */
const SHARED: readonly ErrorRule[] = [
  { from: 190, action: 'pause' },
  { from: 200, to: 299, action: 'pause' },
  { from: 368, action: 'pause' },
  { from: 4, action: 'back-off' },
];

/** Messenger (providers.md 3.1.10, 3.1.12). Codes 1, 2, 1200 and 1357046 may have been sent. */
export const MESSENGER_ERRORS: readonly ErrorRule[] = [
  { from: 10, subcodes: [2018278], action: 'never' },
  { from: 10, action: 'pause' },
  ...SHARED,
  { from: 17, action: 'back-off' },
  { from: 32, action: 'back-off' },
  { from: 613, action: 'back-off' },
  { from: 80006, action: 'back-off' },
  { from: 1, to: 2, action: 'unknown' },
  { from: 1200, action: 'unknown' },
  { from: 1357046, action: 'unknown' },
  { from: 551, action: 'never' },
  { from: 100, action: 'never' },
];

/**
 * Instagram has Messenger's table, but a person who cannot receive, or whose window is closed,
 * comes as code 10 with various subcodes (providers.md 3.2.10): only a bare 10 is a missing right.
 */
export const INSTAGRAM_ERRORS: readonly ErrorRule[] = [
  { from: 10, subcodes: 'any', action: 'never' },
  ...MESSENGER_ERRORS,
];

/** WhatsApp (providers.md 3.3.10, 3.3.12). */
export const WHATSAPP_ERRORS: readonly ErrorRule[] = [
  { from: 0, action: 'pause' },
  { from: 3, action: 'pause' },
  { from: 10, action: 'pause' },
  ...SHARED,
  { from: 80007, action: 'back-off' },
  { from: 130429, action: 'back-off' },
  { from: 131056, action: 'back-off', waitMs: SAME_RECIPIENT_WAIT_MS },
  { from: 131048, action: 'never' },
  { from: 131047, action: 'never' },
  { from: 131026, action: 'never' },
  { from: 131049, action: 'never' },
  { from: 131050, action: 'opted-out' },
  { from: 131021, action: 'never' },
  { from: 131051, to: 131053, action: 'never' },
  { from: 131000, action: 'unknown' },
  { from: 131016, action: 'unknown' },
  { from: 131057, action: 'unknown' },
  { from: 133004, to: 133005, action: 'unknown' },
  { from: 1, to: 2, action: 'unknown' },
  { from: 130497, action: 'pause' },
  { from: 131031, action: 'pause' },
  { from: 131042, action: 'pause' },
  { from: 131045, action: 'pause' },
  { from: 133010, action: 'pause' },
  { from: 132000, to: 132016, action: 'never' },
];
