import type { Pool } from 'pg';
import type { Reach } from '../../config/failpoints';
import { refreshAgenda } from '../agenda';
import { readClock } from '../conversations';
import { inTransaction } from '../database';
import type { WakeTarget } from '../due';
import { openConversations } from './homes';
import { storeReceipts, type NewElement } from './receipts';
import type { IngestRequest, IngestResult } from './request';
import { applyOutside } from './statuses';
import { applyThread } from './thread';

/**
 * Stores one authentic request: raw bytes, receipts, conversations, messages, debts, states,
 * cancellations and jobs in one transaction (T1, IN2, S2). Nothing is answered before it commits;
 * a repeat of the same request changes nothing. Throws `StatementError` or `CommitUnknownError`,
 * and then the caller answers 503.
 */
export async function ingest(
  pool: Pool,
  request: IngestRequest,
  now: string | null,
  reach?: Reach,
): Promise<IngestResult> {
  return inTransaction(pool, async (client) => {
    const receipts = await storeReceipts(client, request, now);
    await reach?.('ingest:receipts', request.raw.id);
    const homes = await openConversations(client, receipts.fresh, now);
    const instant = await readClock(client, now);
    const touched = new Map<string, WakeTarget>();
    for (const home of homes) {
      const effect = await applyThread(client, home, request.ingress, instant);
      // A debt sets its own due time; any other change asks the agenda.
      if (effect === 'changed') await refreshAgenda(client, home.conversation.id, now);
      if (effect !== 'nothing') touched.set(home.conversation.id, home.conversation);
    }
    for (const element of outsideThreads(receipts.fresh)) {
      const changed = await applyOutside(client, element, now, instant.now);
      if (changed === null) continue;
      await refreshAgenda(client, changed.id, now);
      touched.set(changed.id, changed);
    }
    await reach?.('ingest:written', request.raw.id);
    return {
      stored: receipts.fresh.length,
      duplicates: receipts.duplicates,
      quarantined: receipts.quarantined,
      conflicts: receipts.conflicts,
      wake: [...touched.values()],
    };
  });
}

/** Statuses and our own echoes, in the order of the request. */
function outsideThreads(elements: readonly NewElement[]): readonly NewElement[] {
  return elements.filter(
    ({ prepared: { element } }) =>
      element.type === 'status' || (element.type === 'echo' && element.author === 'ours'),
  );
}
