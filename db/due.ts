import type { Pool } from 'pg';
import { run, statement } from './database';

/** A conversation to wake, with what its run shows in the Web UI if it has to be started. */
export interface WakeTarget {
  readonly id: string;
  readonly businessId: string;
  readonly channel: string;
  readonly state: string;
  readonly owner: string;
}

/**
 * Takes conversations more than 2 s overdue, answers under an hour old first, at most a few per
 * business, and marks them so that a second relay passes over them (design.md, `next_due_at`).
 */
const takeOverdue = statement<WakeTarget>(
  'take-overdue-conversations',
  `with n as (select coalesce($1::timestamptz, clock_timestamp()) as now),
   overdue as (
     select c.id, c.business_id, c.next_due_at,
       (c.owed_since is not null and c.overdue_from > n.now - interval '1 hour') as fresh_answer
     from conversations c, n
     where c.next_due_at <= n.now - interval '2 seconds'
       and (c.relay_at is null or c.relay_at <= n.now)
     order by 4 desc, c.next_due_at limit 1000),
   ranked as (
     select id, fresh_answer, next_due_at,
       row_number() over (partition by business_id order by fresh_answer desc, next_due_at) as place
     from overdue),
   chosen as (
     -- Looked at again in the locked row: another relay may have taken it since the snapshot.
     select c.id from n, conversations c join ranked r using (id)
     where r.place <= $3 and c.next_due_at <= n.now - interval '2 seconds'
       and (c.relay_at is null or c.relay_at <= n.now)
     order by r.fresh_answer desc, r.next_due_at limit $2
     for update of c skip locked)
   update conversations c set relay_at = n.now + interval '5 seconds'
   from chosen, n where c.id = chosen.id
   returning c.id, c.business_id as "businessId", c.channel, c.state, c.owner`,
);

/** Takes at most `limit` overdue conversations, at most `perBusiness` of one business. */
export function takeOverdueConversations(
  pool: Pool,
  options: { readonly limit: number; readonly perBusiness: number; readonly now: string | null },
): Promise<WakeTarget[]> {
  return run(pool, takeOverdue, [options.now, options.limit, options.perBusiness]);
}

const noteAccepted = statement(
  'note-accepted-wake',
  `update conversations c set relay_count = relay_count + 1,
     relay_at = coalesce($2::timestamptz, clock_timestamp()) + (array[
       interval '10 seconds', interval '60 seconds', interval '10 minutes'
     ])[least(relay_count, 2) + 1]
   where id = $1 and relay_at is not null`,
);

/** Temporal accepted the wake-up: the next one follows after 10 s, 60 s, then every 10 min. */
export async function noteAcceptedWake(
  pool: Pool,
  conversationId: string,
  now: string | null,
): Promise<void> {
  await run(pool, noteAccepted, [conversationId, now]);
}

const noteRefused = statement(
  'note-refused-wake',
  `update conversations set relay_at = null where id = $1`,
);

/** Temporal refused the wake-up: it is tried again at the next tick. */
export async function noteRefusedWake(pool: Pool, conversationId: string): Promise<void> {
  await run(pool, noteRefused, [conversationId]);
}
