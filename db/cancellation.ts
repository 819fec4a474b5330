import type { PoolClient } from 'pg';
import { refreshAgenda } from './agenda';
import type { LockedConversation } from './conversations';
import { run, statement } from './database';
import { lockOtherConversations } from './person';

/** Which open sends a stop reaches. */
export type CancelScope =
  /** A lead's reply or a booking: what the business started. */
  | 'follow-ups'
  /** A takeover or a handover: everything that nobody staffed. */
  | 'automatic'
  /** An opt-out: everything, a person's message too. */
  | 'everything';

const PURPOSES: Record<CancelScope, readonly string[]> = {
  'follow-ups': ['follow-up'],
  automatic: ['answer', 'follow-up', 'booking-confirmation'],
  everything: ['answer', 'follow-up', 'booking-confirmation', 'staff'],
};

const cancelSends = statement<{ id: string }>(
  'cancel-sends',
  `update outbox set state = 'cancelled', end_reason = $3, ended_at = $4,
     lease_owner = null, lease_until = null
   where conversation_id = $1 and purpose = any($2)
     and (state = 'queued' or (state = 'leased' and lease_until <= $4))
   returning id`,
);

const requestStop = statement<{ id: string }>(
  'request-stop',
  `update outbox set stop_requested_at = $4, stop_cause = $3
   where conversation_id = $1 and purpose = any($2)
     and state in ('leased', 'sending') and stop_requested_at is null
   returning id`,
);

const stopPlan = statement(
  'stop-follow-up-plan',
  `update follow_up_plans set stopped_at = $2, stop_reason = $3
   where conversation_id = $1 and stopped_at is null`,
);

export interface Stop {
  readonly conversationId: string;
  readonly scope: CancelScope;
  /** A controlled word that the timeline puts into plain language. */
  readonly reason: string;
  readonly at: string;
}

/**
 * Cancels what has not left and marks what is in flight (S2, S3), in the transaction of the event
 * that stops. A row with a live lease is only marked: its worker meets the gate, which refuses.
 */
export async function stopSends(client: PoolClient, stop: Stop): Promise<readonly string[]> {
  const values = [stop.conversationId, PURPOSES[stop.scope], stop.reason, stop.at];
  const [cancelled] = await Promise.all([
    run(client, cancelSends, values),
    run(client, requestStop, values),
    run(client, stopPlan, [stop.conversationId, stop.at, stop.reason]),
  ]);
  return cancelled.map((row) => row.id);
}

/**
 * Stops the follow-ups of the same person on every other channel of the business (S6): whoever
 * talks to a person, or has booked, on one channel is not to be reminded on another. The caller
 * stops those of the conversation itself, whose lock it holds.
 */
export async function stopPlansOfPerson(
  client: PoolClient,
  conversation: LockedConversation,
  { reason, at }: { readonly reason: string; readonly at: string },
): Promise<void> {
  for (const id of await lockOtherConversations(client, conversation)) {
    await stopSends(client, { conversationId: id, scope: 'follow-ups', reason, at });
    await refreshAgenda(client, id, at);
  }
}
