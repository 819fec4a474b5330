import type { Pool } from 'pg';
import { ESCALATION_QUEUES, type EscalationQueue } from '../domain/escalation';
import { NOTICE_GATHER_MS, NOTICE_KINDS, OPERATOR_QUEUES } from '../domain/notices';
import { run, statement, type Executor } from './database';
import { newId } from './new-id';

/** What one notice would tell: a queue's escalations, of one business or of the installation. */
interface NoticeGroup {
  readonly businessId: string | null;
  readonly queue: EscalationQueue;
}

/**
 * Escalations that no notice tells yet, of items that still wait: whoever acted needs no notice.
 * An item's last levels are enough, because one notice tells all that were reached meanwhile. The
 * first whose time has come takes the others of its queue with it. Only items with a level that is
 * not marked as told are looked at, so history costs nothing: the difference stands in an index and
 * in the planner's statistics, and `offset 0` keeps the planner from reading all of `notice_items`.
 */
const UNTOLD = `
  select e.work_item_id, e.level, e.business_id, e.queue, e.notify_at <= n.now as due
  from n, work_items w cross join lateral (
    select l.* from (select * from escalations r where r.work_item_id = w.id
      order by r.level desc limit 4) l
    where not exists (select from notice_items i
      where i.work_item_id = l.work_item_id and i.level = l.level) offset 0) e
  where w.next_escalation_at is not null and w.level - w.told_level > 0`;

/**
 * The last notice of a queue, read from the end of the unique index. Null is no value that `=`
 * finds, and the index gives its order by all its columns alone: hence two branches, and these keys.
 */
function lastNotice(business: string, queue: string): string {
  const branch = (found: string) => `(select x.number, x.created_at as at from notices x
    where ${found} and x.queue = ${queue}
    order by x.business_id desc, x.queue desc, x.number desc limit 1)`;
  return `${branch(`x.business_id = ${business}`)} union all
    ${branch(`x.business_id is null and ${business} is null`)}`;
}

/**
 * The look also marks items of which nothing is left to tell, up to the level whose escalation it
 * saw, not the one that the item reached meanwhile. The mark only spares work: the keys of
 * `notice_items` decide what was told. An item that somebody changes just now is left to the next
 * look, so this never waits for a lock.
 */
const findGroups = statement<NoticeGroup>(
  'find-notice-groups',
  `with n as (select coalesce($1::timestamptz, clock_timestamp()) as now), untold as (${UNTOLD}),
   marked as (
     update work_items w set told_level = t.level from (
       select o.id, seen.level from work_items o cross join lateral (
         select max(l.level) as level from escalations l where l.work_item_id = o.id) seen
       where o.next_escalation_at is not null and o.level - o.told_level > 0
         and seen.level > o.told_level
         and not exists (select from untold u where u.work_item_id = o.id)
       for update of o skip locked) t
     where w.id = t.id)
   select g.business_id as "businessId", g.queue
   from (select distinct u.business_id, u.queue from untold u where u.due) g, n
   where not exists (select from (${lastNotice('g.business_id', 'g.queue')}) x
     where x.at > n.now - make_interval(secs => $2::float8 / 1000))`,
);

/**
 * Without `queues`, or with null, an integration wants every queue. Settings that nobody can use
 * get a delivery too: its end says so, where silence would look as if nothing had happened.
 */
const WANTS_QUEUE = `coalesce(i.settings -> 'queues' ? made.queue or i.settings -> 'queues' = '[]'
  or not i.settings -> 'queues' <@ to_jsonb($8::text[]), true)`;

/**
 * Two loops that write the same notice meet the number's unique index, and the second one writes
 * nothing: its escalations stand in the first one's, or wait for the next.
 */
