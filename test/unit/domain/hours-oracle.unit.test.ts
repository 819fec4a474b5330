import { hoursOutside, type LocalRange, type OpeningHours } from '../../../domain/hours';
import { nextOpenInAll } from '../../../domain/hours-search';
import { nextOpenMinutes, wallMinute, type WallSpan } from '../../support/hours-oracle';

/**
 * LV-7: the next allowed instant against an independent reckoning. Here a few zones and the days
 * around their changes of the clocks; all of it, every IANA zone, every day and half hour of a leap
 * year, with
 * `UNSILENT_HOURS=all npx jest --selectProjects unit --testPathPatterns hours-oracle`.
 */
const ALL = process.env['UNSILENT_HOURS'] === 'all';

const MINUTE_MS = 60_000;
const HALF_HOUR_MS = 30 * MINUTE_MS;
const DAY_MS = 86_400_000;

const ZONES = ALL
  ? [...Intl.supportedValuesOf('timeZone'), 'UTC']
  : [
      ...['America/Chicago', 'America/Phoenix', 'America/Havana', 'Pacific/Chatham'],
      ...['Pacific/Kiritimati', 'Europe/London', 'Africa/Casablanca', 'Asia/Kathmandu'],
      ...['Australia/Lord_Howe', 'Antarctica/Troll'],
    ];

const night: LocalRange = { from: '21:00', to: '08:00' };
/** The hour in which many zones change their clocks is a boundary here. */
const noon: LocalRange = { from: '02:30', to: '14:15' };

const fridays: Pick<OpeningHours, 'weekly' | 'exceptions'> = {
  weekly: {
    monday: [
      { from: '09:00', to: '12:00' },
      { from: '13:00', to: '17:30' },
    ],
    tuesday: [{ from: '00:00', to: '24:00' }],
    wednesday: [],
    thursday: [{ from: '22:00', to: '02:30' }],
    friday: [{ from: '20:00', to: '03:00' }],
    saturday: [{ from: '23:30', to: '00:30' }],
    sunday: [{ from: '01:30', to: '02:15' }],
  },
  exceptions: new Map([
    ['2028-02-29', []],
    ['2028-07-04', [{ from: '10:00', to: '11:00' }]],
    ['2028-12-31', [{ from: '18:00', to: '04:00' }]],
    ['2029-01-01', []],
  ]),
};

const DAYS = [
  'sunday',
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
] as const;

const minutesOf = (time: string): number => {
  const [hours, minutes] = time.split(':').map(Number);
  return (hours ?? 0) * 60 + (minutes ?? 0);
};

/** The spans of a whole year, from the tables above, by counting wall minutes. */
function spansOf(rangesOn: (date: string, weekday: number) => readonly LocalRange[]): WallSpan[] {
  const spans: WallSpan[] = [];
  for (let at = Date.UTC(2027, 11, 25); at < Date.UTC(2029, 1, 1); at += DAY_MS) {
    const day = new Date(at);
    const date = day.toISOString().slice(0, 10);
    for (const { from, to } of rangesOn(date, day.getUTCDay())) {
      const end = minutesOf(to) > minutesOf(from) ? minutesOf(to) : minutesOf(to) + 1_440;
      spans.push({ from: wallMinute(date, minutesOf(from)), to: wallMinute(date, end) });
    }
  }
  spans.sort((a, b) => a.from - b.from);
  const merged: WallSpan[] = [];
  for (const span of spans) {
    const last = merged.at(-1);
    if (last !== undefined && span.from <= last.to) {
      merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, span.to) };
    } else merged.push(span);
  }
  return merged;
}

const outside = (quiet: LocalRange) => () =>
  minutesOf(quiet.to) < minutesOf(quiet.from)
    ? [{ from: quiet.to, to: quiet.from }]
    : [
        { from: '00:00', to: quiet.from },
        { from: quiet.to, to: '24:00' },
      ];

const CASES: readonly {
  readonly name: string;
  readonly hours: (timeZone: string) => OpeningHours;
  readonly spans: readonly WallSpan[];
}[] = [
  {
    name: 'quiet nights',
    hours: (zone) => hoursOutside(night, zone),
    spans: spansOf(outside(night)),
  },
  { name: 'quiet noons', hours: (zone) => hoursOutside(noon, zone), spans: spansOf(outside(noon)) },
  {
    name: 'business hours past midnight, with holidays',
    hours: (timeZone) => ({ timeZone, ...fridays }),
    spans: spansOf(
      (date, weekday) => fridays.exceptions.get(date) ?? fridays.weekly[DAYS[weekday] ?? 'sunday'],
    ),
  },
];

const YEAR_MS = Date.UTC(2028, 0, 1);

/** All of a leap year, or its special days and the days on which the zone changes its clocks. */
function daysOf(timeZone: string): number[] {
  const days = Array.from({ length: 366 }, (_, day) => YEAR_MS + day * DAY_MS);
  if (ALL) return days;
  const offset = (atMs: number) =>
    new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
      .format(atMs)
      .slice(-9);
  const changes = days.filter((at) => offset(at) !== offset(at + DAY_MS));
  const special = [YEAR_MS, Date.UTC(2028, 1, 28), Date.UTC(2028, 1, 29), Date.UTC(2028, 11, 31)];
  return [...new Set([...special, ...changes.flatMap((at) => [at - DAY_MS, at])])].sort();
}

/** The reckoning from `startMs` on, a minute each. */
interface Reckoning {
  readonly startMs: number;
  readonly next: Float64Array;
}

/** Nine days hold the longest closure of the tables; the whole year is reckoned in one piece. */
function reckoningsOf(
  timeZone: string,
  spans: readonly WallSpan[],
  days: readonly number[],
): (day: number) => Reckoning {
  const from = (startMs: number, count: number): Reckoning => ({
    startMs,
    next: nextOpenMinutes(timeZone, spans, { fromMs: startMs, minutes: count * 1_440 }),
  });
  if (!ALL) return (day) => from(day, 9);
  const year = from(days[0] ?? YEAR_MS, days.length + 9);
  return () => year;
}

/** Every half hour of a day: what the rules say, and what the reckoning says. */
function answersOf(opening: OpeningHours, { startMs, next }: Reckoning, day: number) {
  return Array.from({ length: 48 }, (_, index) => {
    const atMs = day + index * HALF_HOUR_MS;
    return {
      at: new Date(atMs).toISOString(),
      found: nextOpenInAll([opening], atMs),
      expected: next[(atMs - startMs) / MINUTE_MS],
    };
  });
}

describe('the next allowed instant', () => {
  it.each(ZONES)(
    'is what the clock on the wall says, at every half hour in %s [LV-7] [INV-14]',
    (timeZone) => {
      const differences: string[] = [];
      let asked = 0;
      const days = daysOf(timeZone);
      for (const { name, hours, spans } of CASES) {
        const opening = hours(timeZone);
        const reckoned = reckoningsOf(timeZone, spans, days);
        const answers = days.flatMap((day) => answersOf(opening, reckoned(day), day));
        asked += answers.length;
        const wrong = answers.filter(({ found, expected }) => found !== expected);
        differences.push(...wrong.map((answer) => `${name}: ${JSON.stringify(answer)}`));
      }
      expect(asked).toBeGreaterThan(400);
      expect(differences).toEqual([]);
    },
  );
});
