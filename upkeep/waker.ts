import type { Client } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { Reach } from '../config/failpoints';
import type { WakeTarget } from '../db/due';
import {
  businessKey,
  channelKey,
  CONVERSATION_WORKFLOW,
  conversationWorkflowId,
  CONVERSATIONS_QUEUE,
  escalatedKey,
  inboundReplySignal,
  ownerKey,
  staffActionSignal,
  stateKey,
  wakeSignal,
} from '../workflows/contract';

/** At most so many wake-ups are in flight; the relay repeats what is dropped (design.md). */
const IN_FLIGHT_MAX = 64;
const DEADLINE_MS = 1_000;

const SIGNALS = {
  inbound: inboundReplySignal,
  staff: staffActionSignal,
  relay: wakeSignal,
} as const;
export type WakeReason = keyof typeof SIGNALS;

/** The part of a log that the loops use. */
export interface UpkeepLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface Waker {
  /** Wakes in the background, best effort; never throws and never delays the caller. */
  wakeSoon(targets: readonly WakeTarget[], reason: WakeReason): void;
  /** Wakes and says whether Temporal accepted it. Never throws. */
  wake(target: WakeTarget, reason: WakeReason): Promise<boolean>;
  /** Resolves once nothing is in flight. */
  idle(): Promise<void>;
}

/**
 * Wakes conversations: one `signalWithStart` each, which starts the run if none is open. It carries
 * ids only, and a lost one is repeated from the committed facts (design.md 2).
 */
export function makeWaker(client: Client, log: UpkeepLog, reach?: Reach): Waker {
  const inFlight = new Set<Promise<boolean>>();
  const wake = async (target: WakeTarget, reason: WakeReason): Promise<boolean> => {
    try {
      await reach?.('wake:asked', target.id);
      await client.withDeadline(Date.now() + DEADLINE_MS, () =>
        signalConversation(client, target, reason),
      );
      await reach?.('wake:accepted', target.id);
      return true;
    } catch (error) {
      log.warn({ conversationId: target.id, error }, 'a wake-up was not accepted');
      return false;
    }
  };
  return {
    wake,
    wakeSoon: (targets, reason) => {
      for (const target of targets) {
        if (inFlight.size >= IN_FLIGHT_MAX) {
          log.warn({ conversationId: target.id }, 'a wake-up was left to the relay');
          continue;
        }
        const sent = wake(target, reason);
        inFlight.add(sent);
        void sent.finally(() => inFlight.delete(sent));
      }
    },
    idle: async () => {
      await Promise.all(inFlight);
    },
  };
}

async function signalConversation(
  client: Client,
  target: WakeTarget,
  reason: WakeReason,
): Promise<void> {
  await client.workflow.signalWithStart(CONVERSATION_WORKFLOW, {
    workflowId: conversationWorkflowId(target.id),
    taskQueue: CONVERSATIONS_QUEUE,
    args: [{ conversationId: target.id }],
    signal: SIGNALS[reason],
    signalArgs: [],
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    // A killed worker's half-done task is given to another one soon (temporal.md 3.3).
    workflowTaskTimeout: '3s',
    staticSummary: `Conversation ${target.id} on ${target.channel}`,
    typedSearchAttributes: new TypedSearchAttributes([
      { key: businessKey, value: target.businessId },
      { key: channelKey, value: target.channel },
      { key: stateKey, value: target.state },
      { key: ownerKey, value: target.owner },
      { key: escalatedKey, value: false },
    ]),
  });
}
