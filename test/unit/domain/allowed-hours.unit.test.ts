import fc from 'fast-check';
import { allowedHours, isAllowedAt, lastAllowed, nextAllowed } from '../../../domain/allowed-hours';
import { isOpenInAll, nextOpenInAll } from '../../../domain/hours-search';
import { DEFAULT_RULES, type PolicyRules } from '../../../domain/policy-rules';
import { DEMO_POLICY } from '../../../dev/demo';

const ZONES = [
  ...['America/New_York', 'America/Detroit', 'America/Havana', 'America/Chicago'],
  ...['America/Denver', 'America/Phoenix', 'America/Los_Angeles', 'America/Anchorage'],
  'Pacific/Honolulu',
];
const CHICAGO = 'America/Chicago';

const demo = DEMO_POLICY as unknown as PolicyRules;
const hoursOf = (rules: PolicyRules, zones: readonly string[]) =>
  allowedHours(rules, CHICAGO, { source: 'country', zones });

describe('the hours in which the business may start something', () => {
  const instant = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2029, 0, 1) });
  const zones = fc.uniqueArray(fc.constantFrom(...ZONES), { minLength: 1 });

  it('are those in which it is day in every zone and the business is open [S6] [INV-14] [LV-7]', () => {
    fc.assert(
      fc.property(instant, zones, fc.boolean(), (fromMs, some, withBusiness) => {
        const hours = hoursOf(withBusiness ? demo : DEFAULT_RULES, some);
        const all = [...hours.business, ...hours.awake];
        const next = nextAllowed(hours, fromMs);
        expect(next.leastBad).toBe(false);
        expect(isOpenInAll(all, next.atMs)).toBe(true);
        expect(isAllowedAt(hours, next.atMs)).toBe(true);
        expect(next.atMs).toBe(nextOpenInAll(all, fromMs));
        expect(next.movedBy === null).toBe(next.atMs === fromMs);
        if (next.atMs > fromMs) expect(isOpenInAll(all, next.atMs - 1)).toBe(false);
      }),
      { numRuns: 60 },
    );
  });

  it('have a last instant before another one, and none where none was open [S6]', () => {
    fc.assert(
      fc.property(instant, zones, (untilMs, some) => {
        const hours = hoursOf(DEFAULT_RULES, some);
        const afterMs = untilMs - 20 * 3_600_000;
        const last = lastAllowed(hours, untilMs, afterMs);
        const next = nextAllowed(hours, afterMs + 1).atMs;
        if (last === null) expect(next).toBeGreaterThan(untilMs);
        else {
          expect(isAllowedAt(hours, last)).toBe(true);
          expect(last).toBeGreaterThan(afterMs);
          if (last < untilMs) expect(nextAllowed(hours, last + 1).atMs).toBeGreaterThan(untilMs);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('look through a closure of many months, and end in any case [S6]', () => {
    const holidays = Array.from({ length: 300 }, (_, day) => ({
      date: new Date(Date.UTC(2027, 0, 1 + day)).toISOString().slice(0, 10),
      name: 'Rebuilding',
      ranges: [],
    }));
    const closed: PolicyRules = { ...demo, holidays };
    const next = nextAllowed(hoursOf(closed, ZONES), Date.UTC(2027, 0, 1, 12));
    // October 28, 2027, is the first day behind it; 18:00 UTC is 08:00 in Honolulu.
    expect(new Date(next.atMs).toISOString()).toBe('2027-10-28T18:00:00.000Z');
    const never: PolicyRules = { ...DEFAULT_RULES, quietHours: { from: '13:00', to: '12:00' } };
    const nowhere = hoursOf(never, ZONES);
    const leastBad = nextAllowed(nowhere, Date.UTC(2027, 0, 1));
    expect(leastBad.leastBad).toBe(true);
    // Nobody may wait for ever for what never comes: the gate lets the least bad instant pass.
    expect(isAllowedAt(nowhere, leastBad.atMs)).toBe(true);
  });
});
