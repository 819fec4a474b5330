/**
 * An independent reckoning of opening hours: no calendar library, no search for boundaries. It asks
 * `Intl` what the clock on the wall shows, marks each minute as open or closed by comparing wall
 * minutes, and finds the next open minute by walking backward over the marks.
 */

const MINUTE_MS = 60_000;
/** Clocks change on quarters of an hour; in between, the wall runs evenly, else it is asked again. */
const QUARTER = 15;

/** A span of wall minutes since 1970-01-01T00:00 on the wall, half open. */
export interface WallSpan {
  readonly from: number;
  readonly to: number;
}

/** Wall minutes of a date and a minute of that day. */
export function wallMinute(date: string, minute = 0): number {
  return Date.parse(`${date}T00:00:00Z`) / MINUTE_MS + minute;
}

function wallClock(timeZone: string): (atMs: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  return (atMs) => {
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0] =
      format.format(atMs).match(/\d+/g)?.map(Number) ?? [];
    return Date.UTC(year, month - 1, day, hour, minute) / MINUTE_MS;
  };
}

/** What the wall shows at each minute from `fromMs` for `minutes`. */
function wallMinutes(timeZone: string, fromMs: number, minutes: number): Int32Array {
  const clock = wallClock(timeZone);
  const walls = new Int32Array(minutes + 1);
  walls[0] = clock(fromMs);
  for (let start = 0; start < minutes; start += QUARTER) {
    const end = Math.min(start + QUARTER, minutes);
    walls[end] = clock(fromMs + end * MINUTE_MS);
    const even = (walls[end] ?? 0) - (walls[start] ?? 0) === end - start;
    for (let at = start + 1; at < end; at += 1) {
      walls[at] = even ? (walls[start] ?? 0) + at - start : clock(fromMs + at * MINUTE_MS);
    }
  }
  return walls;
}

/**
 * For each minute from `fromMs`: the first minute at or after it that lies in one of the spans, as
 * epoch milliseconds; NaN behind the last. `spans` are sorted and do not overlap.
 */
export function nextOpenMinutes(
  timeZone: string,
  spans: readonly WallSpan[],
  { fromMs, minutes }: { readonly fromMs: number; readonly minutes: number },
): Float64Array {
  const walls = wallMinutes(timeZone, fromMs, minutes);
  const next = new Float64Array(minutes + 2).fill(NaN);
  for (let at = minutes; at >= 0; at -= 1) {
    const open = isInside(spans, walls[at] ?? 0);
    next[at] = open ? fromMs + at * MINUTE_MS : (next[at + 1] ?? NaN);
  }
  return next;
}

function isInside(spans: readonly WallSpan[], wall: number): boolean {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle]?.to ?? 0) <= wall) low = middle + 1;
    else high = middle;
  }
  const span = spans[low];
  return span !== undefined && span.from <= wall;
}
