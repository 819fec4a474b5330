import { run, statement, type Executor } from './database';
import { iso } from './queries/staff-reading';

/** A lead as the customer's own CRM gets it (P6). Personal data: it goes there and nowhere else. */
export interface Contact {
  readonly leadId: string;
  readonly conversationId: string;
  readonly businessId: string;
  readonly channel: string;
  readonly name: string | null;
  readonly addresses: readonly {
    readonly kind: string;
    readonly value: string;
    readonly optedOut: boolean;
  }[];
  readonly firstSeenAt: string;
  /** When this was read: of two records of one lead, the later one is newer. */
  readonly readAt: string;
}

const readContactStatement = statement<Contact>(
  'read-contact',
  `select l.id as "leadId", c.id as "conversationId", c.business_id as "businessId", c.channel,
     l.display_name as name, ${iso('l.created_at')} as "firstSeenAt",
     ${iso('coalesce($2::timestamptz, clock_timestamp())')} as "readAt",
     coalesce((select jsonb_agg(jsonb_build_object('kind', a.kind, 'value', a.value,
         'optedOut', a.opted_out_at is not null) order by a.id)
       from addresses a where a.lead_id = l.id), '[]') as addresses
   from conversations c join leads l on l.id = c.lead_id where c.id = $1`,
);

/** Reads the contact behind a conversation; null where there is none any more. */
export async function readContact(
  executor: Executor,
  conversationId: string,
  now: string | null,
): Promise<Contact | null> {
  const [row] = await run(executor, readContactStatement, [conversationId, now]);
  return row ?? null;
}
