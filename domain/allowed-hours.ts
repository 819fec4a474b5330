import { hoursOutside, isOpenAt, offsetsBehind, type OpeningHours } from './hours';
import {
  isOpenInAll,
  lastOpenInAll,
  leastBadInstant,
  nextOpenInAll,
  type WeightedHours,
} from './hours-search';
import type { PolicyRules } from './policy-rules';
import type { RecipientZones } from './recipient-zone';

/**
 * When something that the business starts may leave (S6): inside its own business hours, and where
 * it is quiet in no zone that the recipient may be in.
 */
export interface AllowedHours {
  readonly business: readonly OpeningHours[];
  readonly awake: readonly OpeningHours[];
  readonly recipient: RecipientZones;
}

/** The business's own hours, with its holidays; null where it is always open. */
export function businessHoursOf(rules: PolicyRules, timeZone: string): OpeningHours | null {
  const { businessHours, holidays } = rules;
  if (businessHours === null) return null;
  const exceptions = new Map(holidays.map(({ date, ranges }) => [date, ranges]));
  return { timeZone, weekly: businessHours, exceptions };
}

/** The hours of one recipient under the rules of one policy. */
export function allowedHours(
  rules: PolicyRules,
  timeZone: string,
  recipient: RecipientZones,
): AllowedHours {
  const business = businessHoursOf(rules, timeZone);
  const { quietHours } = rules;
  return {
    business: business === null ? [] : [business],
    awake: quietHours === null ? [] : recipient.zones.map((zone) => hoursOutside(quietHours, zone)),
    recipient,
  };
}

/** Why an instant was moved; null where it is allowed as it is. */
export type MovedBy = 'quiet-hours' | 'business-hours' | 'quiet-and-business-hours' | null;

export interface AllowedInstant {
  readonly atMs: number;
  readonly movedBy: MovedBy;
  /** True where no instant is allowed in every zone and this one is the least bad. */
  readonly leastBad: boolean;
}

/** Quiet hours come back every day: what no fortnight has, no later one has. */
const QUIET_DAYS_MAX = 15;

/**
 * The first allowed instant at or after `fromMs`. Where quiet hours of many zones leave none, the
 * least bad: inside business hours, and quiet in as few zones as any within two weeks. Where not
 * even business hours open, `fromMs` itself, and the gate has the last word.
 */
export function nextAllowed(hours: AllowedHours, fromMs: number): AllowedInstant {
  const movedBy = closedBy(hours, fromMs);
  const next = nextInAll(hours, fromMs);
  if (next !== null) return { atMs: next, movedBy, leastBad: false };
  const opensMs = nextOpenInAll(hours.business, fromMs) ?? fromMs;
  const atMs = leastBadInstant(hours.business, distinctZones(hours.awake, opensMs), opensMs);
  return { atMs: atMs ?? fromMs, movedBy, leastBad: true };
}

function nextInAll({ business, awake }: AllowedHours, fromMs: number): number | null {
  // A long closure is looked through by the business's hours alone.
  const opensMs = nextOpenInAll(business, fromMs);
  if (opensMs === null) return null;
  const zones = distinctZones(awake, opensMs).map(({ hours }) => hours);
  const next = nextOpenInAll([...business, ...zones], opensMs, QUIET_DAYS_MAX);
  const all = [...business, ...awake];
  // In the night of a change two zones of a group may change some hours apart.
  if (next === null || isOpenInAll(all, next)) return next;
  return nextOpenInAll(all, next, QUIET_DAYS_MAX);
}

/** One of all zones that show the same time for the fortnight: a country has far more names. */
function distinctZones(awake: readonly OpeningHours[], fromMs: number): WeightedHours[] {
  const groups = new Map<string, WeightedHours>();
  for (const hours of awake) {
    const key = offsetsBehind(hours.timeZone, fromMs, QUIET_DAYS_MAX + 2);
    const weight = (groups.get(key)?.weight ?? 0) + 1;
    groups.set(key, { hours: groups.get(key)?.hours ?? hours, weight });
  }
  return [...groups.values()];
}

/** The latest allowed instant in (`afterMs`, `untilMs`]; null where there is none. */
export function lastAllowed(hours: AllowedHours, untilMs: number, afterMs: number): number | null {
  return lastOpenInAll([...hours.business, ...hours.awake], untilMs, afterMs);
}

/** Says whether it may leave now. Where it never may, a least bad instant was decided before. */
export function isAllowedAt(hours: AllowedHours, atMs: number): boolean {
  return isOpenInAll([...hours.business, ...hours.awake], atMs) || nextInAll(hours, atMs) === null;
}

function closedBy({ business, awake }: AllowedHours, atMs: number): MovedBy {
  const quiet = awake.some((hours) => !isOpenAt(hours, atMs));
  const closed = business.some((hours) => !isOpenAt(hours, atMs));
  if (quiet) return closed ? 'quiet-and-business-hours' : 'quiet-hours';
  return closed ? 'business-hours' : null;
}
