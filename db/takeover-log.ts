import type { PoolClient } from 'pg';
import { uuidv7 } from 'uuidv7';
import {
  forbiddenAttribute,
  mayFollowTheEnd,
  type TakeoverActor,
  type TakeoverAttributes,
  type TakeoverEvent,
  type TakeoverEventType,
  type TakeoverReason,
} from '../domain/takeover';
import type { LockedConversation } from './conversations';
import { run, runOne, statement, type Executor } from './database';
import { newId } from './new-id';

/** An event before it has its place in the log. */
export interface NewTakeoverEvent {
  /** Names the event, so that a repeated append is recognised; one is made where none is given. */
  readonly eventId?: string;
  readonly type: TakeoverEventType;
  readonly reason: TakeoverReason;
  readonly actor: TakeoverActor;
  /** The command, work item or message behind it. */
  readonly correlationId: string;
  readonly attributes?: TakeoverAttributes;
  /** Where content stands that the event speaks of, with its keyed digest (H5). */
  readonly content?: { readonly ref: string; readonly digest: string | null };
  readonly at: string;
}

type TakeoverRefusalCode =
  /** Somebody appended since the caller read the head. */
  | 'STALE_SESSION_VERSION'
  /** This event id was used for another content. */
  | 'EVENT_ID_REUSED'
  /** The session has ended; it takes erasures and annotations only. */
  | 'SESSION_ENDED'
  /** An attribute that must stay outside the log. */
  | 'FORBIDDEN_ATTRIBUTE';

/** An append that the log refuses (H3, H5). */
class TakeoverRefusedError extends Error {
  override readonly name = 'TakeoverRefusedError';
  constructor(
    readonly code: TakeoverRefusalCode,
    detail: string,
  ) {
    super(`${code} ${detail}`);
  }
}

interface Head {
  readonly sessionId: string;
  readonly lastSeq: number;
  readonly ended: boolean;
}

const HEAD = `session_id as "sessionId", last_seq as "lastSeq", ended_at is not null as ended`;

const lockOpenHead = statement<Head>(
  'lock-open-takeover-head',
  `select ${HEAD} from takeover_heads where conversation_id = $1 and ended_at is null for update`,
);

const lockHead = statement<Head>(
  'lock-takeover-head',
  `select ${HEAD} from takeover_heads where session_id = $1 for update`,
);

const makeHead = statement(
  'make-takeover-head',
  `insert into takeover_heads (session_id, conversation_id, last_seq) values ($1, $2, 0)
   on conflict do nothing`,
);

const advanceHead = statement<{ lastSeq: number }>(
  'advance-takeover-head',
  `update takeover_heads set last_seq = last_seq + 1,
     ended_at = case when $3 then $4::timestamptz else ended_at end
   where session_id = $1 and last_seq = $2
   returning last_seq as "lastSeq"`,
);

const insertEvent = statement(
  'insert-takeover-event',
  `insert into takeover_events (session_id, seq, event_id, business_id, conversation_id, type,
     actor_kind, actor_ref, reason, policy_version, correlation_id, content_ref, content_digest,
     attributes, occurred_at, recorded_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
     $15)`,
);

/** One event as it stands in the log. */
interface StoredEvent extends TakeoverEvent {
  readonly correlationId: string;
  readonly attributes: TakeoverAttributes;
  readonly contentDigest: string | null;
}

const EVENT = `event_id as "eventId", seq, type, reason,
  jsonb_build_object('kind', actor_kind, 'ref', actor_ref) as actor,
  content_ref as "contentRef", content_digest as "contentDigest",
  correlation_id as "correlationId", attributes`;

const findEvent = statement<StoredEvent>(
  'find-takeover-event',
  `select ${EVENT} from takeover_events where session_id = $1 and event_id = $2`,
);

const readEvents = statement<StoredEvent>(
  'read-takeover-session',
  `select ${EVENT} from takeover_events where session_id = $1 order by seq`,
);

const findInFlight = statement<{ ids: string }>(
  'find-sends-in-flight',
  `select coalesce(string_agg(id, ',' order by attempted_at), '') as ids from (
     select id, attempted_at from outbox
     where conversation_id = $1 and state in ('sending', 'delivery_unknown')
     order by attempted_at desc limit 8) o`,
);

export interface AppendOptions {
  /** The head that the caller read; a newer one is refused (H3). Absent: behind whatever is there. */
  readonly expectedSeq?: number;
  /** The session to append to; absent: the conversation's open one, which is begun if needed. */
  readonly sessionId?: string;
}

/**
 * Appends one event to the conversation's session; event and head advance share the caller's
 * transaction (H3). The same event id returns the place that it has already. What is in flight at
 * a takeover is listed in its event (INV-15). Throws `TakeoverRefusedError`.
 */
export async function appendTakeoverEvent(
  client: PoolClient,
  conversation: LockedConversation,
  event: NewTakeoverEvent,
  options: AppendOptions = {},
): Promise<number> {
  const forbidden = forbiddenAttribute(event.attributes ?? {});
  if (forbidden !== null) throw new TakeoverRefusedError('FORBIDDEN_ATTRIBUTE', forbidden);
  const head = await openHead(client, conversation, options.sessionId);
  const written = await findWritten(client, head, event);
  if (written !== null) return written;
  if (options.expectedSeq !== undefined && head.lastSeq !== options.expectedSeq) {
    const detail = `expected=${options.expectedSeq} actual=${head.lastSeq}`;
    throw new TakeoverRefusedError('STALE_SESSION_VERSION', detail);
  }
  if (head.ended && !mayFollowTheEnd(event.type)) {
    throw new TakeoverRefusedError('SESSION_ENDED', `${event.type} after the end`);
  }
  if (head.lastSeq > 0 || event.type === 'session.started') {
    return writeEvent(client, conversation, head, event);
  }
  // A session begins with its first event of substance, for that event's reason.
  const { reason, correlationId, at } = event;
  const actor = { kind: 'service', ref: 'conversation-router' } as const;
  const started = { type: 'session.started', reason, actor, correlationId, at } as const;
  const lastSeq = await writeEvent(client, conversation, head, started);
  return writeEvent(client, conversation, { ...head, lastSeq }, event);
}

