import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { allowedHours } from '../../../domain/allowed-hours';
import { followUpText, planFollowUps, routeFollowUp } from '../../../domain/follow-ups';
import { DEFAULT_RULES } from '../../../domain/policy-rules';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const ZONES = [
  'America/Chicago',
  'America/New_York',
  'America/Phoenix',
  'America/St_Johns',
  'America/Sao_Paulo',
  'Europe/London',
  'Africa/Casablanca',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Pacific/Chatham',
  'UTC',
];

const plan = (
  anchorMs: number,
  timeZone: string,
  windowClosesAtMs: number | null,
  quietZone: string | null = null,
) =>
  planFollowUps({
    anchorMs,
    timeZone,
    days: [1, 3, 7],
    windowClosesAtMs,
    hours:
      quietZone === null
        ? null
        : allowedHours(DEFAULT_RULES, timeZone, { source: 'zip', zones: [quietZone] }),
  });

const local = (zone: string, wall: string) =>
  Temporal.PlainDateTime.from(wall).toZonedDateTime(zone).epochMilliseconds;
const wallOf = (zone: string, epochMs: number) =>
  Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(zone).toPlainDateTime();

describe('the plan of the follow-ups', () => {
  it.each([
    [
      'an ordinary week',
      '2026-11-30T12:00',
      ['2026-12-01T12:00', '2026-12-03T12:00', '2026-12-07T12:00'],
    ],
    [
      'spring forward in between',
      '2026-03-07T09:30',
      ['2026-03-08T09:30', '2026-03-10T09:30', '2026-03-14T09:30'],
    ],
    [
      'fall back in between',
      '2026-10-31T09:30',
      ['2026-11-01T09:30', '2026-11-03T09:30', '2026-11-07T09:30'],
    ],
    [
      'a local time that the clocks skip',
      '2026-03-07T02:30',
      ['2026-03-08T03:30', '2026-03-10T02:30', '2026-03-14T02:30'],
    ],
    [
      'the end of February in a leap year',
      '2028-02-28T12:00',
      ['2028-02-29T12:00', '2028-03-02T12:00', '2028-03-06T12:00'],
    ],
    [
      'the end of the year',
      '2026-12-31T23:59',
      ['2027-01-01T23:59', '2027-01-03T23:59', '2027-01-07T23:59'],
    ],
  ])('keeps the business’s local time over %s: %s gives %j [S6]', (_name, anchor, expected) => {
    const zone = 'America/Chicago';
    const steps = plan(local(zone, anchor), zone, null);
    expect(steps.map(({ step, day }) => [step, day])).toEqual([
      [1, 1],
      [2, 3],
      [3, 7],
    ]);
    const walls = steps.map(({ dueAtMs }) =>
      wallOf(zone, dueAtMs).toString({ smallestUnit: 'minute' }),
    );
    expect(walls).toEqual(expected);
  });

  it('takes an hour that comes twice at its first coming [S6]', () => {
    const zone = 'America/Chicago';
    const [first] = plan(local(zone, '2026-10-31T01:30'), zone, null);
    expect(new Date(first?.dueAtMs ?? 0).toISOString()).toBe('2026-11-01T06:30:00.000Z');
  });

  it.each([
    ['closes later', 25 * HOUR_MS, 24 * HOUR_MS],
    ['closes exactly half an hour behind it', 24.5 * HOUR_MS, 24 * HOUR_MS],
    ['closes with it', 24 * HOUR_MS, 23.5 * HOUR_MS],
    ['closes long before', 10 * HOUR_MS, 9.5 * HOUR_MS],
    ['has no room left', 30 * MINUTE_MS, 24 * HOUR_MS],
  ])('moves day 1 before a reply window that %s (%i ms): due after %i ms [S6]', (...row) => {
    const [, closesAfterMs, dueAfterMs] = row;
    const anchorMs = local('America/Chicago', '2026-11-30T12:00');
    const steps = plan(anchorMs, 'America/Chicago', anchorMs + closesAfterMs);
    expect((steps[0]?.dueAtMs ?? 0) - anchorMs).toBe(dueAfterMs);
    expect((steps[1]?.dueAtMs ?? 0) - anchorMs).toBe(3 * DAY_MS);
  });

  it.each([
    ['closes at night', '2026-11-30T02:00', 24, '2026-11-30T20:59'],
    ['closes in the morning, before quiet hours end', '2026-11-30T08:10', 24, '2026-11-30T20:59'],
    ['closes when the morning has room', '2026-11-30T09:00', 24, '2026-12-01T08:30'],
    ['closes in the afternoon', '2026-11-30T14:00', 24, '2026-12-01T13:30'],
  ])('finds an allowed time before a reply window that %s: %s and %i h [S6]', (...row) => {
    const [, anchor, windowHours, expected] = row;
    const zone = 'America/Chicago';
    const anchorMs = local(zone, anchor);
    const [first] = plan(anchorMs, zone, anchorMs + windowHours * HOUR_MS, zone);
    expect(wallOf(zone, first?.dueAtMs ?? 0).toString({ smallestUnit: 'minute' })).toBe(expected);
  });

  const instant = fc.integer({
    min: Date.parse('2010-01-01T00:00:00Z'),
    max: Date.parse('2036-01-01T00:00:00Z'),
  });
  const window = fc.option(fc.integer({ min: 1, max: 10 * DAY_MS }));

  it('is strictly increasing and behind its anchor, in every zone and over every change [S6]', () => {
    fc.assert(
      fc.property(instant, fc.constantFrom(...ZONES), window, (anchorMs, zone, windowMs) => {
        const closesAtMs = windowMs === null ? null : anchorMs + windowMs;
        const dues = plan(anchorMs, zone, closesAtMs).map(({ dueAtMs }) => dueAtMs);
        expect(dues).toHaveLength(3);
        [anchorMs, ...dues].reduce((before, due) => {
          expect(due).toBeGreaterThan(before);
          return due;
        });
      }),
      { numRuns: 400 },
    );
  });

  it('falls on the Nth calendar day at the anchor’s local time, but for a gap of the clocks [S6]', () => {
    fc.assert(
      fc.property(instant, fc.constantFrom(...ZONES), (anchorMs, zone) => {
        const anchor = wallOf(zone, anchorMs);
        for (const { day, dueAtMs } of plan(anchorMs, zone, null)) {
          const wanted = anchor.add({ days: day });
          const exists = wanted.toZonedDateTime(zone).toPlainDateTime().equals(wanted);
          if (exists) expect(wallOf(zone, dueAtMs).toString()).toBe(wanted.toString());
          else expect(Temporal.PlainDateTime.compare(wallOf(zone, dueAtMs), wanted)).toBe(1);
        }
      }),
      { numRuns: 400 },
    );
  });
});

