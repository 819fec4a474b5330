import { allowedHours } from '../../../domain/allowed-hours';
import { DEFAULT_RULES } from '../../../domain/policy-rules';

/** The zone of the business and, by their area code, of its leads. */
export const TIME_ZONE = 'America/Chicago';

/** When something that the business starts may leave, by the rules of a business without any. */
export const HOURS = allowedHours(DEFAULT_RULES, TIME_ZONE, {
  source: 'area-code',
  zones: [TIME_ZONE],
});

/** The days on which the clocks change in Chicago, near the simulated starts. */
const CLOCK_CHANGES = ['2027-03-14T06:00:00Z', '2026-11-01T05:00:00Z'].map((from) =>
  Date.parse(from),
);

/** Says whether an instant lies on a day that is not 24 hours long. */
export function isClockChange(atMs: number): boolean {
  return CLOCK_CHANGES.some((fromMs) => atMs >= fromMs && atMs < fromMs + 25 * 3_600_000);
}
