import type { IncomingHttpHeaders } from 'node:http';
import type { SandboxChannel } from './channels';

/** One send that the provider accepted, whatever the sender heard of it. */
export interface LedgerEntry {
  /** ISO 8601. */
  readonly acceptedAt: string;
  readonly channel: SandboxChannel;
  /** The business's account that sent: page id, Instagram id, phone_number_id, SMS number. */
  readonly externalId: string;
  readonly lead: string;
  /** The address as the sender wrote it. */
  readonly to: string;
  readonly text: string;
  readonly providerMessageId: string;
  /** The sender's own token: metadata, biz_opaque_callback_data or the status callback URL. */
  readonly correlation: string | null;
  readonly requestHeaders: Readonly<Record<string, string>>;
}

/** Trimming in steps keeps the cost per send flat. */
const TRIM_STEP = 1_000;

/** Every accepted send in order; the oldest go when there are too many. */
export class Ledger {
  readonly #entries: LedgerEntry[] = [];
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  record(entry: LedgerEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length > this.#limit + TRIM_STEP) this.#entries.splice(0, TRIM_STEP);
  }

  /**
   * The entries of a channel (all channels without one) accepted at or after `since`, an instant
   * as `Date.toISOString` writes it, or an empty text for everything that is kept.
   */
  list(channel: SandboxChannel | null, since: string): readonly LedgerEntry[] {
    const before = this.#entries.findLastIndex((entry) => entry.acceptedAt < since);
    const recent = this.#entries.slice(Math.max(before + 1, this.#entries.length - this.#limit));
    return channel === null ? recent : recent.filter((entry) => entry.channel === channel);
  }

  /** The newest send to a lead that carried a correlation token, or null. */
  newestTo(channel: SandboxChannel, lead: string): LedgerEntry | null {
    const matches = (entry: LedgerEntry) =>
      entry.channel === channel && entry.lead === lead && entry.correlation !== null;
    return this.#entries.findLast(matches) ?? null;
  }

  /** The accepted send with that id, or null. */
  find(channel: SandboxChannel, providerMessageId: string): LedgerEntry | null {
    const matches = (entry: LedgerEntry) =>
      entry.channel === channel && entry.providerMessageId === providerMessageId;
    return this.#entries.findLast(matches) ?? null;
  }
}

/** Headers as the ledger keeps them: credentials are named, never kept. */
export function keptHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    const text = Array.isArray(value) ? value.join(', ') : value;
    kept[name] = name === 'authorization' ? `${text.split(' ')[0] ?? ''} [not kept]` : text;
  }
  return kept;
}
