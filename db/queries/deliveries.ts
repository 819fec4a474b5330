import type { PoolClient } from 'pg';
import type { Channel } from '../../domain/inbound';
import type { Purpose, SendState } from '../../domain/sending';
import { run, statement } from '../database';
import { iso, type PageMark } from './staff-reading';

export interface DeliveryRow {
  readonly id: string;
  readonly conversationId: string;
  readonly channel: Channel;
  readonly leadName: string | null;
  readonly purpose: Purpose;
  readonly state: SendState;
  readonly text: string;
  readonly reason: string | null;
  readonly attempts: number;
  readonly attemptedAt: string | null;
  readonly createdAt: string;
  /** The open work item that asks a person about it. */
  readonly workItemId: string | null;
}

const listByState = statement<DeliveryRow>(
  'list-deliveries',
  `select o.id, o.conversation_id as "conversationId", o.channel, l.display_name as "leadName",
     o.purpose, o.state, o.body as text, o.end_reason as reason, o.attempts,
     ${iso('o.attempted_at')} as "attemptedAt", ${iso('o.created_at')} as "createdAt",
     (select w.id from work_items w where w.send_id = o.id and w.resolved_at is null
      order by w.opened_at limit 1) as "workItemId"
   from outbox o join conversations c on c.id = o.conversation_id
   join leads l on l.id = c.lead_id
   where o.business_id = $1 and o.state = $2
     and ($3::timestamptz is null or (o.created_at, o.id) < ($3::timestamptz, $4))
   order by o.created_at desc, o.id desc limit $5`,
);

/** A business's sends in one state, the newest first; one row more than the limit. */
export function listDeliveries(
  client: PoolClient,
  businessId: string,
  page: { readonly state: SendState; readonly before: PageMark | null; readonly limit: number },
): Promise<DeliveryRow[]> {
  return run(client, listByState, [
    businessId,
    page.state,
    page.before?.at ?? null,
    page.before?.id ?? null,
    page.limit + 1,
  ]);
}
