import type { PoolClient } from 'pg';
import type { ReceiptId } from '../../domain/ids';
import { run, statement } from '../database';
import { newId } from '../new-id';
import { openWorkItem } from '../work-items';
import type { ContentConflict, IngestRequest, PreparedElement } from './request';

export interface AccountRow {
  readonly id: string;
  readonly businessId: string;
  readonly channel: string;
  readonly externalId: string;
}

const findAccounts = statement<AccountRow>(
  'find-accounts',
  `select id, business_id as "businessId", channel, external_id as "externalId"
   from accounts
   where (channel, external_id) in (select * from unnest($1::text[], $2::text[]))`,
);

const insertRaw = statement(
  'insert-raw-delivery',
  `insert into raw_deliveries (id, provider, target, content_type, body, body_sha256, body_bytes,
     element_count, received_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, coalesce($9::timestamptz, clock_timestamp()))`,
);

const insertReceipts = statement<{ id: ReceiptId; path: string }>(
  'insert-receipts',
  `insert into webhook_receipts (id, raw_id, provider, account_external_id, key_sha256,
     content_sha256, element_path, kind, quarantine_reason, received_at)
   select r.id, $2, $3, r.account, r.key, r.content, r.path, r.kind, r.reason,
     coalesce($4::timestamptz, clock_timestamp())
   from jsonb_to_recordset($1::jsonb)
     as r(id text, account text, key text, content text, path text, kind text, reason text)
   order by r.account, r.key
   on conflict (provider, account_external_id, key_sha256) do nothing
   returning id, element_path as path`,
);

const insertDuplicates = statement<ContentConflict & { readonly differs: boolean }>(
  'insert-duplicates',
  `insert into receipt_duplicates
     (receipt_id, raw_id, element_path, content_sha256, differs, received_at)
   select w.id, $2, d.path, d.content, w.content_sha256 <> d.content,
     coalesce($4::timestamptz, clock_timestamp())
   from jsonb_to_recordset($1::jsonb) as d(account text, key text, content text, path text)
   join webhook_receipts w on w.provider = $3 and w.account_external_id = d.account
     and w.key_sha256 = d.key
   returning differs, receipt_id as "receiptId", content_sha256 as "cameSha256",
     (select w.content_sha256 from webhook_receipts w where w.id = receipt_id) as "keptSha256"`,
);

/** A new element with its receipt, and the account it belongs to (null where unknown to us). */
export interface NewElement {
  readonly prepared: PreparedElement;
  readonly receiptId: ReceiptId;
  readonly account: AccountRow | null;
}

export interface Receipts {
  readonly fresh: readonly NewElement[];
  readonly duplicates: number;
  readonly conflicts: readonly ContentConflict[];
  readonly quarantined: number;
}

/**
 * The first statements of an ingest: the raw row and the receipts, in one round trip. Only
 * elements whose key is new go on; a repeat is noted, and a repeat with other content alerts (IN3).
 */
export async function storeReceipts(
  client: PoolClient,
  request: IngestRequest,
  now: string | null,
): Promise<Receipts> {
  const { raw, elements } = request;
  const [accounts, , inserted] = await Promise.all([
    run(client, findAccounts, [
      elements.map((item) => item.element.channel),
      elements.map((item) => item.element.accountExternalId),
    ]),
    run(client, insertRaw, [
      raw.id,
      raw.provider,
      raw.target,
      raw.contentType,
      raw.body,
      raw.bodySha256,
      raw.body.length,
      elements.length,
      now,
    ]),
    run(client, insertReceipts, [
      JSON.stringify(elements.map(receiptRow)),
      raw.id,
      raw.provider,
      now,
    ]),
  ]);
  const ids = new Map(inserted.map((row) => [row.path, row.id]));
  const repeated = elements.filter((item) => !ids.has(item.element.path));
  const conflicts = await noteDuplicates(client, request, repeated, now);
  const fresh = elements.flatMap((prepared) => {
    const receiptId = ids.get(prepared.element.path);
    if (receiptId === undefined) return [];
    return [{ prepared, receiptId, account: accountOf(prepared, accounts) }];
  });
  const quarantined = await quarantine(client, request, fresh, now);
  return { fresh, duplicates: repeated.length, conflicts, quarantined };
}

function receiptRow({ element, keySha256, contentSha256 }: PreparedElement) {
  return {
    id: newId('rcp'),
    account: element.accountExternalId,
    key: keySha256,
    content: contentSha256,
    path: element.path,
    kind: element.type === 'note' ? element.kind : element.type,
    reason: element.type === 'quarantined' ? element.reason : null,
  };
}

function accountOf({ element }: PreparedElement, accounts: readonly AccountRow[]) {
  const found = accounts.find(
    (row) => row.channel === element.channel && row.externalId === element.accountExternalId,
  );
  return found ?? null;
}

async function noteDuplicates(
  client: PoolClient,
  { raw }: IngestRequest,
  repeated: readonly PreparedElement[],
  now: string | null,
): Promise<readonly ContentConflict[]> {
  if (repeated.length === 0) return [];
  const rows = repeated.map((item) => ({
    account: item.element.accountExternalId,
    key: item.keySha256,
    content: item.contentSha256,
    path: item.element.path,
  }));
  const noted = await run(client, insertDuplicates, [
    JSON.stringify(rows),
    raw.id,
    raw.provider,
    now,
  ]);
  if (noted.length !== repeated.length) {
    throw new Error(`${noted.length} of ${repeated.length} duplicates met a receipt`);
  }
  const differing = noted.filter((row) => row.differs);
  for (const { receiptId, keptSha256, cameSha256 } of differing) {
    await openOperatorItem(client, raw.id, {
      kind: 'content-conflict',
      reason: 'one_event_two_contents',
      explanation: `The provider delivered one event id with two different contents. The first one stands (digest ${keptSha256}); the other was not taken in (digest ${cameSha256}).`,
      subjectId: receiptId,
      now,
    });
  }
  return differing.map(({ differs: _differs, ...conflict }) => conflict);
}

/** Broken elements and unknown accounts are kept raw, counted, and shown where a lead may wait. */
async function quarantine(
  client: PoolClient,
  { raw }: IngestRequest,
  fresh: readonly NewElement[],
  now: string | null,
): Promise<number> {
  const broken = fresh.filter(({ prepared }) => prepared.element.type === 'quarantined');
  const homeless = fresh.filter(
    ({ prepared, account }) => account === null && prepared.element.type === 'message',
  );
  const mayWait = broken.some(
    ({ prepared: { element } }) => element.type === 'quarantined' && element.mayBeLeadMessage,
  );
  if (mayWait || homeless.length > 0) {
    await openOperatorItem(client, raw.id, {
      kind: 'quarantine',
      reason: homeless.length > 0 ? 'unknown_account' : 'unreadable_element',
      explanation:
        homeless.length > 0
          ? 'A message came for an account that is not connected. A lead may be waiting: connect the account or answer by hand.'
          : 'A webhook held something that could not be read. It is kept as received; a lead may be waiting.',
      now,
    });
  }
  return broken.length + homeless.length;
}

async function openOperatorItem(
  client: PoolClient,
  rawId: string,
  item: {
    readonly kind: 'quarantine' | 'content-conflict';
    readonly reason: string;
    readonly explanation: string;
    readonly subjectId?: string;
    readonly now: string | null;
  },
): Promise<void> {
  await openWorkItem(client, {
    businessId: null,
    conversationId: null,
    kind: item.kind,
    reason: item.reason,
    explanation: item.explanation,
    rawId,
    subjectId: item.subjectId,
    at: item.now ?? new Date().toISOString(),
  });
}