const writeNotice = statement<{ id: string }>(
  'write-notice',
  `with n as (select coalesce($1::timestamptz, clock_timestamp()) as now),
   untold as (${UNTOLD} and e.business_id is not distinct from $4 and e.queue = $5),
   last as (${lastNotice('$4::text', '$5')}),
   made as (
     insert into notices (id, business_id, queue, number, created_at)
     select $3, $4, $5, coalesce(last.number, 0) + 1, n.now from n left join last on true
     where exists (select from untold u where u.due)
       and (last.at is null or last.at <= n.now - make_interval(secs => $2::float8 / 1000))
     on conflict do nothing returning *),
   told as (
     insert into notice_items (work_item_id, level, notice_id, business_id)
     select u.work_item_id, u.level, made.id, made.business_id from untold u, made),
   carried as (
     insert into notice_deliveries (notice_id, integration_id, state, next_attempt_at)
     select made.id, i.id, 'queued', made.created_at from made join integrations i
       on i.kind = any($6) and i.paused_at is null
         and (i.business_id is not distinct from made.business_id
           or (i.business_id is null and made.queue = any($7)))
         and ${WANTS_QUEUE})
   select id from made`,
);

/**
 * Writes the notices that are due, at most one per business and queue in 30 s, with a delivery for
 * each integration that carries them (C7, T4, T6). It runs after the commit of what it tells, so a
 * handoff has paused before anybody hears of it. Any number of loops may run it at once, and it
 * costs next to nothing while nobody waits to be told. Returns how many notices this call wrote.
 */
export async function writeNotices(executor: Executor, now: string | null): Promise<number> {
  const groups = await run(executor, findGroups, [now, NOTICE_GATHER_MS]);
  let written = 0;
  for (const { businessId, queue } of groups) {
    const made = await run(executor, writeNotice, [
      now,
      NOTICE_GATHER_MS,
      newId('ntc'),
      businessId,
      queue,
      NOTICE_KINDS,
      OPERATOR_QUEUES,
      ESCALATION_QUEUES,
    ]);
    written += made.length;
  }
  return written;
}

/** A notice of one business, as its console hears of it: ids and a number only. */
export interface NoticeHint {
  readonly id: string;
  readonly businessId: string;
  readonly queue: EscalationQueue;
  readonly items: number;
  /** Microseconds since the epoch, as digits: a `Date` would drop the microseconds. */
  readonly createdMicros: string;
}

const HINT = `x.id, x.business_id as "businessId", x.queue,
  (select count(distinct i.work_item_id) from notice_items i where i.notice_id = x.id) as items,
  (extract(epoch from x.created_at) * 1000000)::bigint::text as "createdMicros"`;

const readRecent = statement<NoticeHint>(
  'read-recent-notices',
  `select ${HINT} from notices x
   where x.business_id is not null
     and x.created_at > clock_timestamp() - make_interval(secs => $1::float8 / 1000)
   order by x.created_at, x.id`,
);

/** The notices of every business written in the last `lookBackMs`, the oldest first. */
export function readRecentNotices(pool: Pool, lookBackMs: number): Promise<NoticeHint[]> {
  return run(pool, readRecent, [lookBackMs]);
}

const readSince = statement<NoticeHint>(
  'read-notices-since',
  `select ${HINT} from notices x
   where x.business_id = $1
     and x.created_at > to_timestamp($2::numeric / 1000000) - make_interval(secs => $3::float8 / 1000)
     and x.created_at > clock_timestamp() - make_interval(secs => $4::float8 / 1000)
   order by x.created_at, x.id`,
);

/** One business's notices since an instant, with a margin before it, and never older than allowed. */
export function readNoticesSince(
  pool: Pool,
  since: {
    readonly businessId: string;
    readonly sinceMicros: string;
    readonly marginMs: number;
    readonly replayMs: number;
  },
): Promise<NoticeHint[]> {
  const { businessId, sinceMicros, marginMs, replayMs } = since;
  return run(pool, readSince, [businessId, sinceMicros, marginMs, replayMs]);
}
