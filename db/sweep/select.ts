import type { Pool } from 'pg';
import { MARKER_UNRECORDED_MS, SWEEP_AFTER_MS } from '../../domain/sweep';
import { run, statement } from '../database';

/** Where a page ended, so that the next one of the round goes on behind it. */
export interface Cursor {
  readonly at: string;
  readonly id: string;
}

/** A conversation that the sweep looks at, with its place in the round. */
export interface Suspect {
  readonly conversationId: string;
  readonly cursor: Cursor;
}

/** Before everything that was ever owed or planned. */
export const START: Cursor = { at: '-infinity', id: '' };

interface SuspectRow {
  readonly conversationId: string;
  readonly at: string;
}

/**
 * Debts older than three minutes, the oldest first, by the partial index over debts. What rung 1
 * leaves alone for certain is left out here; the ladder itself decides under the lock.
 */
const findDebts = statement<SuspectRow>(
  'find-overdue-debts',
  `with n as (select coalesce($1::timestamptz, clock_timestamp()) as now)
   select c.id as "conversationId", c.overdue_from::text as at
   from n, conversations c
   where c.owed_since is not null and (c.overdue_from, c.id) > ($2::timestamptz, $3)
     and c.overdue_from < n.now - make_interval(secs => $5::float8 / 1000)
     and (c.overdue_from <= n.now - interval '1 hour'
       or not exists (select from turn_markers k where k.conversation_id = c.id
         and k.thrown_at is null and k.started_at > n.now - interval '10 minutes'))
   order by c.overdue_from, c.id limit $4`,
);

/** Finds the next page of overdue debts behind `after`. */
export async function findOverdueDebts(
  pool: Pool,
  page: { readonly after: Cursor; readonly limit: number; readonly now: string | null },
): Promise<Suspect[]> {
  const { after, limit, now } = page;
  const values = [now, after.at, after.id, limit, SWEEP_AFTER_MS];
  return (await run(pool, findDebts, values)).map(toSuspect);
}

function toSuspect({ conversationId, at }: SuspectRow): Suspect {
  return { conversationId, cursor: { at, id: conversationId } };
}

export interface LateSend extends Suspect {
  readonly sendId: string;
}

/** Sends three minutes past their notBefore that answer no standing debt; drafts wait for a person. */
const findSends = statement<SuspectRow & { sendId: string }>(
  'find-late-sends',
  `with n as (select coalesce($1::timestamptz, clock_timestamp()) as now)
   select o.conversation_id as "conversationId", o.id as "sendId", o.not_before::text as at
   from n, outbox o join conversations c on c.id = o.conversation_id
   where o.state in ('queued', 'leased', 'sending') and not o.awaiting_approval
     and (o.not_before, o.id) > ($2::timestamptz, $3)
     and o.not_before < n.now - make_interval(secs => $5::float8 / 1000)
     and (o.token is null or c.owed_since is null)
     and (o.state = 'sending' or o.not_before >= n.now - interval '10 minutes'
       or not exists (select from work_items w where w.send_id = o.id and w.kind = 'not-sent'))
   order by o.not_before, o.id limit $4`,
);

/** Finds the next page of late sends behind `after`. */
export async function findLateSends(
  pool: Pool,
  page: { readonly after: Cursor; readonly limit: number; readonly now: string | null },
): Promise<LateSend[]> {
  const { after, limit, now } = page;
  const rows = await run(pool, findSends, [now, after.at, after.id, limit, SWEEP_AFTER_MS]);
  return rows.map(({ conversationId, sendId, at }) => {
    return { conversationId, sendId, cursor: { at, id: sendId } };
  });
}

export interface SendOf {
  readonly conversationId: string;
  readonly sendId: string;
}

const findExpired = statement<SendOf>(
  'find-expired-sends',
  `with n as (select coalesce($1::timestamptz, clock_timestamp()) as now)
   select o.conversation_id as "conversationId", o.id as "sendId"
   from n, outbox o
   where o.state in ('queued', 'leased')
     and o.not_before <= n.now - interval '60 seconds'
     and o.expires_at <= n.now - interval '60 seconds'
     and (o.state = 'queued' or o.lease_until <= n.now)
   order by o.expires_at limit $2`,
);

/** Sends, drafts included, that expired a minute ago and that no workflow ended (T4, C3). */
export function findExpiredSends(
  pool: Pool,
  options: { readonly limit: number; readonly now: string | null },
): Promise<SendOf[]> {
  return run(pool, findExpired, [options.now, options.limit]);
}

/** An acceptance that a sent marker proves and no record follows (T8). */
export interface UnrecordedMarker extends SendOf {
  readonly attemptId: string;
  readonly providerMessageId: string | null;
  readonly acceptedAt: string;
}

/**
 * A day of markers is looked at: what is older was found by one of the rounds since. The index over
 * their time keeps this apart from how many there ever were.
 */
const findMarkers = statement<UnrecordedMarker>(
  'find-unrecorded-markers',
  `with n as (select coalesce($1::timestamptz, clock_timestamp()) as now)
   select t.conversation_id as "conversationId", t.send_id as "sendId",
     k.attempt_id as "attemptId", k.provider_message_id as "providerMessageId",
     k.accepted_at::text as "acceptedAt"
   from n, sent_markers k join send_attempts t on t.id = k.attempt_id
   where k.accepted_at < n.now - make_interval(secs => $3::float8 / 1000)
     and k.accepted_at > n.now - interval '1 day'
     and not exists (select from send_outcomes r
       where r.attempt_id = k.attempt_id and r.outcome = 'accepted')
   order by k.accepted_at limit $2`,
);

/** Sent markers older than a minute without their record. */
export function findUnrecordedMarkers(
  pool: Pool,
  options: { readonly limit: number; readonly now: string | null },
): Promise<UnrecordedMarker[]> {
  return run(pool, findMarkers, [options.now, options.limit, MARKER_UNRECORDED_MS]);
}
