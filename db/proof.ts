import type { PoolClient } from 'pg';
import type { LockedConversation } from './conversations';
import { run, statement } from './database';
import { fileAcceptance, type Acceptance } from './record';

const findUnknown = statement<{ id: string }>(
  'find-unknown-send',
  `select id from outbox where id = $1 and attempt_id = $2 and state = 'delivery_unknown'`,
);

/**
 * A late status, echo or read-back proves that an unknown attempt was accepted (C6): the send is
 * recorded, its messages move from the review item to the reply, and the item closes. Returns
 * false where nothing was unknown.
 */
export async function proveAcceptance(
  client: PoolClient,
  conversation: LockedConversation,
  acceptance: Acceptance,
): Promise<boolean> {
  const [unknown] = await run(client, findUnknown, [acceptance.sendId, acceptance.attemptId]);
  if (unknown === undefined) return false;
  await fileAcceptance(client, conversation, acceptance);
  return true;
}
