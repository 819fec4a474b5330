import { Temporal } from 'temporal-polyfill';
import { lastAllowed, nextAllowed, type AllowedHours } from './allowed-hours';
import type { Template } from './policy-rules';

const MINUTE_MS = 60_000;

/** A step is planned at least this long before the provider's reply window closes. */
const WINDOW_MARGIN_MS = 30 * MINUTE_MS;

export interface FollowUpStep {
  readonly step: number;
  readonly day: number;
  /** When its row is written; the decision made then moves it into allowed hours. */
  readonly dueAtMs: number;
}

export interface FollowUpPlanning {
  /** When the provider accepted the first answer. */
  readonly anchorMs: number;
  readonly timeZone: string;
  /** Calendar days, rising. */
  readonly days: readonly number[];
  /** Null where the channel has no reply window. */
  readonly windowClosesAtMs: number | null;
  /** Known where there is a window: day 1 must find an allowed instant before it closes. */
  readonly hours: AllowedHours | null;
}

/**
 * The instants of the follow-ups: the Nth calendar day in the business's zone after the first
 * accepted answer, at its local time. Day 1 is planned early enough that it may leave 30 min before
 * a reply window closes (S6). A local time that a clock change skips moves behind the gap.
 */
export function planFollowUps(planning: FollowUpPlanning): FollowUpStep[] {
  const { anchorMs, timeZone } = planning;
  const anchor = Temporal.Instant.fromEpochMilliseconds(anchorMs).toZonedDateTimeISO(timeZone);
  return planning.days.map((day, index) => {
    const local = anchor.add({ days: day }).epochMilliseconds;
    return { step: index + 1, day, dueAtMs: day === 1 ? inWindow(local, planning) : local };
  });
}

function inWindow(dueAtMs: number, planning: FollowUpPlanning): number {
  const { windowClosesAtMs, anchorMs, hours } = planning;
  if (windowClosesAtMs === null) return dueAtMs;
  const latestMs = windowClosesAtMs - WINDOW_MARGIN_MS;
  if (latestMs <= anchorMs) return dueAtMs;
  const wanted = Math.min(dueAtMs, latestMs);
  if (hours === null) return wanted;
  if (nextAllowed(hours, wanted).atMs <= latestMs) return wanted;
  const last = lastAllowed(hours, wanted, anchorMs);
  if (last === null) return dueAtMs;
  const onTheMinute = Math.floor(last / MINUTE_MS) * MINUTE_MS;
  return onTheMinute > anchorMs ? onTheMinute : last;
}

/** What a due follow-up finds. */
export interface RouteFacts {
  readonly notBeforeMs: number;
  readonly windowClosesAtMs: number | null;
  readonly template: Template | null;
  /** Another channel on which the person wrote to this business and never opted out. */
  readonly otherChannelOpen: boolean;
}

export type FollowUpRoute = 'same-channel' | 'template' | 'other-channel' | 'by-hand';

/**
 * How a due follow-up leaves (S6): as it is inside the reply window; outside it as an approved
 * template, else on another consented channel, else by hand. It is never dropped in silence.
 */
export function routeFollowUp(facts: RouteFacts): FollowUpRoute {
  const { windowClosesAtMs, notBeforeMs } = facts;
  if (windowClosesAtMs === null || notBeforeMs < windowClosesAtMs) return 'same-channel';
  if (facts.template !== null) return 'template';
  return facts.otherChannelOpen ? 'other-channel' : 'by-hand';
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
