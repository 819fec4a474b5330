import type { PoolClient } from 'pg';
import type { ConversationState } from '../../domain/conversation-state';
import type { Channel } from '../../domain/inbound';
import type { MessageFact } from '../../domain/timeline-facts';
import { run, runOne, statement } from '../database';
import { iso, type PageMark } from './staff-reading';

export interface ConversationFilter {
  readonly state: string | null;
  readonly channel: string | null;
  readonly owner: string | null;
  readonly owed: boolean | null;
  /** True where an open work item waits for a person. */
  readonly needsPerson: boolean | null;
  /** A part of the lead's name or phone number, or a whole conversation id. */
  readonly search: string | null;
  readonly before: PageMark | null;
  readonly limit: number;
}

export interface ConversationRow {
  readonly id: string;
  readonly channel: Channel;
  readonly state: ConversationState;
  readonly owner: 'automation' | 'person';
  readonly version: number;
  readonly leadName: string | null;
  readonly addressKind: string;
  readonly addressValue: string;
  /** When the oldest unanswered message was written; null where nothing is owed. */
  readonly owedSince: string | null;
  readonly lastActivityAt: string;
  readonly openWorkItems: number;
  readonly last: LastMessageRow | null;
}

export interface LastMessageRow {
  readonly author: MessageFact['author'];
  /** At most the first 400 characters. */
  readonly text: string | null;
  readonly media: readonly string[];
  readonly deleted: boolean;
}

/** The columns of a list row, for statements over conversations `c`, leads `l`, addresses `a`. */
export const ROW_COLUMNS = `
  c.id, c.channel, c.state, c.owner, c.version, l.display_name as "leadName",
  a.kind as "addressKind", a.value as "addressValue",
  case when c.owed_since is not null then ${iso('c.oldest_owed_at')} end as "owedSince",
  ${iso('c.touched_at')} as "lastActivityAt",
  (select count(*) from work_items w where w.conversation_id = c.id and w.resolved_at is null)
    as "openWorkItems",
  (select jsonb_build_object('author', m.author, 'text', left(m.text, 400),
       'deleted', m.deleted_at is not null,
       'media', coalesce((select jsonb_agg(x ->> 'kind') from jsonb_array_elements(m.media) x), '[]'))
     from messages m where m.conversation_id = c.id order by m.seq desc limit 1) as last`;

const NEEDS_PERSON = `exists (select from work_items w
  where w.conversation_id = c.id and w.resolved_at is null)`;

const listStatement = statement<ConversationRow>(
  'list-conversations',
  `select ${ROW_COLUMNS}
   from conversations c join leads l on l.id = c.lead_id join addresses a on a.id = c.address_id
   where c.business_id = $1
     and ($2::text is null or c.state = $2) and ($3::text is null or c.channel = $3)
     and ($4::text is null or c.owner = $4)
     and ($5::boolean is null or (c.owed_since is not null) = $5)
     and ($6::boolean is null or ${NEEDS_PERSON} = $6)
     and ($7::text is null or l.display_name ilike $7 or c.id = $8
       or exists (select from addresses d
         where d.lead_id = c.lead_id and d.kind = 'phone' and d.value ilike $7))
     and ($9::timestamptz is null or (c.touched_at, c.id) < ($9::timestamptz, $10))
   order by c.touched_at desc, c.id desc limit $11`,
);

/** A page of a business's conversations, the newest activity first; one row more than the limit. */
export async function listConversations(
  client: PoolClient,
  businessId: string,
  filter: ConversationFilter,
): Promise<ConversationRow[]> {
  return run(client, listStatement, [
    businessId,
    filter.state,
    filter.channel,
    filter.owner,
    filter.owed,
    filter.needsPerson,
    filter.search === null ? null : `%${escapeLike(filter.search)}%`,
    filter.search,
    filter.before?.at ?? null,
    filter.before?.id ?? null,
    filter.limit + 1,
  ]);
}

function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, String.raw`\$&`);
}

export interface ConversationCounts {
  readonly now: string;
  readonly owed: number;
  readonly needsPerson: number;
}

const countStatement = statement<ConversationCounts>(
  'count-conversations',
  `select ${iso('clock_timestamp()')} as now,
     (select count(*) from conversations c where c.business_id = $1 and c.owed_since is not null)
       as owed,
     (select count(distinct w.conversation_id) from work_items w
      where w.business_id = $1 and w.resolved_at is null) as "needsPerson"`,
);

/** How many conversations owe an answer or wait for a person, and the instant of the counting. */
export function countConversations(
  client: PoolClient,
  businessId: string,
): Promise<ConversationCounts> {
  return runOne(client, countStatement, [businessId]);
}
