import type { Pool, PoolClient } from 'pg';
import {
  explainSweep,
  sweepDebt,
  sweepSend,
  type SendVerdict,
  type SweepReason,
  type SweepVerdict,
} from '../../domain/sweep';
import type { TakeoverActor } from '../../domain/takeover';
import { refreshAgenda } from '../agenda';
import { reviewAttempt } from '../attempts';
import type { Locked, LockedConversation } from '../conversations';
import { inTransaction } from '../database';
import type { WakeTarget } from '../due';
import { expireSendOf } from '../expiry';
import { handOver } from '../handover';
import { fileAcceptance } from '../record';
import { endTraces } from '../turns';
import { openWorkItem } from '../work-items';
import {
  noteReplay,
  noteSwept,
  readSweptDebt,
  readSweptSend,
  tryLockConversation,
  type DebtFacts,
  type OpenAttempt,
} from './facts';
import type { SendOf, UnrecordedMarker } from './select';

const SWEEPER: TakeoverActor = { kind: 'system', ref: 'sweeper' };

/** Notices of one round wait so long, so that an outage makes one per business (T4). */
const NOTICE_DELAY_MS = 30_000;

/** What one transaction of the sweep did, for the log and the wake-up that follow its commit. */
export interface Swept {
  readonly did:
    'passed' | 'wake' | 'replay' | 'review' | 'recorded' | 'hand-over' | 'not-sent' | 'expired';
  readonly level: SweepVerdict['level'];
  readonly rung: number | null;
  readonly reasons: readonly SweepReason[];
  /** Whom to wake behind the commit; null where nobody is. */
  readonly wake: { readonly target: WakeTarget; readonly at: string } | null;
}

const PASSED: Swept = { did: 'passed', level: 'silent', rung: null, reasons: [], wake: null };

/**
 * Takes one overdue debt down the ladder, in a transaction of its own (T4). Who holds the
 * conversation's lock is at work on it and is left alone.
 */
export function sweepOneDebt(
  pool: Pool,
  conversationId: string,
  now: string | null,
): Promise<Swept> {
  return inTransaction(pool, async (client) => {
    const locked = await tryLockConversation(client, conversationId, now);
    const facts = locked === null ? null : await readSweptDebt(client, locked);
    if (locked === null || facts === null) return PASSED;
    const verdict = sweepDebt(facts);
    if (verdict === null) return PASSED;
    const swept = await carryOut(client, { locked, facts, verdict });
    if (swept.did !== 'passed' && swept.wake === null) {
      await refreshAgenda(client, conversationId, now);
    }
    return swept;
  });
}

interface Judged {
  readonly locked: Locked;
  readonly facts: DebtFacts;
  readonly verdict: SweepVerdict;
}

async function carryOut(client: PoolClient, judged: Judged): Promise<Swept> {
  const { locked, facts, verdict } = judged;
  const { conversation, now: at } = locked;
  const { action, level, rung, reasons } = verdict;
  const done = { level, rung, reasons, wake: null };
  const wake = { target: conversation, at };
  switch (action.kind) {
    case 'leave':
      return PASSED;
    case 'wake':
      if (facts.justSwept) return PASSED;
      await noteSwept(client, conversation.id, at);
      return { ...done, did: 'wake', wake };
    case 'replay': {
      if (facts.justSwept) return PASSED;
      const { replays: counted, attempt } = facts;
      await noteReplay(client, conversation.id, { counted, attempt, at });
      return { ...done, did: 'replay', wake };
    }
    case 'review':
      return { ...done, ...(await settleAttempt(client, locked, facts.openAttempt)) };
    case 'hand-over':
      await handOver(client, conversation, {
        reason: action.reason,
        explanation: explainSweep(reasons),
        actor: SWEEPER,
        noticeDelayMs: NOTICE_DELAY_MS,
        at,
      });
      await endTraces(client, conversation.id, conversation.lastInboundSeq, 'handed-over');
      return { ...done, did: 'hand-over' };
  }
}

