import type { PoolClient } from 'pg';
import type { Purpose } from '../domain/sending';
import type { LockedConversation } from './conversations';
import { run, statement } from './database';
import { giveDraftToPerson } from './drafts';
import { afterRefusal, type Refused } from './gate';
import { endOpenSend } from './outbox';

const findExpired = statement<{ purpose: Purpose; awaitsApproval: boolean }>(
  'find-expired-send',
  `select purpose, awaiting_approval as "awaitsApproval" from outbox
   where id = $1 and expires_at <= $2
     and (state = 'queued' or (state = 'leased' and lease_until <= $2)) for update`,
);

/**
 * Ends a send whose time has passed (C3), in the caller's transaction and under the conversation's
 * lock: cancelled as expired, and where it was an owed answer or a draft that nobody approved, handed
 * to a person. Returns false where it has not expired, or a worker holds it.
 */
export async function expireSendOf(
  client: PoolClient,
  conversation: LockedConversation,
  expiring: Pick<Refused, 'sendId' | 'at' | 'handedOverBy'>,
): Promise<boolean> {
  const { sendId, at } = expiring;
  const [expired] = await run(client, findExpired, [sendId, at]);
  if (expired === undefined) return false;
  if (expired.awaitsApproval) {
    await giveDraftToPerson(client, conversation, { at, ...expiring.handedOverBy });
    return true;
  }
  await endOpenSend(client, sendId, { state: 'cancelled', reason: 'expired', at });
  await afterRefusal(client, conversation, {
    ...expiring,
    purpose: expired.purpose,
    reason: 'expired',
  });
  return true;
}
