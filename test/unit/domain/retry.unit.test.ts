import fc from 'fast-check';
import { retryDelayMs } from '../../../domain/retry';

const ALMOST_ONE = 1 - Number.EPSILON;

describe('the wait before another try', () => {
  it.each([
    [1, 1_000, 1_249],
    [2, 5_000, 5_999],
    [3, 30_000, 30_999],
    [4, 120_000, 120_999],
  ])('after %i failures is between %i and %i ms [IN4] [C5]', (failures, least, most) => {
    expect(retryDelayMs(failures, 0, null)).toBe(least);
    expect(retryDelayMs(failures, ALMOST_ONE, null)).toBe(most);
  });

  it.each([5, 6, 100])('is over after %i failures: a person decides [IN4]', (failures) => {
    expect(retryDelayMs(failures, 0, null)).toBeNull();
    expect(retryDelayMs(failures, 0, 60_000)).toBeNull();
  });

  it.each([
    ['longer than ours', 45_000, 45_000],
    ['shorter than ours', 200, 1_000],
    ['none', 0, 1_000],
  ])('keeps to a Retry-After that is %s [IN4]', (_name, retryAfterMs, waits) => {
    expect(retryDelayMs(1, 0, retryAfterMs)).toBe(waits);
  });

  it('is a whole number, never below the schedule, with a jitter of at most a second [IN4]', () => {
    const draw = fc.double({ min: 0, max: ALMOST_ONE, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), draw, (failures, random) => {
        const least = retryDelayMs(failures, 0, null) ?? 0;
        const waits = retryDelayMs(failures, random, null) ?? 0;
        expect(Number.isInteger(waits)).toBe(true);
        expect(waits - least).toBeGreaterThanOrEqual(0);
        expect(waits - least).toBeLessThan(Math.min(1_000, least / 4));
      }),
    );
  });
});
