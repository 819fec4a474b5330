import type { PoolClient } from 'pg';
import type { LeadAddress } from '../../domain/inbound';
import { CONVERSATION_COLUMNS, type LockedConversation } from '../conversations';
import { run, statement } from '../database';
import { newId } from '../new-id';
import type { NewElement } from './receipts';

/** A lead as one request names it: addresses on one account, and how many messages come from it. */
interface Sender {
  readonly index: number;
  readonly accountId: string;
  readonly businessId: string;
  readonly channel: string;
  readonly addresses: readonly LeadAddress[];
  readonly displayName: string | null;
  readonly elements: NewElement[];
}

/** A conversation, locked, with the new elements that belong to it. */
export interface Home {
  readonly conversation: LockedConversation;
  /** True where this request made the conversation. */
  readonly created: boolean;
  readonly elements: readonly NewElement[];
}

const insertAddresses = statement(
  'insert-addresses',
  `with wanted as (
     select * from jsonb_to_recordset($1::jsonb) as w(sender int, rank int, id text,
       business_id text, lead_id text, kind text, value text, name text)),
   known as (
     select distinct on (w.sender) w.sender, a.lead_id
     from wanted w join addresses a using (business_id, kind, value)
     order by w.sender, w.rank),
   added as (
     insert into addresses (id, business_id, lead_id, kind, value, created_at, opted_out_at)
     select w.id, w.business_id, coalesce(k.lead_id, w.lead_id), w.kind, w.value,
       coalesce($2::timestamptz, clock_timestamp()),
       (select min(a.opted_out_at) from addresses a where a.lead_id = k.lead_id)
     from wanted w left join known k using (sender)
     order by w.business_id, w.kind, w.value
     on conflict (business_id, kind, value) do nothing
     returning lead_id, business_id)
   insert into leads (id, business_id, display_name, created_at)
   select distinct on (a.lead_id) a.lead_id, a.business_id, w.name,
     coalesce($2::timestamptz, clock_timestamp())
   from added a join wanted w on w.lead_id = a.lead_id
   on conflict (id) do nothing`,
);

/**
 * A concurrent request, or another sender of this one, may have given one of the person's addresses
 * to another lead after our snapshot: the addresses that this transaction added then follow it, the
 * preferred address first, so that one person stays one lead and keeps the opt-out.
 */
const joinKnownLead = statement(
  'join-known-lead',
  `with wanted as (
     select * from jsonb_to_recordset($1::jsonb) as w(sender int, rank int, id text,
       business_id text, lead_id text, kind text, value text)),
   known as (
     select distinct on (w.sender) w.sender, a.lead_id
     from wanted w join addresses a using (business_id, kind, value)
     where a.id <> w.id order by w.sender, w.rank)
   update addresses a set lead_id = k.lead_id,
     opted_out_at = (select min(x.opted_out_at) from addresses x where x.lead_id = k.lead_id)
   from wanted w join known k using (sender)
   where a.id = w.id and a.lead_id <> k.lead_id`,
);

const dropUnusedLeads = statement(
  'drop-unused-leads',
  `delete from leads l where l.id = any($1)
   and not exists (select from addresses a where a.lead_id = l.id)`,
);

/**
 * Leads before conversations, in a fixed order: what a lead writes reaches their conversations on
 * every channel (S6), and two channels at once would otherwise wait for each other.
 */
const lockLeads = statement(
  'lock-leads',
  `select from leads where id in (
     select a.lead_id from addresses a join jsonb_to_recordset($1::jsonb)
       as w(business_id text, kind text, value text) using (business_id, kind, value))
   order by id for no key update`,
);

interface HomeRow extends LockedConversation {
  readonly created: boolean;
  readonly senders: number[];
}

/**
 * Conversations by account and lead: made or locked in one statement, in a fixed order. The
 * upsert returns the row as it stands under the lock; the effects are computed from that.
 */
