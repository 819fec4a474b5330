import type { PoolClient } from 'pg';
import type { Channel } from '../../domain/inbound';
import { run, statement } from '../database';
import type { WorkItemKind } from '../../domain/work-items';
import { iso, type PageMark } from './staff-reading';

export interface WorkItemRow {
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
  readonly escalateAt: string;
  /** When it is told again; null once somebody acted. */
  readonly nextEscalationAt: string | null;
  readonly level: number;
  readonly claimedAt: string | null;
  readonly claimedBy: string | null;
  readonly resolvedAt: string | null;
  readonly resolvedBy: string | null;
  readonly resolution: string | null;
}

export interface WorkItemFilter {
  readonly queue: string | null;
  readonly kind: WorkItemKind | null;
  readonly resolved: boolean;
}

const listStatement = statement<WorkItemRow>(
  'list-work-items',
  `select w.id, w.kind, w.reason, w.explanation, w.conversation_id as "conversationId", c.channel,
     l.display_name as "leadName", w.send_id as "sendId", w.assigned_queue as queue,
     w.newest_seq as "newestSeq", ${iso('w.opened_at')} as "openedAt",
     ${iso('w.escalate_at')} as "escalateAt", ${iso('w.next_escalation_at')} as "nextEscalationAt",
     w.level, ${iso('w.claimed_at')} as "claimedAt", w.claimed_by as "claimedBy",
     ${iso('w.resolved_at')} as "resolvedAt", w.resolved_by as "resolvedBy", w.resolution
   from work_items w left join conversations c on c.id = w.conversation_id
   left join leads l on l.id = c.lead_id
   where w.business_id = $1 and (w.resolved_at is not null) = $5
     and ($6::text is null or w.assigned_queue = $6) and ($7::text is null or w.kind = $7)
     and ($2::timestamptz is null or (w.opened_at, w.id) > ($2::timestamptz, $3))
   order by w.opened_at, w.id limit $4`,
);

/**
 * A business's work items, the longest waiting first; one row more than the limit. Items that
 * belong to no business are the operators' and never shown here.
 */
export function listWorkItems(
  client: PoolClient,
  businessId: string,
  filter: WorkItemFilter & { readonly after: PageMark | null; readonly limit: number },
): Promise<WorkItemRow[]> {
  return run(client, listStatement, [
    businessId,
    filter.after?.at ?? null,
    filter.after?.id ?? null,
    filter.limit + 1,
    filter.resolved,
    filter.queue,
    filter.kind,
  ]);
}
