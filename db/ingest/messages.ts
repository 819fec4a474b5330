import type { PoolClient } from 'pg';
import { writtenAtMs } from '../../domain/inbound-time';
import type { MessageId, ReceiptId } from '../../domain/ids';
import { JOB_OPERATIONS } from '../../domain/jobs';
import { jobKey } from '../../domain/keys';
import type { Instant, LockedConversation } from '../conversations';
import { run, statement } from '../database';
import { sha256 } from '../digest';
import { JOB_TARGETS } from '../job-targets';
import { newId } from '../new-id';
import type { IngestRequest, PreparedElement } from './request';

/** A message row as an ingest writes it. */
export interface NewMessage {
  readonly id: MessageId;
  readonly seq: number;
  readonly receiptId: ReceiptId;
  readonly direction: 'in' | 'out';
  readonly author: 'lead' | 'native' | 'import';
  readonly providerMessageId: string;
  readonly text: string | null;
  readonly media: unknown;
  readonly unsupported: boolean;
  readonly optOut: string | null;
  readonly sourceAt: string | null;
  readonly owes: boolean;
  /** The open handoff that it joins instead of owing a turn of its own (T6). */
  readonly joinsItem: string | null;
}

const insertMessages = statement<{ id: string }>(
  'insert-messages',
  `insert into messages (id, business_id, conversation_id, account_id, seq, receipt_id, direction,
     author, provider_message_id, provider_message_sha256, text, media, unsupported, opt_out,
     source_at, received_at, owes, settlement, settlement_ref, settlement_reason, settled_at)
   select m.id, $2, $3, $4, m.seq, m.receipt, m.direction, m.author, m.pid, m.pid_sha256, m.text,
     m.media, m.unsupported, m.opt_out, m.source_at, $5, m.owes,
     case when m.item is not null then 'work-item' end, m.item,
     case when m.item is not null then 'joined_open_handoff' end,
     case when m.item is not null then $5::timestamptz end
   from jsonb_to_recordset($1::jsonb) as m(id text, seq bigint, receipt text, direction text,
     author text, pid text, pid_sha256 text, text text, media jsonb, unsupported boolean,
     opt_out text, source_at timestamptz, owes boolean, item text)
   on conflict (account_id, provider_message_sha256) do update set
     id = excluded.id, conversation_id = excluded.conversation_id, seq = excluded.seq,
     receipt_id = excluded.receipt_id, direction = excluded.direction, author = excluded.author,
     text = excluded.text, media = excluded.media, unsupported = excluded.unsupported,
     opt_out = excluded.opt_out, source_at = excluded.source_at,
     received_at = excluded.received_at, owes = excluded.owes, settlement = excluded.settlement,
     settlement_ref = excluded.settlement_ref, settlement_reason = excluded.settlement_reason,
     settled_at = excluded.settled_at
   where messages.author = 'import'
   returning id`,
);

/**
 * Writes the thread's new messages. A provider may import a message that also comes live: the live
 * one takes the import's place, and an import behind it changes nothing (INV-2). Any other
 * shortfall is an assertion, so that nothing is half stored.
 */
export async function writeMessages(
  client: PoolClient,
  conversation: LockedConversation,
  messages: readonly NewMessage[],
  at: string,
): Promise<void> {
  if (messages.length === 0) return;
  const rows = messages.map((message) => ({
    id: message.id,
    seq: message.seq,
    receipt: message.receiptId,
    direction: message.direction,
    author: message.author,
    pid: message.providerMessageId,
    pid_sha256: sha256(message.providerMessageId),
    text: message.text,
    media: message.media,
    unsupported: message.unsupported,
    opt_out: message.optOut,
    source_at: message.sourceAt,
    owes: message.owes,
    item: message.joinsItem,
  }));
  const inserted = await run(client, insertMessages, [
    JSON.stringify(rows),
    conversation.businessId,
    conversation.id,
    conversation.accountId,
    at,
  ]);
  const stored = new Set(inserted.map(({ id }) => id));
  const missing = messages.filter(({ author, id }) => author !== 'import' && !stored.has(id));
  if (missing.length > 0) {
    throw new Error(`${missing.length} of ${messages.length} messages were not stored`);
  }
}

