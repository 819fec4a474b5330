import type { PoolClient } from 'pg';
import type { Channel } from '../../domain/inbound';
import { run, statement } from '../database';
import type { WorkItemKind } from '../../domain/work-items';
import { iso, type PageMark } from './staff-reading';

export interface OpenWorkItemRow {
  readonly id: string;
  readonly kind: WorkItemKind;
  readonly reason: string;
  readonly explanation: string;
  readonly conversationId: string | null;
  readonly channel: Channel | null;
  readonly leadName: string | null;
  readonly sendId: string | null;
  readonly queue: string;
  readonly newestSeq: number | null;
  readonly openedAt: string;
  readonly escalateAt: string | null;
}

const listOpen = statement<OpenWorkItemRow>(
  'list-open-work-items',
  `select w.id, w.kind, w.reason, w.explanation, w.conversation_id as "conversationId", c.channel,
     l.display_name as "leadName", w.send_id as "sendId", w.assigned_queue as queue,
     w.newest_seq as "newestSeq", ${iso('w.opened_at')} as "openedAt",
     ${iso('w.escalate_at')} as "escalateAt"
   from work_items w left join conversations c on c.id = w.conversation_id
   left join leads l on l.id = c.lead_id
   where w.business_id = $1 and w.resolved_at is null
     and ($2::timestamptz is null or (w.opened_at, w.id) > ($2::timestamptz, $3))
   order by w.opened_at, w.id limit $4`,
);

/**
 * A business's open work items, the longest waiting first; one row more than the limit. Items that
 * belong to no business are the operators' and never shown here.
 */
export function listOpenWorkItems(
  client: PoolClient,
  businessId: string,
  page: { readonly after: PageMark | null; readonly limit: number },
): Promise<OpenWorkItemRow[]> {
  return run(client, listOpen, [
    businessId,
    page.after?.at ?? null,
    page.after?.id ?? null,
    page.limit + 1,
  ]);
}
