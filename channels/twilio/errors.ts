import type { ErrorRule } from '../outcomes';

/** What Twilio answers to a send (providers.md 5.2.10, 5.2.12); callback codes are not sends. */
export const TWILIO_ERRORS: readonly ErrorRule[] = [
  { from: 20003, action: 'pause' },
  { from: 20005, action: 'pause' },
  { from: 10001, action: 'pause' },
  { from: 20008, action: 'pause' },
  // "Too many requests" is documented as not processed.
  { from: 20429, action: 'back-off' },
  { from: 20404, action: 'never' },
  { from: 21211, action: 'never' },
  { from: 21614, action: 'never' },
  { from: 21408, action: 'never' },
  { from: 21610, action: 'opted-out' },
  { from: 21617, action: 'never' },
];