const insertJobs = statement(
  'insert-delivery-jobs',
  `insert into delivery_jobs
     (id, receipt_id, business_id, conversation_id, job_key, operation, state, next_attempt_at,
      created_at, ended_at)
   select j.id, j.receipt, j.business_id, $4, j.key, j.operation,
     case when n.needed then 'queued' else 'succeeded' end, $2, $2,
     case when not n.needed then $2::timestamptz end
   from (
     select r.*, $3::text as business_id from jsonb_to_recordset($1::jsonb)
       as r(id text, receipt text, key text, operation text)) j,
   lateral (select j.operation = 'initial-response'
     or exists (select from integrations i where ${JOB_TARGETS}) as needed) n`,
);

/**
 * The work that follows each owing receipt, in the same transaction (IN2). Where nothing is
 * connected that an operation could write to, its job has succeeded without an attempt.
 */
export async function writeJobs(
  client: PoolClient,
  conversation: LockedConversation,
  messages: readonly NewMessage[],
  at: string,
): Promise<void> {
  const rows = messages
    .filter((message) => message.owes)
    .flatMap(({ receiptId }) =>
      JOB_OPERATIONS.map((operation) => ({
        id: newId('job'),
        receipt: receiptId,
        key: jobKey(receiptId, operation, 1),
        operation,
      })),
    );
  if (rows.length === 0) return;
  const { businessId, id } = conversation;
  await run(client, insertJobs, [JSON.stringify(rows), at, businessId, id]);
}

const insertTraces = statement(
  'insert-traces',
  `insert into transport_traces (receipt_id, business_id, conversation_id, message_id, channel,
     source_event_at, source_precision, ingress_accepted_at, normalized_at, normalize_ms)
   select t.receipt, $2, $3, t.message, $4, t.source_at, t.precision, $5, $6, $7
   from jsonb_to_recordset($1::jsonb)
     as t(receipt text, message text, source_at timestamptz, precision text)`,
);

/** Opens a latency trace for each message that owes an answer (L1). */
export async function openTraces(
  client: PoolClient,
  conversation: LockedConversation,
  sources: readonly { readonly message: NewMessage; readonly prepared: PreparedElement }[],
  ingress: IngestRequest['ingress'],
): Promise<void> {
  const rows = sources
    .filter(({ message }) => message.owes)
    .map(({ message, prepared }) => ({
      receipt: message.receiptId,
      message: message.id,
      source_at: message.sourceAt,
      precision: prepared.element.source.precision,
    }));
  if (rows.length === 0) return;
  await run(client, insertTraces, [
    JSON.stringify(rows),
    conversation.businessId,
    conversation.id,
    conversation.channel,
    ingress.acceptedAt,
    ingress.normalizedAt,
    ingress.normalizeMs,
  ]);
}

const advanceThread = statement(
  'advance-thread',
  `update conversations set last_seq = $2,
     last_inbound_seq = greatest(last_inbound_seq, $3::bigint),
     last_inbound_at = greatest(last_inbound_at, $4::timestamptz),
     last_inbound_received_at = case when $3::bigint is null then last_inbound_received_at else $5 end,
     touched_at = $5
   where id = $1`,
);

/** Moves the thread's counters behind the new messages. */
export async function advanceCounters(
  client: PoolClient,
  conversation: LockedConversation,
  messages: readonly NewMessage[],
  { now, nowMs }: Instant,
): Promise<void> {
  const lastSeq = messages.at(-1)?.seq ?? conversation.lastSeq;
  const inbound = messages.filter((message) => message.author === 'lead');
  const written = inbound.map((message) => writtenAtMs(toMs(message.sourceAt), nowMs));
  const newest = written.length > 0 ? new Date(Math.max(...written)).toISOString() : null;
  await run(client, advanceThread, [
    conversation.id,
    lastSeq,
    inbound.at(-1)?.seq ?? null,
    newest,
    now,
  ]);
}

/** Epoch milliseconds of an ISO instant; null stays null. */
export function toMs(instant: string | null): number | null {
  return instant === null ? null : Date.parse(instant);
}
