import { createHash } from 'node:crypto';
import type { SandboxChannel } from './channels';
import type { WebhookNature } from './faults';

/** One webhook that the app answered with 2xx: for its provider it is delivered for good. */
export interface Delivery {
  /** When the answer came, ISO 8601. */
  readonly at: string;
  readonly channel: SandboxChannel;
  /** External id of the business's account. */
  readonly account: string;
  readonly nature: WebhookNature;
  /** Of the exact bytes of the body. */
  readonly bodySha256: string;
}

/** Trimming in steps keeps the cost per webhook flat. */
const TRIM_STEP = 1_000;

/** The provider's own record of delivered webhooks; the oldest go when there are too many. */
export class Deliveries {
  readonly #entries: Delivery[] = [];
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  record(delivery: Omit<Delivery, 'bodySha256'>, body: string): void {
    const bodySha256 = createHash('sha256').update(body).digest('hex');
    this.#entries.push({ ...delivery, bodySha256 });
    if (this.#entries.length > this.#limit + TRIM_STEP) this.#entries.splice(0, TRIM_STEP);
  }

  list(): readonly Delivery[] {
    return this.#entries;
  }
}