describe('the way of a due follow-up', () => {
  const template = { name: 'check_in', language: 'en_US', text: 'Hi' };
  const closes = 1_000;
  it.each([
    ['without a window', 5_000, null, null, false, 'same-channel'],
    ['1 ms before the window closes', 999, closes, null, true, 'same-channel'],
    ['as the window closes', 1_000, closes, template, true, 'template'],
    ['without a template', 1_000, closes, null, true, 'other-channel'],
    ['with nothing left', 1_000, closes, null, false, 'by-hand'],
  ] as const)('%s is chosen, never dropped in silence [S6]', (...row) => {
    const [, notBeforeMs, windowClosesAtMs, approved, otherChannelOpen, route] = row;
    const facts = { notBeforeMs, windowClosesAtMs, template: approved, otherChannelOpen };
    expect(routeFollowUp(facts)).toBe(route);
  });
});

describe('the wording of a follow-up', () => {
  it.each(['en', 'es'] as const)(
    'asks one question and promises nothing, in %s [S6]',
    (language) => {
      const texts = [1, 2, 3].map((step) => followUpText(step, language));
      expect(new Set(texts).size).toBe(3);
      for (const text of texts) {
        expect(text.match(/\?/g)).toHaveLength(1);
        expect(text).not.toMatch(/\d|[$€]/);
      }
    },
  );

  it('says the last words for a step beyond the last [S6]', () => {
    expect(followUpText(9, 'en')).toBe(followUpText(3, 'en'));
  });
});
