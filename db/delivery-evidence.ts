import type { PoolClient } from 'pg';
import { stopSends } from './cancellation';
import type { LockedConversation } from './conversations';
import { run, statement } from './database';
import { moveSettlement } from './debt';
import { queueFallback } from './fallback';
import type { ProviderMessage } from './provider-messages';
import { openWorkItem, resolveWorkItemOfSend } from './work-items';

const markDelivered = statement(
  'mark-delivered',
  `update outbox set state = 'delivered' where id = $1 and state = 'accepted'`,
);

const markFailed = statement<{ id: string }>(
  'mark-failed',
  `update outbox set state = 'failed', end_reason = $2
   where id = $1 and state in ('accepted', 'delivered', 'delivery_unknown') returning id`,
);

/**
 * Applies what a provider says of an accepted message (INV-16): delivered moves the send up; a
 * late failure opens a work item with the provider's code, the debt settles to it, and the plan of
 * follow-ups stops. Nothing is sent again, except once by the fallback that the policy names (T3).
 */
export async function applyDeliveryStatus(
  client: PoolClient,
  conversation: LockedConversation,
  report: Pick<ProviderMessage, 'status' | 'errorCode'> & {
    readonly sendId: string;
    readonly at: string;
  },
): Promise<void> {
  const { sendId, at } = report;
  if (report.status === 'delivered' || report.status === 'read') {
    await run(client, markDelivered, [sendId]);
    await showVisible(client, sendId, at);
    return;
  }
  if (report.status !== 'failed') return;
  const reason = report.errorCode ?? 'unknown_code';
  const [failed] = await run(client, markFailed, [sendId, reason]);
  if (failed === undefined) return;
  const item = await openWorkItem(client, {
    businessId: conversation.businessId,
    conversationId: conversation.id,
    kind: 'delivery-failed',
    reason,
    explanation: `The provider accepted this message and later reported that it failed (code ${reason}).`,
    sendId,
    at,
  });
  await moveSettlement(client, conversation.id, sendId, {
    kind: 'work-item',
    ref: item.id,
    reason: 'delivery_failed',
    at,
  });
  await resolveWorkItemOfSend(client, sendId, {
    kind: 'delivery-unknown',
    at,
    by: 'conversation-router',
    resolution: 'provider_reported_failure',
  });
  // Who did not get this would not get the next one either.
  await stopSends(client, {
    conversationId: conversation.id,
    scope: 'follow-ups',
    reason: 'delivery_failed',
    at,
  });
  await queueFallback(client, conversation, { sendId, at });
}

const setVisible = statement(
  'set-visible',
  `update transport_traces set visible_at = $2 where send_id = $1 and visible_at is null`,
);

/** Stamps t5, where the channel shows that the lead can see the message (L1). */
export async function showVisible(client: PoolClient, sendId: string, at: string): Promise<void> {
  await run(client, setVisible, [sendId, at]);
}
