import type { PoolClient } from 'pg';
import type { OwedMessage } from '../domain/turn';
import type {
  BusinessProfile,
  Service,
  ThreadMessage,
  Understanding,
} from '../domain/understanding';
import type { LockedConversation } from './conversations';
import { run, runOne, statement, type Executor } from './database';

export interface RaisedTurn {
  /** The debt's token at the beginning; the turn answers this one and no other (T2). */
  readonly token: string;
  readonly attempt: number;
  /** When the worker began with it (L1, jobClaimedAt). */
  readonly raisedAt: string;
}

const raiseMarker = statement<RaisedTurn>(
  'raise-turn-marker',
  `with fast as (select set_config('synchronous_commit', 'off', true)),
   owed as (
     select c.id, c.owed_since, coalesce($2::timestamptz, clock_timestamp()) as now
     from conversations c, fast
     where c.id = $1 and c.owed_since is not null)
   insert into turn_markers as m (conversation_id, token, attempt, started_at)
   select owed.id, owed.owed_since, 1, owed.now from owed
   on conflict (conversation_id) do update set
     attempt = m.attempt + 1,
     started_at = case when m.token = excluded.token then m.started_at else excluded.started_at end,
     token = excluded.token, thrown_at = null
   returning token::text, attempt, (select owed.now::text from owed) as "raisedAt"`,
);

/**
 * Begins a turn by raising its attempt (T4). Each of the turn's writes requires that attempt to be
 * current, so a re-executed turn takes over at once and a frozen one writes nothing. Null where
 * nothing is owed. It commits by itself, without waiting for the disk: its loss costs nothing.
 */
export async function raiseTurn(
  executor: Executor,
  conversationId: string,
  now: string | null,
): Promise<RaisedTurn | null> {
  const [row] = await run(executor, raiseMarker, [conversationId, now]);
  return row ?? null;
}

const markThrown = statement(
  'mark-turn-thrown',
  `update turn_markers set thrown_at = coalesce($3::timestamptz, clock_timestamp())
   where conversation_id = $1 and attempt = $2`,
);

/**
 * Notes that a turn threw (T3, T4): the debt stands, and the sweeper takes no turn for being in
 * flight. The row stays, so that the attempts go on being counted.
 */
export async function markTurnThrown(
  executor: Executor,
  conversationId: string,
  attempt: number,
  now: string | null,
): Promise<void> {
  await run(executor, markThrown, [conversationId, attempt, now]);
}

const dropMarker = statement(
  'drop-stale-turn-marker',
  `delete from turn_markers k using conversations c
   where k.conversation_id = $1 and c.id = $1 and c.owed_since is null`,
);

/** Removes the marker of a turn whose debt was settled while it began. The lock is held. */
export async function dropStaleMarker(client: PoolClient, conversationId: string): Promise<void> {
  await run(client, dropMarker, [conversationId]);
}

export interface OpenDraft {
  readonly sendId: string;
  readonly state: 'queued' | 'leased' | 'sending';
  readonly token: string | null;
  readonly coversSeq: number;
  /** False while it waits for its notBefore, such as a back-off. */
  readonly mayLeaveNow: boolean;
  readonly oldestMissedAgeMs: number | null;
}

export interface TurnReading {
  readonly currentAttempt: number | null;
  readonly profile: BusinessProfile;
  readonly thread: readonly (ThreadMessage & {
    readonly author: string;
    /** When it was stored here. Epoch ms. */
    readonly atMs: number;
  })[];
  readonly owed: readonly OwedMessage[];
  readonly openAnswer: OpenDraft | null;
  readonly lastAnswerAtMs: number | null;
  /** Automatic answers on their way to this conversation (INV-17). */
  readonly turnsLastHour: number;
  readonly turnsLastDay: number;
  readonly addressOptedOut: boolean;
  readonly understanding: Understanding | null;
}

interface ReadingRow extends Omit<TurnReading, 'profile'> {
  readonly name: string;
  readonly timeZone: string;
  readonly services: readonly Service[];
}

