import type { SandboxChannel } from './channels';
import type { EventHub } from './events';

/** Faults of a send call: at most one of them meets one call. */
export const CALL_FAULTS = [
  'timeout-before-accept',
  'timeout-after-accept',
  'hang',
  'error-500',
  'error-500-after-accept',
  'success-with-inner-error',
  'rate-limit',
  'auth-expired',
] as const;
export type CallFault = (typeof CALL_FAULTS)[number];

/** Faults of one webhook on its way to the app. */
export const WEBHOOK_FAULTS = [
  'webhook-lost',
  'webhook-duplicate',
  'webhook-reordered',
  'webhook-altered',
] as const;

/** All faults. The last three of the list join a send that is accepted, or a read-back. */
export const FAULTS = [
  ...CALL_FAULTS,
  ...WEBHOOK_FAULTS,
  'accepted-then-failed',
  'status-before-response',
  'readback-lag',
] as const;
export type FaultName = (typeof FAULTS)[number];

export const WEBHOOK_NATURES = ['inbound', 'echo', 'status'] as const;
export type WebhookNature = (typeof WEBHOOK_NATURES)[number];

export interface ArmedFault<Name extends FaultName = FaultName> {
  readonly channel: SandboxChannel;
  readonly fault: Name;
  /** How many more calls, reads or webhooks it meets. */
  readonly count: number;
  /** How long, where the fault has a length: waits, Retry-After, the lag of a read-back. */
  readonly ms?: number | undefined;
  /** The provider's error code, where the fault ends in one. */
  readonly code?: number | undefined;
  /** Webhook faults only: the nature of the webhooks they wait for (default: any). */
  readonly webhook?: WebhookNature | undefined;
}

/** Says whether `value` is a fault of this sandbox. */
export function isFaultName(value: unknown): value is FaultName {
  return FAULTS.some((fault) => fault === value);
}

/** What is armed, in the order of arming. */
export class FaultBoard {
  #armed: ArmedFault[] = [];
  readonly #events: EventHub;

  constructor(events: EventHub) {
    this.#events = events;
  }

  arm(fault: ArmedFault): void {
    this.#armed.push(fault);
    this.#events.publish({ type: 'faults' });
  }

  list(): readonly ArmedFault[] {
    return this.#armed;
  }

  /** Clears the faults of one channel, or all without one. */
  clear(channel: SandboxChannel | null): void {
    this.#armed = channel === null ? [] : this.#armed.filter((f) => f.channel !== channel);
    this.#events.publish({ type: 'faults' });
  }

  /** Takes one use of the first armed fault among `names`; null where none is armed. */
  take<Name extends FaultName>(
    channel: SandboxChannel,
    names: readonly Name[],
    nature?: WebhookNature,
  ): ArmedFault<Name> | null {
    if (this.#armed.length === 0) return null;
    for (const [index, armed] of this.#armed.entries()) {
      const name = names.find((candidate) => candidate === armed.fault);
      const waitsForOther = armed.webhook !== undefined && armed.webhook !== nature;
      if (name === undefined || armed.channel !== channel || waitsForOther) continue;
      const left = armed.count - 1;
      if (left > 0) this.#armed[index] = { ...armed, count: left };
      else this.#armed.splice(index, 1);
      this.#events.publish({ type: 'faults' });
      return { ...armed, fault: name };
    }
    return null;
  }
}
