import type { PoolClient } from 'pg';
import { run, statement } from '../database';
import { ROW_COLUMNS, type ConversationRow } from './conversation-list';
import { iso } from './staff-reading';

export interface ConversationDetailRow extends ConversationRow {
  readonly now: string;
  readonly rememberedState: ConversationRow['state'] | null;
  readonly episode: number;
  /** The newest message, whoever wrote it: what a person who looks now has seen (T6). */
  readonly newestSeq: number;
  readonly phone: string | null;
  readonly business: { readonly name: string; readonly timeZone: string };
  readonly account: { readonly externalId: string; readonly pausedReason: string | null };
}

const detailStatement = statement<ConversationDetailRow>(
  'read-conversation',
  `select ${ROW_COLUMNS}, ${iso('clock_timestamp()')} as now,
     c.remembered_state as "rememberedState", c.episode, c.last_seq as "newestSeq",
     (select d.value from addresses d where d.lead_id = c.lead_id and d.kind = 'phone'
      order by d.created_at limit 1) as phone,
     jsonb_build_object('name', b.name, 'timeZone', b.time_zone) as business,
     jsonb_build_object('externalId', k.external_id, 'pausedReason', k.paused_reason) as account
   from conversations c join leads l on l.id = c.lead_id join addresses a on a.id = c.address_id
   join businesses b on b.id = c.business_id join accounts k on k.id = c.account_id
   where c.id = $1 and c.business_id = $2`,
);

/** One conversation with what its header shows. Null where the business has no such one. */
export async function readConversation(
  client: PoolClient,
  businessId: string,
  conversationId: string,
): Promise<ConversationDetailRow | null> {
  const [row] = await run(client, detailStatement, [conversationId, businessId]);
  return row ?? null;
}
