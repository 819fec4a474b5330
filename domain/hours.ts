import { Temporal } from 'temporal-polyfill';

/**
 * Wall-clock arithmetic (S6, LV-7). An instant is open by what a clock on the wall shows there and
 * then, so an hour that comes twice is open or closed twice, and one that the clocks skip is never.
 * Ranges are half open: at its end a range is over.
 */

/** Local times of a day as HH:MM; where `to` is not after `from` it is a time of the next day. */
export interface LocalRange {
  readonly from: string;
  /** Up to 24:00. */
  readonly to: string;
}

export type Weekday =
  'monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday';

export type WeeklyHours = Readonly<Record<Weekday, readonly LocalRange[]>>;

/** When something may leave, in one zone. */
export interface OpeningHours {
  readonly timeZone: string;
  readonly weekly: WeeklyHours;
  /** Other hours on certain dates (YYYY-MM-DD); empty ranges: closed. */
  readonly exceptions: ReadonlyMap<string, readonly LocalRange[]>;
}

const WEEKDAYS: readonly Weekday[] = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
];

const MINUTES_PER_DAY = 1_440;
const MINUTES_PER_WEEK = 7 * MINUTES_PER_DAY;

/** Minutes since midnight of HH:MM. */
export function minuteOfDay(time: string): number {
  const [hour = '0', minute = '0'] = time.split(':');
  return Number(hour) * 60 + Number(minute);
}

/** The hours outside `quiet`, the same on every day. */
export function hoursOutside(quiet: LocalRange, timeZone: string): OpeningHours {
  const awake = awakeRanges(quiet);
  return { timeZone, weekly: everyDay(awake), exceptions: new Map() };
}

function awakeRanges({ from, to }: LocalRange): readonly LocalRange[] {
  if (minuteOfDay(to) <= minuteOfDay(from)) return [{ from: to, to: from }].filter(isNotEmpty);
  const parts = [
    { from: '00:00', to: from },
    { from: to, to: '24:00' },
  ];
  return parts.filter(isNotEmpty);
}

function isNotEmpty({ from, to }: LocalRange): boolean {
  return minuteOfDay(from) !== minuteOfDay(to);
}

function everyDay(ranges: readonly LocalRange[]): WeeklyHours {
  return {
    monday: ranges,
    tuesday: ranges,
    wednesday: ranges,
    thursday: ranges,
    friday: ranges,
    saturday: ranges,
    sunday: ranges,
  };
}

/** Says whether `atMs` is inside the hours. */
export function isOpenAt(hours: OpeningHours, atMs: number): boolean {
  const local = zoned(atMs, hours.timeZone);
  const minute = local.hour * 60 + local.minute;
  const today = rangesOf(hours, local.toPlainDate()).some(
    (range) => minuteOfDay(range.from) <= minute && minute < endMinute(range),
  );
  if (today) return true;
  return rangesOf(hours, local.toPlainDate().subtract({ days: 1 })).some(
    (range) => minute + MINUTES_PER_DAY < endMinute(range),
  );
}

/** The end in minutes since the midnight at which the range's day began. */
function endMinute({ from, to }: LocalRange): number {
  const end = minuteOfDay(to);
  return end > minuteOfDay(from) ? end : end + MINUTES_PER_DAY;
}

function rangesOf(hours: OpeningHours, date: Temporal.PlainDate): readonly LocalRange[] {
  const exception = hours.exceptions.get(date.toString());
  if (exception !== undefined) return exception;
  const weekday = WEEKDAYS[date.dayOfWeek - 1];
  return weekday === undefined ? [] : hours.weekly[weekday];
}

function zoned(atMs: number, timeZone: string): Temporal.ZonedDateTime {
  // The clock of Postgres counts microseconds; what lies within a millisecond is one instant here.
  return Temporal.Instant.fromEpochMilliseconds(Math.floor(atMs)).toZonedDateTimeISO(timeZone);
}

/**
 * The instants at which the hours may change in the local days from `first` to `last`: the ends of
 * every range, at both comings of an hour that comes twice, and the changes of the clocks.
 */
