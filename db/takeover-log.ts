import type { PoolClient } from 'pg';
import type { LockedConversation } from './conversations';
import { run, runOne, statement } from './database';
import { newId } from './new-id';

/** Event types and reasons of the takeover log: closed sets (H1). */
export type TakeoverEventType =
  'session.started' | 'takeover.requested' | 'takeover.claimed' | 'takeover.released';

export type TakeoverReason =
  | 'session_started'
  | 'policy_requires_human'
  | 'operator_claimed'
  | 'operator_released'
  | 'reply_overdue'
  | 'replays_exhausted'
  | 'delivery_unknown'
  | 'quote_requires_human'
  | 'lead_requested_human';

/** Who acted: a service, a company role or the system; never a person (H1). */
export interface TakeoverActor {
  readonly kind: 'service' | 'company_role' | 'system';
  readonly ref: 'conversation-router' | 'support-agent' | 'shift-supervisor' | 'sweeper';
}

export interface TakeoverEvent {
  readonly type: TakeoverEventType;
  readonly reason: TakeoverReason;
  readonly actor: TakeoverActor;
  readonly correlationId: string;
  readonly at: string;
}

/** Refused because somebody appended since the caller read the head (H3). */
class StaleSessionError extends Error {
  override readonly name = 'StaleSessionError';
  readonly code = 'STALE_SESSION_VERSION';
  constructor(
    readonly expectedSeq: number,
    readonly actualSeq: number,
  ) {
    super(`STALE_SESSION_VERSION expected=${expectedSeq} actual=${actualSeq}`);
  }
}

const makeHead = statement(
  'make-takeover-head',
  `insert into takeover_heads (session_id, conversation_id, last_seq) values ($1, $2, 0)
   on conflict (session_id) do nothing`,
);

const lockHead = statement<{ lastSeq: number }>(
  'lock-takeover-head',
  `select last_seq as "lastSeq" from takeover_heads where session_id = $1 for update`,
);

const advanceHead = statement<{ lastSeq: number }>(
  'advance-takeover-head',
  `update takeover_heads set last_seq = last_seq + 1 where session_id = $1 and last_seq = $2
   returning last_seq as "lastSeq"`,
);

const insertEvent = statement(
  'insert-takeover-event',
  `insert into takeover_events (session_id, seq, event_id, business_id, conversation_id, type,
     actor_kind, actor_ref, reason, policy_version, correlation_id, attributes, occurred_at,
     recorded_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, '{}', $12, $12)`,
);

/** The session of the conversation's present episode: one per text episode (H1). */
function takeoverSession(conversation: LockedConversation): string {
  return `${conversation.id}/${conversation.episode}`;
}

/**
 * Appends one event to the session's log; event and head advance share the caller's transaction
 * (H3). `expectedSeq` null means "behind whatever is there", for writers that hold the
 * conversation's lock. Throws `StaleSessionError`.
 */
export async function appendTakeoverEvent(
  client: PoolClient,
  conversation: LockedConversation,
  event: TakeoverEvent,
  expectedSeq: number | null = null,
): Promise<number> {
  const sessionId = takeoverSession(conversation);
  await run(client, makeHead, [sessionId, conversation.id]);
  const head = await runOne(client, lockHead, [sessionId]);
  if (expectedSeq !== null && head.lastSeq !== expectedSeq) {
    throw new StaleSessionError(expectedSeq, head.lastSeq);
  }
  if (head.lastSeq === 0 && event.type !== 'session.started') {
    await writeEvent(client, conversation, 0, { ...event, ...SESSION_STARTED });
    return (await writeEvent(client, conversation, 1, event)).lastSeq;
  }
  return (await writeEvent(client, conversation, head.lastSeq, event)).lastSeq;
}

const SESSION_STARTED = {
  type: 'session.started',
  reason: 'session_started',
  actor: { kind: 'service', ref: 'conversation-router' },
} as const;

async function writeEvent(
  client: PoolClient,
  conversation: LockedConversation,
  lastSeq: number,
  event: TakeoverEvent,
): Promise<{ lastSeq: number }> {
  const sessionId = takeoverSession(conversation);
  await run(client, insertEvent, [
    sessionId,
    lastSeq + 1,
    newId('tke'),
    conversation.businessId,
    conversation.id,
    event.type,
    event.actor.kind,
    event.actor.ref,
    event.reason,
    conversation.policyVersion,
    event.correlationId,
    event.at,
  ]);
  return runOne(client, advanceHead, [sessionId, lastSeq]);
}
