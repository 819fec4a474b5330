import type { Background } from './background';
import type { SandboxChannel } from './channels';
import type { Deliveries } from './deliveries';
import type { EventHub } from './events';
import { WEBHOOK_FAULTS, type FaultBoard, type WebhookNature } from './faults';
import type { SandboxSettings } from './settings';
import { WebhookClient, type Attempt, type SignedRequest } from './webhook-client';

/** One webhook, signed, before the courier decides what becomes of it. */
export interface Webhook {
  readonly channel: SandboxChannel;
  /** External id of the business's account. */
  readonly account: string;
  readonly nature: WebhookNature;
  readonly provider: 'meta' | 'twilio';
  readonly url: string;
  readonly original: SignedRequest;
  /** The same event id with other content, for the fault `webhook-altered`. */
  readonly altered: () => SignedRequest;
  /** Hears the status of every try, 0 where the app was not reached. */
  readonly onAttempt?: (status: number) => void;
}

export interface DeliveryReport {
  /** Of the first try; 0 where the app was not reached, or a fault kept the webhook back. */
  readonly status: number;
  readonly note: string | null;
}

export interface CourierParts {
  readonly settings: SandboxSettings;
  readonly faults: FaultBoard;
  readonly events: EventHub;
  readonly background: Background;
  readonly deliveries: Deliveries;
}

interface Held {
  readonly webhook: Webhook;
  readonly copies: number;
}

const RETRIES_MAX = 5;

/** How often and on what Twilio tries again within one request (providers 5.1). */
function twilioRetries(url: string): { readonly count: number; readonly on: string } {
  const overrides = new URLSearchParams(url.split('#')[1] ?? '');
  const count = Number(overrides.get('rc') ?? 1);
  const usable = Number.isInteger(count) && count >= 0 && count <= RETRIES_MAX;
  return { count: usable ? count : 1, on: overrides.get('rp') ?? 'ct' };
}

function twilioRetriesAfter(attempt: Attempt, on: string): boolean {
  const reasons = {
    ct: attempt.connectFailed,
    rt: attempt.status === 0 && !attempt.connectFailed,
    '4xx': attempt.status >= 400 && attempt.status < 500,
    '5xx': attempt.status >= 500,
  };
  if (on === 'all') return Object.values(reasons).some(Boolean);
  return on
    .split(',')
    .some((name) => Object.entries(reasons).some(([r, met]) => met && r === name));
}

/** Brings webhooks to the app the way each provider does, or the way an armed fault says. */
export class WebhookCourier {
  readonly #client: WebhookClient;
  readonly #parts: CourierParts;
  readonly #held = new Map<SandboxChannel, Held[]>();
  readonly #lastStatus = new Map<string, number>();

  constructor(parts: CourierParts) {
    this.#parts = parts;
    this.#client = new WebhookClient(parts.settings.publicUrl, parts.settings.reachableAt);
  }

  get client(): WebhookClient {
    return this.#client;
  }

  /** Resolves when each of the `copies`, sent at once, has had its first try. Never throws. */
  async deliver(webhook: Webhook, copies = 1): Promise<DeliveryReport> {
    const { channel, nature } = webhook;
    const fault = this.#parts.faults.take(channel, WEBHOOK_FAULTS, nature)?.fault;
    if (fault === 'webhook-lost') return { status: 0, note: 'the fault webhook-lost dropped it' };
    if (fault === 'webhook-reordered') {
      this.#hold({ webhook, copies });
      return { status: 0, note: 'the fault webhook-reordered holds it back' };
    }
    const wanted = fault === 'webhook-duplicate' ? Math.max(2, copies) : copies;
    const status = await this.#sendCopies(webhook, wanted);
    if (fault === 'webhook-altered') await this.#send(webhook, webhook.altered());
    await this.#release(channel);
    return { status, note: null };
  }

  /** False while the last webhook of that account was not answered with 2xx. */
  healthy(account: string): boolean {
    const status = this.#lastStatus.get(account);
    return status === undefined || (status >= 200 && status < 300);
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  #hold(held: Held): void {
    const { channel } = held.webhook;
    this.#held.set(channel, [...(this.#held.get(channel) ?? []), held]);
    this.#parts.background.later(this.#parts.settings.reorderHoldMs, () => this.#release(channel));
  }

  /** Sends what was held back, the newest first, so that the order is really turned round. */
  async #release(channel: SandboxChannel): Promise<void> {
    const held = this.#held.get(channel) ?? [];
    this.#held.delete(channel);
    for (const { webhook, copies } of held.toReversed()) await this.#sendCopies(webhook, copies);
  }

  async #sendCopies(webhook: Webhook, copies: number): Promise<number> {
    const sends = Array.from({ length: copies }, () => this.#send(webhook, webhook.original));
    const [status = 0] = await Promise.all(sends);
    return status;
  }

  async #send(webhook: Webhook, request: SignedRequest): Promise<number> {
    return webhook.provider === 'meta'
      ? this.#sendAsMeta(webhook, request, 0)
      : this.#sendAsTwilio(webhook, request);
  }

  /** Meta repeats whatever is not answered 200, with the same bytes, after growing delays. */
  async #sendAsMeta(webhook: Webhook, request: SignedRequest, earlier: number): Promise<number> {
    const { settings, background } = this.#parts;
    const attempt = await this.#client.post(webhook.url, request, settings.metaTimeoutMs);
    this.#note(webhook, request, attempt, earlier + 1);
    const delayMs = settings.metaRetryDelaysMs[earlier];
    if (attempt.status !== 200 && delayMs !== undefined) {
      background.later(delayMs, async () => {
        await this.#sendAsMeta(webhook, request, earlier + 1);
      });
    }
    return attempt.status;
  }

  /** Twilio tries again only within its one budget, by default once and only without connection. */
  async #sendAsTwilio(webhook: Webhook, request: SignedRequest): Promise<number> {
    const retries = twilioRetries(webhook.url);
    const deadline = performance.now() + this.#parts.settings.twilioTimeoutMs;
    let status = 0;
    for (let earlier = 0; earlier <= retries.count; earlier += 1) {
      const leftMs = Math.ceil(deadline - performance.now());
      if (leftMs <= 0) break;
      const attempt = await this.#client.post(webhook.url, request, leftMs);
      this.#note(webhook, request, attempt, earlier + 1);
      status = attempt.status;
      if (!twilioRetriesAfter(attempt, retries.on)) break;
    }
    return status;
  }

  #note(webhook: Webhook, request: SignedRequest, attempt: Attempt, number: number): void {
    this.#lastStatus.set(webhook.account, attempt.status);
    webhook.onAttempt?.(attempt.status);
    const { channel, account, nature } = webhook;
    const { status, reason } = attempt;
    if (status >= 200 && status < 300) {
      const at = new Date(this.#parts.settings.now()).toISOString();
      this.#parts.deliveries.record({ at, channel, account, nature }, request.body);
    }
    const event = { channel, account, nature, attempt: number, status, reason };
    this.#parts.events.publish({ type: 'webhook', ...event });
  }
}
