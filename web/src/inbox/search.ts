import type { ListFilter } from '../api/queries';
import type { Channel } from '../generated/api';
import { CHANNEL_NAMES } from '../words';

export type View = 'all' | 'owed' | 'needs-person';

/** The list's filters, as the address holds them; absent members are not filtered by. */
export interface InboxSearch {
  readonly view?: Exclude<View, 'all'>;
  readonly channel?: Channel;
  readonly q?: string;
}

export const CHANNELS = Object.keys(CHANNEL_NAMES).filter(isChannel);

function isChannel(value: unknown): value is Channel {
  return typeof value === 'string' && Object.hasOwn(CHANNEL_NAMES, value);
}

/** Reads the filters of an address; what it does not know it leaves out. */
export function readSearch(raw: Readonly<Record<string, unknown>>): InboxSearch {
  const { view, channel, q } = raw;
  const text = typeof q === 'number' ? String(q) : q;
  return {
    ...(view === 'owed' || view === 'needs-person' ? { view } : {}),
    ...(isChannel(channel) ? { channel } : {}),
    ...(typeof text === 'string' && text !== '' ? { q: text } : {}),
  };
}

/** The same as the API asks for it. */
export function toFilter(search: InboxSearch): ListFilter {
  return {
    ...(search.view === 'owed' ? { owed: 'true' } : {}),
    ...(search.view === 'needs-person' ? { needsPerson: 'true' } : {}),
    ...(search.channel === undefined ? {} : { channel: search.channel }),
    ...(search.q === undefined ? {} : { q: search.q }),
  };
}
