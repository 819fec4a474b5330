import { Temporal } from 'temporal-polyfill';

/** The calendar days after the first accepted answer on which a follow-up is due (S6). */
const FOLLOW_UP_DAYS = [1, 3, 7] as const;

/** A step is planned at least this long before the provider's reply window closes. */
const WINDOW_MARGIN_MS = 30 * 60_000;

export interface FollowUpStep {
  readonly step: number;
  readonly day: number;
  readonly dueAtMs: number;
}

/**
 * The instants of the follow-ups: the Nth calendar day in the business's zone after the first
 * accepted answer, at its local time; day 1 moved to 30 min before a reply window that would
 * close earlier (S6). A local time that a clock change skips moves to the hour after the gap.
 */
export function planFollowUps(
  anchorMs: number,
  timeZone: string,
  windowClosesAtMs: number | null,
): FollowUpStep[] {
  const anchor = Temporal.Instant.fromEpochMilliseconds(anchorMs).toZonedDateTimeISO(timeZone);
  return FOLLOW_UP_DAYS.map((day, index) => {
    const local = anchor.add({ days: day }).epochMilliseconds;
    return {
      step: index + 1,
      day,
      dueAtMs: day === 1 ? inWindow(local, windowClosesAtMs, anchorMs) : local,
    };
  });
}

function inWindow(dueAtMs: number, closesAtMs: number | null, anchorMs: number): number {
  if (closesAtMs === null) return dueAtMs;
  const latest = closesAtMs - WINDOW_MARGIN_MS;
  return latest > anchorMs ? Math.min(dueAtMs, latest) : dueAtMs;
}

const TEXTS = {
  en: [
    'Hi, just checking in about your request. Would you still like us to help with it?',
    'Hello again. Is there anything you would like to know before you decide?',
    'This is our last check-in about your request. Should we keep it open for you?',
  ],
  es: [
    'Hola, le escribimos de nuevo por su solicitud. ¿Todavía quiere que le ayudemos?',
    'Hola otra vez. ¿Hay algo que quiera saber antes de decidir?',
    'Este es nuestro último mensaje sobre su solicitud. ¿La dejamos abierta?',
  ],
} as const;

/** The wording of a follow-up step, in the lead's language: one question, no promise. */
export function followUpText(step: number, language: 'en' | 'es'): string {
  const texts = TEXTS[language];
  return texts[step - 1] ?? texts[texts.length - 1] ?? texts[0];
}