export function changesBetween(
  hours: OpeningHours,
  first: Temporal.PlainDate,
  last: Temporal.PlainDate,
): number[] {
  const { timeZone } = hours;
  const changes: number[] = [];
  let date = first;
  let start = first.toZonedDateTime(timeZone);
  let next = first.add({ days: 1 }).toZonedDateTime(timeZone);
  while (Temporal.PlainDate.compare(date, last) <= 0) {
    const afterNext = date.add({ days: 2 }).toZonedDateTime(timeZone);
    const steady = offsetMsOf(start) === offsetMsOf(afterNext);
    for (const minute of endsOn(hours, date)) {
      // A range may end on the next day; only where the clocks change by then it is asked for.
      if (steady) changes.push(wallMs(date, minute) - offsetMsOf(start));
      else changes.push(...instantsOf(date, minute, timeZone));
    }
    if (offsetMsOf(start) !== offsetMsOf(next)) changes.push(...clockChangesBehind(start, next));
    date = date.add({ days: 1 });
    start = next;
    next = afterNext;
  }
  return changes;
}

function endsOn(hours: OpeningHours, date: Temporal.PlainDate): number[] {
  return rangesOf(hours, date).flatMap((range) => [minuteOfDay(range.from), endMinute(range)]);
}

function offsetMsOf({ offsetNanoseconds }: Temporal.ZonedDateTime): number {
  return offsetNanoseconds / 1_000_000;
}

function wallMs(date: Temporal.PlainDate, minute: number): number {
  return Date.UTC(date.year, date.month - 1, date.day, 0, minute);
}

function clockChangesBehind(start: Temporal.ZonedDateTime, end: Temporal.ZonedDateTime): number[] {
  const changes: number[] = [];
  let change = start.getTimeZoneTransition('next');
  while (change !== null && Temporal.ZonedDateTime.compare(change, end) <= 0) {
    changes.push(change.epochMilliseconds);
    change = change.getTimeZoneTransition('next');
  }
  return changes;
}

function instantsOf(date: Temporal.PlainDate, minute: number, timeZone: string): number[] {
  const wall = date.toPlainDateTime().add({ minutes: minute });
  const earlier = wall.toZonedDateTime(timeZone, { disambiguation: 'earlier' }).epochMilliseconds;
  const later = wall.toZonedDateTime(timeZone, { disambiguation: 'later' }).epochMilliseconds;
  return earlier === later ? [earlier] : [earlier, later];
}

/**
 * A word for how a zone's clocks run in the `days` from `fromMs` on: zones with the same word show
 * the same time, because clocks do not change twice within two days.
 */
export function offsetsBehind(timeZone: string, fromMs: number, days: number): string {
  const start = zoned(fromMs, timeZone).subtract({ days: 2 });
  const samples = Math.ceil((days + 4) / 2);
  return Array.from({ length: samples + 1 }, (_, sample) =>
    String(start.add({ days: 2 * sample }).offsetNanoseconds),
  ).join(' ');
}

/** The local date at an instant. */
export function localDate(atMs: number, timeZone: string): Temporal.PlainDate {
  return zoned(atMs, timeZone).toPlainDate();
}

/**
 * Says whether business hours and quiet hours leave some minute of a week open where both are kept
 * in one zone: what never opens is no policy.
 */
export function opensInOneZone(rules: {
  readonly businessHours: WeeklyHours | null;
  readonly quietHours: LocalRange | null;
}): boolean {
  const whole = everyDay([{ from: '00:00', to: '24:00' }]);
  const business = minutesOfWeek(rules.businessHours ?? whole);
  const { quietHours } = rules;
  const awake = minutesOfWeek(quietHours === null ? whole : everyDay(awakeRanges(quietHours)));
  return business.some((open, minute) => open && awake[minute] === true);
}

function minutesOfWeek(weekly: WeeklyHours): boolean[] {
  const open = Array<boolean>(MINUTES_PER_WEEK).fill(false);
  WEEKDAYS.forEach((weekday, day) => {
    for (const range of weekly[weekday]) {
      const start = day * MINUTES_PER_DAY;
      for (let minute = minuteOfDay(range.from); minute < endMinute(range); minute += 1) {
        open[(start + minute) % MINUTES_PER_WEEK] = true;
      }
    }
  });
  return open;
}