/** An attempt that nobody settled: what proves it files it, and else a person reviews it (C6). */
async function settleAttempt(
  client: PoolClient,
  locked: Locked,
  open: OpenAttempt | null,
): Promise<Pick<Swept, 'did' | 'level'>> {
  if (open === null) throw new Error('an unsettled attempt has no send');
  const { sendId, attemptId } = open;
  if (open.provenAcceptedAt !== null) {
    await fileAcceptance(client, locked.conversation, {
      sendId,
      attemptId,
      providerMessageId: open.provenProviderMessageId,
      evidence: open.provenBy,
      acceptedAt: open.provenAcceptedAt,
      at: locked.now,
    });
    return { did: 'recorded', level: 'warn' };
  }
  await reviewAttempt(client, locked, { sendId, attemptId, code: 'unsettled', evidence: 'sweep' });
  return { did: 'review', level: 'error' };
}

/** Takes one late send without a standing debt, in a transaction of its own (T4). */
export function sweepOneSend(pool: Pool, late: SendOf, now: string | null): Promise<Swept> {
  const { conversationId, sendId } = late;
  return inTransaction(pool, async (client) => {
    const locked = await tryLockConversation(client, conversationId, now);
    const facts = locked === null ? null : await readSweptSend(client, sendId, locked);
    if (locked === null || facts === null) return PASSED;
    const { action, level } = sweepSend(facts);
    const done = { level, rung: null, reasons: [], wake: null };
    if (action.kind === 'leave' || (action.kind === 'wake' && facts.justSwept)) return PASSED;
    if (action.kind === 'wake') {
      await noteSwept(client, conversationId, locked.now);
      return { ...done, did: 'wake', wake: { target: locked.conversation, at: locked.now } };
    }
    const did = await endLateSend(client, locked, { sendId, action, open: facts.openAttempt });
    await refreshAgenda(client, conversationId, now);
    return { ...done, ...did };
  });
}

async function endLateSend(
  client: PoolClient,
  locked: Locked,
  late: {
    readonly sendId: string;
    readonly action: SendVerdict['action'];
    readonly open: OpenAttempt;
  },
): Promise<Pick<Swept, 'did' | 'level'>> {
  if (late.action.kind === 'review') return settleAttempt(client, locked, late.open);
  const { conversation, now: at } = locked;
  await openWorkItem(client, {
    businessId: conversation.businessId,
    conversationId: conversation.id,
    kind: 'not-sent',
    reason: 'not_sent',
    explanation:
      'A message is more than ten minutes late and has not left. It still leaves by itself when it can.',
    sendId: late.sendId,
    noticeDelayMs: NOTICE_DELAY_MS,
    at,
  });
  return { did: 'not-sent', level: 'error' };
}

/** Ends a send that expired while no workflow ended it (C3, T4). */
export function sweepExpired(pool: Pool, expired: SendOf, now: string | null): Promise<Swept> {
  const handedOverBy = { actor: SWEEPER, noticeDelayMs: NOTICE_DELAY_MS };
  return changeLocked(
    pool,
    expired.conversationId,
    now,
    async (client, { conversation, now: at }) => {
      const ending = { sendId: expired.sendId, at, handedOverBy };
      const ended = await expireSendOf(client, conversation, ending);
      return ended ? { ...PASSED, did: 'expired', level: 'error' } : PASSED;
    },
  );
}

/**
 * Records an acceptance that a sent marker proves and nobody recorded (T8): it settles what it
 * answered where its attempt is still the send's current one, and stays as evidence where it is not.
 */
export function sweepMarker(
  pool: Pool,
  marker: UnrecordedMarker,
  now: string | null,
): Promise<Swept> {
  return changeLocked(
    pool,
    marker.conversationId,
    now,
    async (client, { conversation, now: at }) => {
      const { sendId, attemptId, providerMessageId, acceptedAt } = marker;
      const proof = { providerMessageId, acceptedAt, evidence: 'marker', at } as const;
      await fileAcceptance(client, conversation, { sendId, attemptId, ...proof });
      return { ...PASSED, did: 'recorded', level: 'warn' };
    },
  );
}

async function changeLocked(
  pool: Pool,
  conversationId: string,
  now: string | null,
  change: (
    client: PoolClient,
    locked: { readonly conversation: LockedConversation; readonly now: string },
  ) => Promise<Swept>,
): Promise<Swept> {
  return inTransaction(pool, async (client) => {
    const locked = await tryLockConversation(client, conversationId, now);
    if (locked === null) return PASSED;
    const swept = await change(client, locked);
    if (swept.did !== 'passed') await refreshAgenda(client, conversationId, now);
    return swept;
  });
}