async function openHead(
  client: PoolClient,
  conversation: LockedConversation,
  sessionId: string | undefined,
): Promise<Head> {
  if (sessionId !== undefined) return runOne(client, lockHead, [sessionId]);
  const [open] = await run(client, lockOpenHead, [conversation.id]);
  if (open !== undefined) return open;
  await run(client, makeHead, [uuidv7(), conversation.id]);
  return runOne(client, lockOpenHead, [conversation.id]);
}

/** The place of an event that is written already, or null. */
async function findWritten(
  client: PoolClient,
  head: Head,
  event: NewTakeoverEvent,
): Promise<number | null> {
  if (event.eventId === undefined) return null;
  const [known] = await run(client, findEvent, [head.sessionId, event.eventId]);
  if (known === undefined) return null;
  if (!isSame(known, event)) {
    throw new TakeoverRefusedError('EVENT_ID_REUSED', `the event ${event.eventId} says otherwise`);
  }
  return known.seq;
}

/** Whether a stored event is the one that is appended again; a takeover's own list is left out. */
function isSame(known: StoredEvent, event: NewTakeoverEvent): boolean {
  const { inFlightSends: _added, ...attributes } = known.attributes;
  const stored = [known.type, known.reason, known.actor.kind, known.actor.ref, known.correlationId];
  const given = [event.type, event.reason, event.actor.kind, event.actor.ref, event.correlationId];
  return (
    stored.every((value, index) => value === given[index]) &&
    known.contentRef === (event.content?.ref ?? null) &&
    known.contentDigest === (event.content?.digest ?? null) &&
    sorted(attributes) === sorted(event.attributes ?? {})
  );
}

function sorted(attributes: TakeoverAttributes): string {
  return JSON.stringify(Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function writeEvent(
  client: PoolClient,
  conversation: LockedConversation,
  head: Head,
  event: NewTakeoverEvent,
): Promise<number> {
  const attributes = { ...event.attributes, ...(await inFlight(client, conversation, event.type)) };
  await run(client, insertEvent, [
    head.sessionId,
    head.lastSeq + 1,
    event.eventId ?? newId('tke'),
    conversation.businessId,
    conversation.id,
    event.type,
    event.actor.kind,
    event.actor.ref,
    event.reason,
    conversation.policyVersion,
    event.correlationId,
    event.content?.ref ?? null,
    event.content?.digest ?? null,
    JSON.stringify(attributes),
    event.at,
  ]);
  const ends = event.type === 'session.ended';
  const advanced = await runOne(client, advanceHead, [
    head.sessionId,
    head.lastSeq,
    ends,
    event.at,
  ]);
  return advanced.lastSeq;
}

/** The sends whose outcome is open when automation is stopped: they may still arrive (INV-15). */
async function inFlight(
  client: PoolClient,
  conversation: LockedConversation,
  type: TakeoverEventType,
): Promise<TakeoverAttributes> {
  if (type !== 'takeover.requested' && type !== 'takeover.claimed') return {};
  const { ids } = await runOne(client, findInFlight, [conversation.id]);
  return ids === '' ? {} : { inFlightSends: ids };
}

/** Ends the conversation's open session, where there is one (H1); none is begun to be ended. */
export async function endTakeoverSession(
  client: PoolClient,
  conversation: LockedConversation,
  event: Pick<NewTakeoverEvent, 'actor' | 'correlationId' | 'at'>,
): Promise<void> {
  const [open] = await run(client, lockOpenHead, [conversation.id]);
  if (open === undefined) return;
  const reason = 'session_completed';
  await appendTakeoverEvent(client, conversation, { ...event, type: 'session.ended', reason });
}

/** Reads a session's events in their order, to be replayed. */
export function readTakeoverSession(
  executor: Executor,
  sessionId: string,
): Promise<readonly TakeoverEvent[]> {
  return run(executor, readEvents, [sessionId]);
}

const endedBefore = statement<{ name: string }>(
  'drop-takeover-partitions',
  `select name from drop_takeover_partitions($1) as name`,
);

const prepare = statement<{ made: number }>(
  'prepare-takeover-partitions',
  `select prepare_takeover_partitions($1) as made`,
);

/** How many months' partitions stand ready, so that none is ever missing. */
const MONTHS_AHEAD = 3;

/**
 * Keeps the log's partitions: makes the coming months' and drops those whose sessions all ended
 * before the instant (H2, C11). Runs as the retention role. Returns the names of the dropped.
 */
export async function keepTakeoverPartitions(
  executor: Executor,
  endedBeforeAt: string,
): Promise<readonly string[]> {
  await run(executor, prepare, [MONTHS_AHEAD]);
  const dropped = await run(executor, endedBefore, [endedBeforeAt]);
  return dropped.map(({ name }) => name);
}