const readTurnStatement = statement<ReadingRow>(
  'read-turn',
  `select
     (select attempt from turn_markers k where k.conversation_id = c.id) as "currentAttempt",
     (select d.opted_out_at is not null from addresses d where d.id = c.address_id)
       as "addressOptedOut",
     b.name, b.time_zone as "timeZone", b.services, c.understanding,
     (select coalesce(jsonb_agg(t order by t.seq), '[]') from (
        select m.seq, case when m.direction = 'in' then 'lead' else 'business' end as "from",
          m.author, m.text, m.media <> '[]'::jsonb as "hasMedia", m.unsupported,
          (extract(epoch from m.received_at) * 1000)::float8 as "atMs"
        from messages m where m.conversation_id = c.id and m.deleted_at is null
        order by m.seq desc limit $3) t) as thread,
     (select coalesce(jsonb_agg(jsonb_build_object('seq', m.seq, 'text', m.text,
          'optOut', m.opt_out) order by m.seq), '[]')
      from messages m where m.conversation_id = c.id and m.owes and m.settled_at is null) as owed,
     (select jsonb_build_object('sendId', o.id, 'state', o.state, 'token', o.token::text,
          'coversSeq', o.covers_seq, 'mayLeaveNow', o.not_before <= $2::timestamptz,
          'oldestMissedAgeMs', (select (extract(epoch from $2::timestamptz - min(m.received_at)) * 1000)::float8
             from messages m
             where m.conversation_id = c.id and m.author = 'lead' and m.seq > o.covers_seq))
      from outbox o where o.conversation_id = c.id
        and (o.purpose = 'answer' or (o.purpose = 'staff' and o.token = c.owed_since))
        and o.state in ('queued', 'leased', 'sending')
      order by o.token = c.owed_since desc nulls last, o.created_at desc, o.id desc
      limit 1) as "openAnswer",
     (select count(*) from send_attempts t where t.conversation_id = c.id and t.purpose = 'answer'
        and t.number = 1 and t.started_at > $2::timestamptz - interval '1 hour') as "turnsLastHour",
     (select count(*) from send_attempts t where t.conversation_id = c.id and t.purpose = 'answer'
        and t.number = 1 and t.started_at > $2::timestamptz - interval '1 day') as "turnsLastDay",
     (select (extract(epoch from max(o.ended_at)) * 1000)::float8 from outbox o
      where o.conversation_id = c.id and o.purpose = 'answer'
        and o.state in ('accepted', 'delivered')) as "lastAnswerAtMs"
   from conversations c join businesses b on b.id = c.business_id where c.id = $1`,
);

/** Reads what a turn needs, under the conversation's lock: the newest `limit` messages of it. */
export async function readTurn(
  client: PoolClient,
  conversationId: string,
  at: string,
  limit: number,
): Promise<TurnReading> {
  const row = await runOne(client, readTurnStatement, [conversationId, at, limit]);
  const { name, timeZone, services, ...reading } = row;
  return { ...reading, profile: { name, timeZone, services } };
}

const countWithdrawal = statement(
  'count-draft-withdrawal',
  `update conversations set draft_withdrawals = draft_withdrawals + 1 where id = $1`,
);

/** Counts that a draft was withdrawn for a newer message (P4b case 4). */
export async function countDraftWithdrawal(client: PoolClient, id: string): Promise<void> {
  await run(client, countWithdrawal, [id]);
}

const keepUnderstanding = statement(
  'keep-understanding',
  `update conversations set understanding = $2 where id = $1`,
);

/** Keeps what the turn understood, for follow-ups and the desk. */
export async function storeUnderstanding(
  client: PoolClient,
  conversation: LockedConversation,
  understanding: Understanding,
): Promise<void> {
  await run(client, keepUnderstanding, [conversation.id, JSON.stringify(understanding)]);
}

const confirmOptOut = statement(
  'mark-opt-out-confirmed',
  `update conversations set opt_out_confirmed_at = $2 where id = $1`,
);

/** Notes that this opt-out has its one confirmation (S1). */
export async function markOptOutConfirmed(
  client: PoolClient,
  conversationId: string,
  at: string,
): Promise<void> {
  await run(client, confirmOptOut, [conversationId, at]);
}

const endTracesStatement = statement(
  'end-traces',
  `update transport_traces t set outcome = $3
   from messages m
   where t.conversation_id = $1 and m.id = t.message_id and m.seq <= $2 and t.outcome is null`,
);

/** Ends the latency traces of messages that get no reply of ours, with the outcome (L1, L3). */
export async function endTraces(
  client: PoolClient,
  conversationId: string,
  throughSeq: number,
  outcome: 'handed-over' | 'no-answer' | 'unknown',
): Promise<void> {
  await run(client, endTracesStatement, [conversationId, throughSeq, outcome]);
}