const openHomes = statement<HomeRow>(
  'open-homes',
  `with wanted as (
     select * from jsonb_to_recordset($1::jsonb) as w(sender int, id text, business_id text,
       account_id text, channel text, kind text, value text)),
   grouped as (
     select min(w.id) as id, w.business_id, w.account_id, w.channel, a.lead_id,
       min(a.id) as address_id, array_agg(w.sender order by w.sender) as senders
     from wanted w join addresses a using (business_id, kind, value)
     group by w.business_id, w.account_id, w.channel, a.lead_id),
   c as (
     insert into conversations (id, business_id, account_id, lead_id, address_id, channel, state,
       version, episode, owner, last_seq, last_inbound_seq, created_at, touched_at)
     select g.id, g.business_id, g.account_id, g.lead_id, g.address_id, g.channel, 'active', 1, 1,
       'automation', 0, 0, coalesce($2::timestamptz, clock_timestamp()),
       coalesce($2::timestamptz, clock_timestamp())
     from grouped g order by g.account_id, g.lead_id
     on conflict (account_id, lead_id) do update set touched_at = excluded.touched_at
     returning *)
   select ${CONVERSATION_COLUMNS}, g.id = c.id as created, g.senders
   from c join grouped g using (account_id, lead_id)`,
);

/**
 * The second step of an ingest: who wrote, and in which conversation. It takes the locks of leads
 * and conversations. Concurrent first messages of one lead meet in the unique keys and end in one
 * conversation (INV-4); each statement sees what the one before it waited for.
 */
export async function openConversations(
  client: PoolClient,
  elements: readonly NewElement[],
  now: string | null,
): Promise<readonly Home[]> {
  const senders = groupBySender(elements);
  if (senders.length === 0) return [];
  const addressRows = senders.flatMap(toAddressRows);
  const aliased = senders.some((sender) => sender.addresses.length > 1);
  const homeRows = senders.map(toHomeRow);
  const settled = [run(client, insertAddresses, [JSON.stringify(addressRows), now])];
  if (aliased) {
    settled.push(run(client, joinKnownLead, [JSON.stringify(addressRows)]));
    settled.push(run(client, dropUnusedLeads, [addressRows.map((row) => row.lead_id)]));
  }
  settled.push(run(client, lockLeads, [JSON.stringify(homeRows)]));
  const opened = run(client, openHomes, [JSON.stringify(homeRows), now]);
  await Promise.all([...settled, opened]);
  const rows = await opened;
  const placed = rows.reduce((sum, row) => sum + row.senders.length, 0);
  if (placed !== senders.length) {
    throw new Error(`${placed} of ${senders.length} senders found their conversation`);
  }
  return rows.map(({ created, senders: indexes, ...conversation }) => ({
    conversation,
    created,
    elements: indexes.flatMap((index) => senders[index]?.elements ?? []),
  }));
}

/** The lead's side of an element that belongs to a thread; null for what stands outside threads. */
function leadOf({ prepared: { element } }: NewElement): readonly LeadAddress[] | null {
  switch (element.type) {
    case 'message':
    case 'edit':
    case 'delete':
      return element.from;
    case 'echo':
      return element.author === 'ours' ? null : element.to;
    case 'note':
      return element.history?.lead ?? null;
    case 'status':
    case 'quarantined':
      return null;
  }
}

function groupBySender(elements: readonly NewElement[]): Sender[] {
  const senders = new Map<string, Sender>();
  for (const item of elements) {
    const addresses = leadOf(item);
    if (item.account === null || addresses === null || addresses[0] === undefined) continue;
    const key = JSON.stringify([item.account.id, addresses]);
    const { element } = item.prepared;
    const known = senders.get(key);
    if (known !== undefined) {
      known.elements.push(item);
      continue;
    }
    senders.set(key, {
      index: senders.size,
      accountId: item.account.id,
      businessId: item.account.businessId,
      channel: item.account.channel,
      addresses,
      displayName: element.type === 'message' ? element.profileName : null,
      elements: [item],
    });
  }
  return [...senders.values()];
}

function toAddressRows(sender: Sender) {
  const leadId = newId('led');
  return sender.addresses.map((address, rank) => ({
    sender: sender.index,
    rank,
    id: newId('adr'),
    business_id: sender.businessId,
    lead_id: leadId,
    kind: address.kind,
    value: address.value,
    name: sender.displayName,
  }));
}

function toHomeRow(sender: Sender) {
  const [primary] = sender.addresses;
  return {
    sender: sender.index,
    id: newId('cnv'),
    business_id: sender.businessId,
    account_id: sender.accountId,
    channel: sender.channel,
    kind: primary?.kind,
    value: primary?.value,
  };
}
