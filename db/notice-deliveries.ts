import type { Pool, PoolClient } from 'pg';
import type { EscalationQueue } from '../domain/escalation';
import { RETRY_DELAYS_MS } from '../domain/limits';
import type { NoticeKind, NoticeLine } from '../domain/notices';
import { readClock } from './conversations';
import { closeRefusedCredentials, reportRefusedCredentials } from './credentials';
import { inTransaction, run, statement } from './database';
import { pauseIntegration } from './integrations';

/** The first try and one after each delay; a worker that dies in its try has used it up (IN4). */
const ATTEMPTS_MAX = RETRY_DELAYS_MS.length + 1;

/** A notice that one integration carries, claimed for one try. */
export interface NoticeDelivery {
  readonly noticeId: string;
  readonly integrationId: string;
  readonly attempt: number;
  readonly businessId: string | null;
  readonly queue: EscalationQueue;
  readonly createdAt: string;
  readonly kind: NoticeKind;
  readonly settings: unknown;
  readonly secret: string | null;
  readonly lines: readonly NoticeLine[];
}

const claimDeliveries = statement<NoticeDelivery>(
  'claim-notice-deliveries',
  `with n as (select coalesce($1::timestamptz, clock_timestamp()) as now),
   due as (
     select d.notice_id, d.integration_id from notice_deliveries d, n
     where d.state in ('queued', 'sending') and d.next_attempt_at <= n.now and d.attempts < $4
       and (d.lease_until is null or d.lease_until <= n.now)
     order by d.next_attempt_at limit $2 for update of d skip locked)
   update notice_deliveries d set state = 'sending', attempts = d.attempts + 1,
     lease_until = n.now + make_interval(secs => $3::float8 / 1000)
   from due, n, notices x, integrations i
   where d.notice_id = due.notice_id and d.integration_id = due.integration_id
     and x.id = d.notice_id and i.id = d.integration_id
   returning d.notice_id as "noticeId", d.integration_id as "integrationId",
     d.attempts as attempt, x.business_id as "businessId", x.queue,
     to_char(x.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
     i.kind, i.settings, i.secret,
     (select jsonb_agg(jsonb_build_object('kind', l.kind, 'count', l.count,
         'oldestAt', l.oldest) order by l.oldest, l.kind)
       from (select w.kind, count(distinct w.id) as count,
           to_char(min(w.opened_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as oldest
         from notice_items t join work_items w on w.id = t.work_item_id
         where t.notice_id = d.notice_id group by w.kind) l) as lines`,
);

const endPaused = statement(
  'end-deliveries-of-paused-integrations',
  `with n as (select coalesce($1::timestamptz, clock_timestamp()) as now)
   update notice_deliveries d set state = 'failed', last_error_code = 'integration-paused',
     ended_at = n.now, lease_until = null
   from n, integrations i
   where i.id = d.integration_id and i.paused_at is not null
     and (d.state = 'queued' or (d.state = 'sending' and d.lease_until <= n.now))`,
);

/** One try of a delivery. */
type DeliveryRef = Pick<NoticeDelivery, 'noticeId' | 'integrationId' | 'attempt'>;

const endLost = statement<DeliveryRef>(
  'end-lost-notice-deliveries',
  `with n as (select coalesce($1::timestamptz, clock_timestamp()) as now)
   update notice_deliveries d set state = 'failed', last_error_code = 'attempts_lost',
     ended_at = n.now, lease_until = null
   from n where d.state = 'sending' and d.lease_until <= n.now and d.attempts >= $2
   returning d.notice_id as "noticeId", d.integration_id as "integrationId",
     d.attempts as attempt`,
);

/** What a round of the deliveries has to carry, and what it gave up. */
export interface ClaimedDeliveries {
  readonly claimed: readonly NoticeDelivery[];
  readonly lost: readonly DeliveryRef[];
}

