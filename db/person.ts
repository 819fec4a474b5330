import type { PoolClient } from 'pg';
import {
  applyStateEvent,
  lockConversation,
  type LockedConversation,
  type StateCause,
} from './conversations';
import { run, statement } from './database';

const lockOthers = statement<{ id: string }>(
  'lock-conversations-of-person',
  `select id from conversations where lead_id = $1 and id <> $2 order by id for update`,
);

/** Locks the person's conversations on other channels; their gates wait or have passed. */
export async function lockOtherConversations(
  client: PoolClient,
  conversation: LockedConversation,
): Promise<readonly string[]> {
  const rows = await run(client, lockOthers, [conversation.leadId, conversation.id]);
  return rows.map((row) => row.id);
}

const isOptedOut = statement<{ id: string }>(
  'find-opted-out-address',
  `select id from addresses where lead_id = $1 and opted_out_at is not null limit 1`,
);

const optInAddresses = statement(
  'opt-in-addresses',
  `update addresses set opted_out_at = null where lead_id = $1`,
);

/**
 * Lets messages leave again because the lead says so (S1, S6): on every address of the person, and
 * in each conversation that had opted out, whichever of them the consent came through. Null where
 * the person had not opted out.
 */
export async function optIn(
  client: PoolClient,
  conversation: LockedConversation,
  cause: StateCause,
): Promise<LockedConversation | null> {
  const [optedOut] = await run(client, isOptedOut, [conversation.leadId]);
  if (optedOut === undefined && conversation.state !== 'opted_out') return null;
  for (const id of await lockOtherConversations(client, conversation)) {
    const other = await lockConversation(client, id, cause.at);
    if (other?.conversation.state !== 'opted_out') continue;
    await applyStateEvent(client, other.conversation, 'opt-in', cause);
  }
  await run(client, optInAddresses, [conversation.leadId]);
  if (conversation.state !== 'opted_out') return conversation;
  return applyStateEvent(client, conversation, 'opt-in', cause);
}
