import type { Channel } from '../domain/inbound';
import { runOne, statement, type Executor } from './database';

/** What is known of where a lead is. Personal data: it goes into look-ups and nowhere else. */
export interface RecipientFacts {
  readonly channel: Channel;
  readonly businessTimeZone: string;
  /** As the lead wrote it. */
  readonly location: string | null;
  readonly phones: readonly string[];
}

const readFacts = statement<RecipientFacts>(
  'read-recipient',
  `select c.channel, b.time_zone as "businessTimeZone",
     (select x.understanding ->> 'location' from conversations x
      where x.lead_id = c.lead_id and x.understanding ->> 'location' is not null
      order by x.id = c.id desc, x.touched_at desc limit 1) as location,
     coalesce((select jsonb_agg(a.value order by a.created_at, a.id) from addresses a
      where a.lead_id = c.lead_id and a.kind = 'phone'), '[]') as phones
   from conversations c join businesses b on b.id = c.business_id where c.id = $1`,
);

/** Reads where a conversation's lead may be: what they wrote on any channel, and their numbers. */
export function readRecipient(executor: Executor, conversationId: string): Promise<RecipientFacts> {
  return runOne(executor, readFacts, [conversationId]);
}
