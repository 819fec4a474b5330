import { useSyncExternalStore } from 'react';

/** The server's clock minus this machine's, in milliseconds; learnt from every answer. */
let offsetMs = 0;

/** Learns the server's clock from the `now` of an answer that was received this moment. */
export function learnServerClock(now: string): void {
  offsetMs = Date.parse(now) - Date.now();
}

const listeners = new Set<() => void>();
let secondMs = Math.floor(Date.now() / 1_000) * 1_000;
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    secondMs = Math.floor(Date.now() / 1_000) * 1_000;
    for (const each of listeners) each();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The server's time in epoch milliseconds, new every second. One timer serves the whole page. */
export function useNowMs(): number {
  return useSyncExternalStore(subscribe, () => secondMs) + offsetMs;
}

const UNITS = [
  { unit: 'd', ms: 86_400_000 },
  { unit: 'h', ms: 3_600_000 },
  { unit: 'min', ms: 60_000 },
  { unit: 's', ms: 1_000 },
] as const;

/** An age in its largest unit: "12 s", "5 min", "3 h", "4 d". Never below zero. */
export function ageWords(milliseconds: number): string {
  const ms = Math.max(0, milliseconds);
  const { unit, ms: size } = UNITS.find((each) => ms >= each.ms) ?? UNITS[3];
  return `${Math.floor(ms / size)} ${unit}`;
}

/** An age for a list: "now" under ten seconds, so that rows do not flicker. */
export function shortAge(milliseconds: number): string {
  return milliseconds < 10_000 ? 'now' : ageWords(milliseconds);
}

const formats = new Map<string, Intl.DateTimeFormat>();

function format(
  timeZone: string | undefined,
  options: Intl.DateTimeFormatOptions,
  at: string,
): string {
  const key = JSON.stringify([timeZone, options]);
  const known = formats.get(key);
  const made =
    known ??
    new Intl.DateTimeFormat('en-US', {
      ...options,
      ...(timeZone === undefined ? {} : { timeZone }),
    });
  if (known === undefined) formats.set(key, made);
  return made.format(new Date(at));
}

/** The time of day in the business's zone. */
export function clockTime(at: string, timeZone: string): string {
  return format(timeZone, { hour: 'numeric', minute: '2-digit' }, at);
}

/** The day in the business's zone, as a heading. */
export function dayName(at: string, timeZone: string): string {
  return format(timeZone, { weekday: 'long', month: 'long', day: 'numeric' }, at);
}

/** Day and time of day, for what is days away. */
export function dayAndTime(at: string, timeZone: string): string {
  const options = {
    weekday: 'short',
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
  } as const;
  return format(timeZone, options, at);
}

const EXACT = {
  dateStyle: 'full',
  timeStyle: 'long',
} as const;

/** The exact instant in the business's zone, and in the viewer's where that is another. */
export function exactTime(at: string, timeZone: string): string {
  const there = format(timeZone, EXACT, at);
  const here = format(undefined, EXACT, at);
  return there === here ? there : `${there}\nYour time: ${here}`;
}
