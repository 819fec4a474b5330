import { timezones } from 'libphonenumber-geo-carrier';
import { parsePhoneNumberFromString } from 'libphonenumber-js';
import { lookup } from 'zipcode-to-timezone';
import { readRecipient, type RecipientFacts } from '../db/recipients';
import { chooseRecipientZones, zipCodeOf, type RecipientZones } from '../domain/recipient-zone';
import type { Channel } from '../domain/inbound';
import type { Purpose } from '../domain/sending';
import type { ActivityDependencies, ActivityLog } from './dependencies';

/**
 * Looks up where the lead of a conversation may be (S6): from the ZIP code that the lead named,
 * else from the area codes, else every zone of the business's country.
 */
export async function recipientZonesOf(
  dependencies: Pick<ActivityDependencies, 'pool' | 'log'>,
  conversationId: string,
): Promise<RecipientZones> {
  const facts = await readRecipient(dependencies.pool, conversationId);
  return lookUpZones(dependencies, facts);
}

/** What a plan of follow-ups needs to know behind an accepted answer. */
export interface Planning {
  /** The channel's; null where it has none. */
  readonly replyWindowMs: number | null;
  /** Where the lead may be; read only where there is a window to keep. */
  readonly recipient: RecipientZones | null;
}

const BY_THE_CALENDAR: Planning = { replyWindowMs: null, recipient: null };

/**
 * Reads what a plan of follow-ups needs. It never rejects, because it stands beside the record of
 * an acceptance, which nothing may hold up (T8): without it the steps follow the calendar, and the
 * gate judges each of them again. `channel` null: the conversation's.
 */
export async function planningOf(
  dependencies: Pick<ActivityDependencies, 'pool' | 'log' | 'senders'>,
  send: {
    readonly conversationId: string;
    readonly purpose: Purpose;
    readonly channel: Channel | null;
  },
): Promise<Planning> {
  const { senders, log } = dependencies;
  if (send.purpose !== 'answer') return BY_THE_CALENDAR;
  if (send.channel !== null && senders[send.channel].replyWindowMs === null) return BY_THE_CALENDAR;
  try {
    const facts = await readRecipient(dependencies.pool, send.conversationId);
    const { replyWindowMs } = senders[facts.channel];
    if (replyWindowMs === null) return BY_THE_CALENDAR;
    return { replyWindowMs, recipient: await lookUpZones(dependencies, facts) };
  } catch (error) {
    log.warn({ ...send, error: String(error) }, 'follow-ups are planned by the calendar alone');
    return BY_THE_CALENDAR;
  }
}

/** The same from facts that were read already. */
export async function lookUpZones(
  { log }: { readonly log: Pick<ActivityLog, 'warn'> },
  facts: RecipientFacts,
): Promise<RecipientZones> {
  const { businessTimeZone } = facts;
  const inUnitedStates = zonesOfCountry('US').has(canonical(businessTimeZone));
  const zipCode = inUnitedStates ? zipCodeOf(facts.location) : null;
  return chooseRecipientZones({
    zip: zipCode === null ? null : lookup(zipCode),
    areaCode: await zonesOfPhones(facts.phones).catch((error: unknown) => {
      // Without it the strictest intersection holds, which is later and never wrong.
      log.warn({ error: String(error) }, 'the zones of an area code could not be read');
      return [];
    }),
    country: [...countryOf(businessTimeZone)],
    businessTimeZone,
  });
}

/** A person may have several numbers; it may be day in none of their zones. */
async function zonesOfPhones(phones: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const phone of phones) {
    const zones = (await timezones(parsePhoneNumberFromString(phone))) ?? [];
    for (const zone of zones) if (isZone(zone)) found.add(zone);
  }
  return [...found].sort();
}

/** The metadata may name a zone that this runtime does not know, or none ("Etc/Unknown"). */
function isZone(zone: string): boolean {
  try {
    canonical(zone);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function canonical(zone: string): string {
  return new Intl.DateTimeFormat('en-US', { timeZone: zone }).resolvedOptions().timeZone;
}

const zonesByCountry = new Map<string, ReadonlySet<string>>();

function zonesOfCountry(country: string): ReadonlySet<string> {
  const known = zonesByCountry.get(country);
  if (known !== undefined) return known;
  const zones = new Set(zonesOfLocale(`und-${country}`).map(canonical));
  zonesByCountry.set(country, zones);
  return zones;
}

/** `timeZones` (ES2023) as Node 20 names it, `getTimeZones` as later ones do. */
function zonesOfLocale(tag: string): readonly string[] {
  const locale: Intl.Locale & {
    readonly timeZones?: readonly string[];
    readonly getTimeZones?: () => readonly string[] | undefined;
  } = new Intl.Locale(tag);
  return locale.getTimeZones?.() ?? locale.timeZones ?? [];
}

const LETTERS = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ');

/** All zones of the first country that keeps `timeZone`; empty where none does (`UTC`). */
function countryOf(timeZone: string): ReadonlySet<string> {
  const zone = canonical(timeZone);
  for (const first of LETTERS) {
    for (const second of LETTERS) {
      const zones = zonesOfCountry(`${first}${second}`);
      if (zones.has(zone)) return zones;
    }
  }
  return new Set();
}
