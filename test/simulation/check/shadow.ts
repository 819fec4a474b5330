import type { DeliveryStatus } from '../../../domain/delivery-status';

/**
 * What the checks remember from step to step, apart from the facts: an observer of its own, so
 * that a mistake of the rules cannot hide itself.
 */
export interface Shadow {
  /** How many attempts and acceptances were judged already. */
  attemptsSeen: number;
  acceptedSeen: number;
  readonly conversations: ShadowConversation[];
  /** The last status of each message of a provider. */
  readonly statuses: Record<string, DeliveryStatus>;
}

export interface ShadowConversation {
  lastToken: number;
  version: number;
  oldestOwedAtMs: number | null;
  owedSince: number | null;
  messages: number;
}

export function makeShadow(conversations: number): Shadow {
  return {
    attemptsSeen: 0,
    acceptedSeen: 0,
    statuses: {},
    conversations: Array.from({ length: conversations }, () => ({
      lastToken: 0,
      version: 1,
      oldestOwedAtMs: null,
      owedSince: null,
      messages: 0,
    })),
  };
}
