import { changesBetween, isOpenAt, localDate, type OpeningHours } from './hours';

const DAY_MS = 86_400_000;

/**
 * How far a search looks: longer than any closure that a business would write as holidays. It is
 * what makes every search end.
 */
const SEARCH_DAYS_MAX = 400;

/** A search takes the days in spans, the near ones short, because most answers are near. */
const SPAN_DAYS_FIRST = 1;
const SPAN_DAYS_NEXT = 8;

/** Says whether `atMs` is inside all of the given hours. */
export function isOpenInAll(all: readonly OpeningHours[], atMs: number): boolean {
  return all.every((hours) => isOpenAt(hours, atMs));
}

/**
 * The first instant at or after `fromMs` that is inside all of the given hours: `fromMs` itself, or
 * one at which some of them change. Null where there is none within `daysMax` days.
 */
export function nextOpenInAll(
  all: readonly OpeningHours[],
  fromMs: number,
  daysMax = SEARCH_DAYS_MAX,
): number | null {
  if (isOpenInAll(all, fromMs)) return fromMs;
  let days = SPAN_DAYS_FIRST;
  for (let day = 0; day < daysMax; day += days) {
    days = day === 0 ? SPAN_DAYS_FIRST : SPAN_DAYS_NEXT;
    const spanMs = fromMs + day * DAY_MS;
    const changes = changesIn(all, spanMs, days).sort((a, b) => a - b);
    // Behind its end a span does not know the changes of every zone.
    const endMs = spanMs + days * DAY_MS;
    for (const change of changes) {
      if (change > fromMs && change <= endMs && isOpenInAll(all, change)) return change;
    }
  }
  return null;
}

/**
 * The latest instant at or before `untilMs`, and after `afterMs`, that is inside all of the given
 * hours, on whole milliseconds; null where there is none.
 */
export function lastOpenInAll(
  all: readonly OpeningHours[],
  untilMs: number,
  afterMs: number,
): number | null {
  if (untilMs <= afterMs) return null;
  if (isOpenInAll(all, untilMs)) return untilMs;
  const days = Math.ceil((untilMs - afterMs) / DAY_MS);
  const changes = changesIn(all, untilMs - days * DAY_MS, days).sort((a, b) => b - a);
  for (const change of changes) {
    // The hours end at a change: the millisecond before it is the last inside.
    const last = change - 1;
    if (last <= untilMs && last > afterMs && isOpenInAll(all, last)) return last;
  }
  return null;
}

/** Every instant from the day before `fromMs` to `days` behind it at which some hours may change. */
function changesIn(all: readonly OpeningHours[], fromMs: number, days: number): number[] {
  return all.flatMap((hours) => {
    const today = localDate(fromMs, hours.timeZone);
    return changesBetween(hours, today.subtract({ days: 1 }), today.add({ days: days + 1 }));
  });
}

/** How the least bad instant is looked for where no instant is inside all hours. */
const LEAST_BAD_STEP_MS = 30 * 60_000;
const LEAST_BAD_SEARCH_MS = 14 * DAY_MS;

/** Hours that hold for several, such as for zones that show the same time. */
export interface WeightedHours {
  readonly hours: OpeningHours;
  readonly weight: number;
}

/**
 * The least bad instant from `fromMs` on: inside all of `must`, on a grid of half hours within two
 * weeks, and outside as little of `should`, by weight, as any; of equals the earliest. Null where `must` never
 * opens in that time.
 */
export function leastBadInstant(
  must: readonly OpeningHours[],
  should: readonly WeightedHours[],
  fromMs: number,
): number | null {
  let best: { readonly atMs: number; readonly closed: number } | null = null;
  for (let atMs = fromMs; atMs < fromMs + LEAST_BAD_SEARCH_MS; atMs += LEAST_BAD_STEP_MS) {
    if (!isOpenInAll(must, atMs)) continue;
    const closed = should.reduce(
      (sum, { hours, weight }) => sum + (isOpenAt(hours, atMs) ? 0 : weight),
      0,
    );
    if (best === null || closed < best.closed) best = { atMs, closed };
  }
  return best?.atMs ?? null;
}
