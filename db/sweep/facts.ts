import type { PoolClient } from 'pg';
import type { SweptDebt, SweptSend } from '../../domain/sweep';
import {
  CONVERSATION_COLUMNS,
  readClock,
  type Locked,
  type LockedConversation,
} from '../conversations';
import { run, statement } from '../database';

const tryLock = statement<LockedConversation>(
  'try-lock-conversation',
  `select ${CONVERSATION_COLUMNS} from conversations c where c.id = $1
   for update of c skip locked`,
);

/**
 * Locks a conversation, or passes over it: whoever holds the lock is at work on it, a turn, a
 * person or another sweeper. Null then, and where it does not exist. The clock is read behind it.
 */
export async function tryLockConversation(
  client: PoolClient,
  conversationId: string,
  now: string | null,
): Promise<Locked | null> {
  const [conversation] = await run(client, tryLock, [conversationId]);
  if (conversation === undefined) return null;
  return { conversation, ...(await readClock(client, now)) };
}

/** A send in flight that covers the owed messages, with what proves that it was accepted. */
export interface OpenAttempt {
  readonly sendId: string;
  readonly attemptId: string;
  readonly provenProviderMessageId: string | null;
  readonly provenAcceptedAt: string | null;
  readonly provenBy: 'marker' | 'status';
}

/** True where a sweeper woke the conversation within this minute. */
const JUST_SWEPT = `coalesce(c.swept_at > n.now - interval '55 seconds', false) as "justSwept"`;

export interface DebtFacts extends SweptDebt {
  readonly justSwept: boolean;
  /** The turn's present attempt; 0 where none ever began. */
  readonly attempt: number;
  readonly openAttempt: OpenAttempt | null;
}

const MS = (span: string) => `(extract(epoch from ${span}) * 1000)::float8`;

/** The proof of an attempt, as `resolve` looks for it: our marker, else the provider's word. */
const OPEN_ATTEMPT = `jsonb_build_object('sendId', o.id, 'attemptId', o.attempt_id,
  'provenProviderMessageId', coalesce(s.provider_message_id, p.provider_message_id),
  'provenAcceptedAt', coalesce(s.accepted_at, p.first_seen_at)::text,
  'provenBy', case when s.attempt_id is null then 'status' else 'marker' end)`;

const ATTEMPT_PROOF = `
  left join sent_markers s on s.attempt_id = o.attempt_id
  left join lateral (select provider_message_id, first_seen_at from provider_messages m
    where m.send_id = o.id and m.attempt_id = o.attempt_id limit 1) p on true`;

/** What answers a debt: automation's own, and a person's reply that was given the debt's token. */
const ANSWERS = `(o.purpose in ('answer', 'opt-out-confirmation') or o.token = c.owed_since)`;

/**
 * The facts of the ladder for one locked conversation. A send covers what is owed where it saw the
 * oldest owed message: its outcome decides that message, and a newer one keeps its own debt. What a
 * provider later failed, or a person judged, proves no acceptance any more.
 */
