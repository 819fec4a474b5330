import type { SandboxChannel } from './channels';
import type { EventHub } from './events';
import type { ThreadEntry } from './thread-entry';

export type EntryChange = Partial<
  Pick<
    ThreadEntry,
    'text' | 'status' | 'webhookStatus' | 'deliveredAt' | 'edits' | 'deleted' | 'reaction'
  >
>;

const ENTRIES_PER_THREAD = 2_000;
const INDEXED_MESSAGES = 100_000;

interface Thread {
  readonly lead: string;
  readonly entries: ThreadEntry[];
}

/** What every customer sees, by channel and lead, ordered by time. */
export class Threads {
  readonly #byChannel = new Map<SandboxChannel, Map<string, Thread>>();
  readonly #lastFromLead = new Map<string, number>();
  readonly #leadOfMessage = new Map<string, string>();
  readonly #events: EventHub;

  constructor(events: EventHub) {
    this.#events = events;
  }

  /** Adds a message, or replaces the one with the same provider id. */
  put(channel: SandboxChannel, lead: string, entry: ThreadEntry): void {
    const { entries } = this.#thread(channel, lead);
    const known = entries.findLastIndex((e) => e.providerMessageId === entry.providerMessageId);
    if (known >= 0) {
      entries[known] = entry;
    } else {
      const before = entries.findLastIndex((other) => other.at <= entry.at);
      entries.splice(before + 1, 0, entry);
      if (entries.length > ENTRIES_PER_THREAD) entries.shift();
      this.#index(entry.providerMessageId, lead);
    }
    if (entry.from === 'lead' && entry.imported !== true) {
      this.#noteWindow(channel, lead, entry);
    }
    this.#events.publish({ type: 'thread', channel, lead, entry });
  }

  /** Changes a message that is there; a message that is not is left out without a word. */
  change(channel: SandboxChannel, lead: string, id: string, change: EntryChange): void {
    const entry = this.find(channel, lead, id);
    if (entry !== null) this.put(channel, lead, { ...entry, ...change });
  }

  find(channel: SandboxChannel, lead: string, id: string): ThreadEntry | null {
    return this.entries(channel, lead).findLast((e) => e.providerMessageId === id) ?? null;
  }

  entries(channel: SandboxChannel, lead: string): readonly ThreadEntry[] {
    return this.#byChannel.get(channel)?.get(lead)?.entries ?? [];
  }

  /** The newest message of one side that is still there. */
  newest(channel: SandboxChannel, lead: string, from: 'lead' | 'business'): ThreadEntry | null {
    const matches = (entry: ThreadEntry) => entry.from === from && entry.deleted !== true;
    return this.entries(channel, lead).findLast(matches) ?? null;
  }

  /** The `limit` most recent threads of a channel, each with its newest message. */
  list(
    channel: SandboxChannel,
    limit: number,
  ): readonly { readonly lead: string; readonly last: ThreadEntry }[] {
    const threads = [...(this.#byChannel.get(channel)?.values() ?? [])];
    return threads
      .flatMap(({ lead, entries }) => {
        const last = entries.at(-1);
        return last === undefined ? [] : [{ lead, last }];
      })
      .sort((a, b) => (a.last.at < b.last.at ? 1 : -1))
      .slice(0, limit);
  }

  /** When the lead last wrote to that account, in epoch milliseconds; null where never. */
  lastFromLead(channel: SandboxChannel, account: string, lead: string): number | null {
    return this.#lastFromLead.get(`${channel} ${account} ${lead}`) ?? null;
  }

  /** Whose thread a message stands in, or null where it is unknown or long ago. */
  leadOfMessage(id: string): string | null {
    return this.#leadOfMessage.get(id) ?? null;
  }

  #index(id: string, lead: string): void {
    this.#leadOfMessage.set(id, lead);
    if (this.#leadOfMessage.size <= INDEXED_MESSAGES) return;
    const [oldest] = this.#leadOfMessage.keys();
    if (oldest !== undefined) this.#leadOfMessage.delete(oldest);
  }

  #noteWindow(channel: SandboxChannel, lead: string, entry: ThreadEntry): void {
    const key = `${channel} ${entry.account} ${lead}`;
    const at = Date.parse(entry.at);
    this.#lastFromLead.set(key, Math.max(at, this.#lastFromLead.get(key) ?? at));
  }

  #thread(channel: SandboxChannel, lead: string): Thread {
    const threads = this.#byChannel.get(channel) ?? new Map<string, Thread>();
    this.#byChannel.set(channel, threads);
    const thread = threads.get(lead) ?? { lead, entries: [] };
    threads.set(lead, thread);
    return thread;
  }
}
