import { isOpenAt } from '../../../domain/hours';

const DAY = [{ from: '08:00', to: '18:00' }];
const hours = {
  timeZone: 'America/Chicago',
  weekly: {
    monday: DAY,
    tuesday: DAY,
    wednesday: DAY,
    thursday: DAY,
    friday: DAY,
    saturday: DAY,
    sunday: DAY,
  },
  exceptions: new Map(),
};

/** The clock of Postgres counts microseconds, so instants come with parts of a millisecond. */
describe('opening hours asked with the clock of the database', () => {
  const opensAtMs = Date.parse('2026-11-30T14:00:00.000Z');

  it.each([
    ['a microsecond before they open', opensAtMs - 0.001, false],
    ['when they open', opensAtMs, true],
    ['a microsecond later', opensAtMs + 0.001, true],
  ])('asked %s they answer as at any other instant [S6] [INV-14]', (_when, atMs, expected) => {
    expect(isOpenAt(hours, atMs)).toBe(expected);
  });
});
