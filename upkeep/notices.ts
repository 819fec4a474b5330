import type { Pool } from 'pg';
import type { Reach } from '../config/failpoints';
import type { Clock } from '../db/clock';
import { escalateOverdue } from '../db/escalations';
import {
  claimNoticeDeliveries,
  closeRefusedMailLogin,
  endNoticeDelivery,
  reportRefusedMailLogin,
  requeueNoticeDelivery,
  type NoticeDelivery,
} from '../db/notice-deliveries';
import { writeNotices } from '../db/notices';
import { retryDelayMs } from '../domain/retry';
import { NOTICE_SEND_DEADLINE_MS, type NoticeOutcome, type NoticeTransports } from './notify/port';
import type { UpkeepLog } from './waker';

/** An escalation that no workflow carried out by then is carried out here, within 60 s (INV-9). */
const ESCALATE_AFTER_MS = 55_000;
const ESCALATIONS_PER_ROUND_MAX = 100;

const DELIVERIES_PER_ROUND_MAX = 10;
/**
 * A try has ended by the transports' deadline, and nothing of it leaves afterwards. The rest of the
 * lease is for a slow process and for recording the end, so no second try meets a living first one.
 */
const DELIVERY_LEASE_MS = 2 * NOTICE_SEND_DEADLINE_MS;

export interface NoticeDependencies {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: UpkeepLog;
  /** Says that a named point was reached; in production nobody listens. */
  readonly reach?: Reach;
}

/**
 * One round of the deadlines: carries out escalations that no workflow did, and writes the notices
 * that are due (C7, T4, T6). Postgres alone; it runs every second, in several processes. An item
 * that cannot be escalated is logged and keeps nobody else's notice waiting.
 */
export async function noticesOnce(
  dependencies: NoticeDependencies,
): Promise<{ escalated: number; written: number }> {
  const { pool, clock, log } = dependencies;
  const now = await clock.now();
  const { done, failed } = await escalateOverdue(pool, {
    olderThanMs: ESCALATE_AFTER_MS,
    limit: ESCALATIONS_PER_ROUND_MAX,
    now,
  });
  for (const { workItemId, error } of failed) {
    log.error({ workItemId, error }, 'an item could not be escalated');
  }
  const written = await writeNotices(pool, now);
  if (written > 0) await dependencies.reach?.('notice:written', String(written));
  return { escalated: done, written };
}

export interface NoticeDeliveryDependencies extends NoticeDependencies {
  readonly transports: NoticeTransports;
  /** Where the console stands, for the link in every notice. */
  readonly consoleUrl: string;
}

/**
 * One round of the deliveries: each due notice is handed to its integration's transport once;
 * what was not accepted comes again after 1, 5, 30 and 120 s and then has failed (IN4). Apart from
 * `noticesOnce`, so that a slow mail server keeps no deadline waiting. Returns how many it tried.
 */
export async function deliverNoticesOnce(
  dependencies: NoticeDeliveryDependencies,
): Promise<number> {
  const { pool, clock, log } = dependencies;
  const { claimed, lost } = await claimNoticeDeliveries(pool, {
    limit: DELIVERIES_PER_ROUND_MAX,
    leaseMs: DELIVERY_LEASE_MS,
    now: await clock.now(),
  });
  for (const delivery of lost) {
    log.error(delivery, 'a notice was given up: its last try lost its worker');
  }
  await Promise.all(claimed.map((delivery) => deliverAlone(dependencies, delivery)));
  return claimed.length;
}

/** One that fails stops no other: its lease ends, and then it is tried again. */
async function deliverAlone(
  dependencies: NoticeDeliveryDependencies,
  delivery: NoticeDelivery,
): Promise<void> {
  const { noticeId, integrationId } = delivery;
  try {
    await deliverOne(dependencies, delivery);
  } catch (error) {
    const about = { noticeId, integrationId, error };
    dependencies.log.error(about, 'what became of a notice was not recorded');
  }
}

async function deliverOne(
  dependencies: NoticeDeliveryDependencies,
  delivery: NoticeDelivery,
): Promise<void> {
  const { clock, transports, consoleUrl, reach } = dependencies;
  await reach?.('notice:claimed', delivery.noticeId);
  const outcome = await transports[delivery.kind]({ ...delivery, consoleUrl }, delivery);
  const now = await clock.now();
  if (outcome.kind === 'accepted') await recordSent(dependencies, delivery, now);
  else await recordFailure(dependencies, { delivery, outcome, now });
}

async function recordSent(
  { pool, reach }: NoticeDeliveryDependencies,
  delivery: NoticeDelivery,
  now: string | null,
): Promise<void> {
  const { noticeId, kind } = delivery;
  await reach?.('notice:sent', noticeId);
  await endNoticeDelivery(pool, delivery, { state: 'sent', code: null, pauses: false }, now);
  if (kind === 'notice-email') await closeRefusedMailLogin(pool, now);
  await reach?.('notice:ended', noticeId);
}

type FailedOutcome = Exclude<NoticeOutcome, { kind: 'accepted' }>;

async function recordFailure(
  { pool, log }: NoticeDeliveryDependencies,
  failure: {
    readonly delivery: NoticeDelivery;
    readonly outcome: FailedOutcome;
    readonly now: string | null;
  },
): Promise<void> {
  const { delivery, outcome, now } = failure;
  const { noticeId, integrationId, attempt } = delivery;
  const { code } = outcome;
  if (outcome.kind === 'login-refused') {
    log.error({ noticeId, attempt, code }, 'the mail server refuses the login of SMTP_URL');
    await reportRefusedMailLogin(pool, code, now);
  }
  const delayMs = nextTryMs(outcome, attempt);
  if (delayMs !== null) {
    await requeueNoticeDelivery(pool, delivery, { code, delayMs }, now);
    return;
  }
  log.error({ noticeId, integrationId, attempt, code }, 'a notice was not delivered');
  const pauses = outcome.kind === 'not-accepted' && outcome.pausesAccount;
  await endNoticeDelivery(pool, delivery, { state: 'failed', code, pauses }, now);
}

/**
 * Null where no other try follows. An unknown outcome is tried again: its id says it is the same.
 * So is a refused login, which a person mends outside.
 */
function nextTryMs(outcome: FailedOutcome, attempt: number): number | null {
  if (outcome.kind !== 'not-accepted') return retryDelayMs(attempt, Math.random(), null);
  if (outcome.retry === 'never' || outcome.pausesAccount) return null;
  return retryDelayMs(attempt, Math.random(), outcome.retryAfterMs);
}