const readDebtStatement = statement<DebtFacts>(
  'read-swept-debt',
  `select ${MS('n.now - c.overdue_from')} as "overdueMs",
     case when k.thrown_at is null then ${MS('n.now - k.started_at')} end as "turnAgeMs",
     coalesce(k.attempt, 0) as attempt, ${MS('n.now - f.attempted_at')} as "attemptAgeMs",
     f.facts as "openAttempt", coalesce(g.accepted, false) as accepted,
     ${MS('n.now - g.marked_at')} as "markerAgeMs",
     case when c.replays_for = c.oldest_owed_at then c.replays
       + case when c.replay_attempt < k.attempt then 1 else 0 end else 0 end as replays,
     (a.paused_at is not null or not b.automation_enabled or exists (
       select from outbox o where o.conversation_id = c.id and o.covers_seq >= w.seq
         and ${ANSWERS} and o.state = 'queued'
         and o.not_before > n.now)) as waits, ${JUST_SWEPT}
   from (select $2::timestamptz as now) n, conversations c
   join accounts a on a.id = c.account_id
   join businesses b on b.id = c.business_id
   left join turn_markers k on k.conversation_id = c.id
   cross join lateral (select min(m.seq) as seq from messages m
     where m.conversation_id = c.id and m.owes and m.settled_at is null) w
   left join lateral (
     select o.attempted_at, ${OPEN_ATTEMPT} as facts from outbox o ${ATTEMPT_PROOF}
     where o.conversation_id = c.id and o.covers_seq >= w.seq
       and ${ANSWERS}
       and o.state in ('sending', 'delivery_unknown')
     order by o.attempted_at desc limit 1) f on true
   left join lateral (
     select bool_or(r.attempt_id is not null) as accepted,
       min(s.accepted_at) filter (where r.attempt_id is null) as marked_at
     from outbox o join send_attempts t on t.send_id = o.id
     left join sent_markers s on s.attempt_id = t.id
     left join send_outcomes r on r.attempt_id = t.id and r.outcome = 'accepted'
     where o.conversation_id = c.id and o.covers_seq >= w.seq
       and ${ANSWERS}
       and not exists (select from provider_messages p
         where p.send_id = o.id and p.status = 'failed')
       and not exists (select from send_outcomes v
         where v.attempt_id = t.id and v.evidence = 'review')) g on true
   where c.id = $1 and c.owed_since is not null and w.seq is not null`,
);

/** Reads what the ladder looks at; null where nothing is owed. The conversation's lock is held. */
export async function readSweptDebt(
  client: PoolClient,
  { conversation, now }: Locked,
): Promise<DebtFacts | null> {
  const [facts] = await run(client, readDebtStatement, [conversation.id, now]);
  return facts ?? null;
}

export interface SendFacts extends SweptSend {
  readonly justSwept: boolean;
  readonly openAttempt: OpenAttempt;
}

const readSendStatement = statement<SendFacts>(
  'read-swept-send',
  `select ${MS('n.now - o.not_before')} as "pastNotBeforeMs",
     case when o.state = 'sending' then ${MS('n.now - o.attempted_at')} end as "attemptAgeMs",
     exists (select from work_items w where w.send_id = o.id and w.kind = 'not-sent') as told,
     ${OPEN_ATTEMPT} as "openAttempt", ${JUST_SWEPT}
   from (select $2::timestamptz as now) n, outbox o ${ATTEMPT_PROOF}
   join conversations c on c.id = o.conversation_id
   where o.id = $1 and o.state in ('queued', 'leased', 'sending') and not o.awaiting_approval
     and (o.token is null or c.owed_since is null)`,
);

/** Reads a late send without a standing debt; null where it ended. The conversation's lock is held. */
export async function readSweptSend(
  client: PoolClient,
  sendId: string,
  { now }: Locked,
): Promise<SendFacts | null> {
  const [facts] = await run(client, readSendStatement, [sendId, now]);
  return facts ?? null;
}

const markReplay = statement(
  'mark-replay',
  `update conversations set replays = $2, replays_for = oldest_owed_at, replay_attempt = $3,
     swept_at = $4
   where id = $1`,
);

/**
 * Writes the replay down before the wake-up (T4): how many counted so far for this oldest message,
 * and the turn's attempt now. It counts once a turn has raised that attempt.
 */
export async function noteReplay(
  client: PoolClient,
  conversationId: string,
  replay: { readonly counted: number; readonly attempt: number; readonly at: string },
): Promise<void> {
  await run(client, markReplay, [conversationId, replay.counted, replay.attempt, replay.at]);
}

const markSwept = statement('mark-swept', `update conversations set swept_at = $2 where id = $1`);

/** Notes that the sweeper wakes this conversation, so that a second one does not within a minute. */
export async function noteSwept(
  client: PoolClient,
  conversationId: string,
  at: string,
): Promise<void> {
  await run(client, markSwept, [conversationId, at]);
}

const forgetReplay = statement(
  'forget-refused-replay',
  `update conversations set replay_attempt = null where id = $1 and swept_at = $2`,
);

/** A wake-up that Temporal refused is no replay, whoever begins the next turn (T4). */
export async function forgetRefusedReplay(
  executor: Parameters<typeof run>[0],
  conversationId: string,
  sweptAt: string,
): Promise<void> {
  await run(executor, forgetReplay, [conversationId, sweptAt]);
}
