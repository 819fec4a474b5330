import type { EventHub } from '../events';

/** One message in Twilio's own records. */
export interface SmsRecord {
  readonly sid: string;
  readonly accountSid: string;
  readonly from: string;
  readonly to: string;
  readonly body: string;
  readonly direction: 'inbound' | 'outbound-api';
  readonly status: string;
  readonly errorCode: number | null;
  readonly mediaCount: number;
  /** Epoch milliseconds; the API shows seconds. */
  readonly createdAt: number;
  readonly sentAt: number | null;
}

export interface SmsQuery {
  readonly accountSid: string;
  readonly to: string | null;
  readonly from: string | null;
  readonly sentFrom: number;
  readonly sentBefore: number;
  /** Outbound messages created later are not visible yet. */
  readonly visibleUntil: number;
}

const RECORDS_MAX = 50_000;

/** Twilio's message list and its block list. */
export class SmsStore {
  readonly #records = new Map<string, SmsRecord>();
  readonly #blocked = new Set<string>();
  readonly #events: EventHub;

  constructor(events: EventHub) {
    this.#events = events;
  }

  put(record: SmsRecord): void {
    this.#records.set(record.sid, record);
    if (this.#records.size <= RECORDS_MAX) return;
    const [oldest] = this.#records.keys();
    if (oldest !== undefined) this.#records.delete(oldest);
  }

  change(sid: string, change: Partial<Pick<SmsRecord, 'status' | 'sentAt' | 'errorCode'>>): void {
    const record = this.#records.get(sid);
    if (record !== undefined) this.#records.set(sid, { ...record, ...change });
  }

  get(sid: string): SmsRecord | null {
    return this.#records.get(sid) ?? null;
  }

  /** The matching messages, the newest first, as Twilio lists them. */
  list(query: SmsQuery): readonly SmsRecord[] {
    const matches = (record: SmsRecord) =>
      record.accountSid === query.accountSid &&
      (query.to === null || record.to === query.to) &&
      (query.from === null || record.from === query.from) &&
      (record.sentAt ?? record.createdAt) >= query.sentFrom &&
      (record.sentAt ?? record.createdAt) < query.sentBefore &&
      (record.direction === 'inbound' || record.createdAt <= query.visibleUntil);
    return [...this.#records.values()].filter(matches).reverse();
  }

  /** Says whether `phone` has stopped messages from the business's number `account`. */
  isBlocked(account: string, phone: string): boolean {
    return this.#blocked.has(`${account} ${phone}`);
  }

  setBlocked(account: string, phone: string, blocked: boolean): void {
    if (blocked) this.#blocked.add(`${account} ${phone}`);
    else this.#blocked.delete(`${account} ${phone}`);
    this.#events.publish({ type: 'opt-out', account, phone, blocked });
  }
}