/**
 * Claims deliveries that are due, each for one try under a lease; the claim counts the try. What
 * waited for an integration that was paused meanwhile ends: once it is mended, the next level's
 * notice is the true one. What lost its worker at its last try ends too, and is returned as lost.
 */
export async function claimNoticeDeliveries(
  pool: Pool,
  options: { readonly limit: number; readonly leaseMs: number; readonly now: string | null },
): Promise<ClaimedDeliveries> {
  const { limit, leaseMs, now } = options;
  await run(pool, endPaused, [now]);
  const lost = await run(pool, endLost, [now, ATTEMPTS_MAX]);
  const claimed = await run(pool, claimDeliveries, [now, limit, leaseMs, ATTEMPTS_MAX]);
  return { claimed, lost };
}

const endStatement = statement<{ noticeId: string }>(
  'end-notice-delivery',
  `update notice_deliveries set state = $4, last_error_code = $5, lease_until = null,
     ended_at = coalesce($6::timestamptz, clock_timestamp())
   where notice_id = $1 and integration_id = $2 and attempts = $3 and state = 'sending'
   returning notice_id as "noticeId"`,
);

export interface DeliveryEnd {
  readonly state: 'sent' | 'failed';
  readonly code: string | null;
  /** The integration's credentials were refused: it alone is paused (IN4). */
  readonly pauses: boolean;
}

/** Records how a delivery ended; a try that lost its lease records nothing. */
export async function endNoticeDelivery(
  pool: Pool,
  { noticeId, integrationId, attempt }: DeliveryRef,
  end: DeliveryEnd,
  now: string | null,
): Promise<void> {
  const values = [noticeId, integrationId, attempt, end.state, end.code, now];
  await inTransaction(pool, async (client: PoolClient) => {
    const ended = await run(client, endStatement, values);
    if (ended.length === 0 || !end.pauses) return;
    const { now: at } = await readClock(client, now);
    await pauseIntegration(client, integrationId, end.code ?? 'unknown_code', at);
  });
}

const requeue = statement(
  'requeue-notice-delivery',
  `update notice_deliveries set state = 'queued', last_error_code = $4, lease_until = null,
     next_attempt_at = coalesce($6::timestamptz, clock_timestamp())
       + make_interval(secs => $5::float8 / 1000)
   where notice_id = $1 and integration_id = $2 and attempts = $3 and state = 'sending'`,
);

/** Puts a delivery back for another try `delayMs` from now. */
export async function requeueNoticeDelivery(
  pool: Pool,
  { noticeId, integrationId, attempt }: DeliveryRef,
  retry: { readonly code: string; readonly delayMs: number },
  now: string | null,
): Promise<void> {
  const { code, delayMs } = retry;
  await run(pool, requeue, [noticeId, integrationId, attempt, code, delayMs, now]);
}

/** The subject of the one item about the mail server's login, which belongs to the installation. */
const MAIL_LOGIN = 'smtp';

/**
 * The mail server refused the installation's login: no business's integration is to blame, so none
 * is paused, and one item tells those who run the system (IN4).
 */
export async function reportRefusedMailLogin(
  pool: Pool,
  code: string,
  now: string | null,
): Promise<void> {
  await inTransaction(pool, async (client: PoolClient) => {
    const { now: at } = await readClock(client, now);
    await reportRefusedCredentials(client, {
      businessId: null,
      subjectId: MAIL_LOGIN,
      code,
      explanation: `The mail server refuses the login of this installation (code ${code}). No notice leaves by e-mail until SMTP_URL is mended.`,
      at,
    });
  });
}

/** A mail was accepted, so the login works: the item about it closes, where one is open (IN4). */
export async function closeRefusedMailLogin(pool: Pool, now: string | null): Promise<void> {
  await inTransaction(pool, async (client: PoolClient) => {
    const { now: at } = await readClock(client, now);
    await closeRefusedCredentials(client, MAIL_LOGIN, { by: 'notice-delivery', at });
  });
}
