import type { Check } from './check';

/** INV-1 to INV-5 and IN2: what came in is there once, whole, and from whom it says. */
export const INTAKE: readonly Check[] = [
  {
    invariant: 'INV-1',
    says: 'a stored body is the one that its digest names',
    sql: ({ since }) => `select id, null from raw_deliveries w
      where w.body is not null and ${since('w.received_at')}
        and (encode(sha256(w.body), 'hex') <> w.body_sha256
          or octet_length(w.body) <> w.body_bytes)`,
  },
  {
    invariant: 'INV-1',
    says: 'a body that retention emptied left its digest',
    sql: ({ since }) => `select id, null from raw_deliveries w
      where w.body is null and ${since('w.received_at')} and w.body_sha256 !~ '^[0-9a-f]{64}$'`,
  },
  {
    invariant: 'INV-2',
    says: 'one message of a provider is one row',
    sql: ({ among }) => `select min(m.id), min(m.business_id) from messages m
      where m.provider_message_id is not null and ${among('m.conversation_id')}
      group by m.account_id, m.provider_message_id having count(*) > 1`,
  },
  {
    invariant: 'INV-2',
    says: 'the key of a message is the digest of its id',
    sql: ({ among }) => `select m.id, m.business_id from messages m
      where m.provider_message_id is not null and ${among('m.conversation_id')}
        and m.provider_message_sha256 is distinct from
          encode(sha256(convert_to(m.provider_message_id, 'UTF8')), 'hex')`,
  },
  {
    invariant: 'INV-2',
    says: 'one receipt makes at most one message',
    sql: ({ among }) => `select m.receipt_id, min(m.business_id) from messages m
      where m.receipt_id is not null and ${among('m.conversation_id')}
      group by m.receipt_id having count(*) > 1`,
  },
  {
    invariant: 'INV-3',
    says: 'the elements of a request are its receipts and its duplicates',
    sql: ({ since }) => `select w.id, null from raw_deliveries w
      where ${since('w.received_at')} and w.element_count <>
        (select count(*) from webhook_receipts r where r.raw_id = w.id)
        + (select count(*) from receipt_duplicates d where d.raw_id = w.id)`,
  },
  {
    invariant: 'INV-3',
    says: 'a duplicate repeats a receipt that exists',
    sql: ({ since }) => `select d.receipt_id, null from receipt_duplicates d
      where ${since('d.received_at')} and not exists (
        select from webhook_receipts r where r.id = d.receipt_id)`,
  },
  {
    invariant: 'INV-4',
    says: 'a lead has one conversation per account',
    sql: ({ among }) => `select min(c.id), min(c.business_id) from conversations c
      where ${among('c.id')} group by c.account_id, c.lead_id having count(*) > 1`,
  },
  {
    invariant: 'INV-4',
    says: 'one address belongs to one lead',
    sql: ({ leads }) => `select a.id, a.business_id from addresses a
      join addresses b using (business_id, kind, value)
      where a.id <> b.id and ${leads('a.lead_id')}`,
  },
  {
    invariant: 'INV-4',
    says: 'a conversation is held with an address of its own lead',
    sql: ({ among }) => `select c.id, c.business_id from conversations c
      join addresses a on a.id = c.address_id
      where a.lead_id <> c.lead_id and ${among('c.id')}`,
  },
  {
    invariant: 'INV-4',
    says: 'every lead can be reached',
    sql: ({ leads }) => `select l.id, l.business_id from leads l
      where ${leads('l.id')} and not exists (
        select from addresses a where a.lead_id = l.id)`,
  },
  {
    invariant: 'INV-5',
    says: 'what a lead wrote came in an element of an authentic request',
    sql: ({ among }) => `select m.id, m.business_id from messages m
      where m.author = 'lead' and ${among('m.conversation_id')} and not exists (
        select from webhook_receipts r where r.id = m.receipt_id)`,
  },
  {
    invariant: 'INV-5',
    says: 'an element points at the authentic request that brought it',
    sql: ({ since }) => `select r.id, null from webhook_receipts r
      where ${since('r.received_at')} and not exists (
        select from raw_deliveries w where w.id = r.raw_id)`,
  },
  {
    invariant: 'IN2',
    says: 'what owes has its jobs and its trace',
    sql: ({ among }) => `select m.id, m.business_id from messages m
      where m.owes and m.receipt_id is not null and ${among('m.conversation_id')}
        and ((select count(*) from delivery_jobs j
            where j.receipt_id = m.receipt_id and j.job_key like '%:v1') <> 3
          or not exists (select from transport_traces t where t.message_id = m.id))`,
  },
];
