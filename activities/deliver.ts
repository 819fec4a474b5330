import { readAgenda } from '../db/agenda';
import { recordNotAccepted, recordUnknown } from '../db/attempts';
import { passGate, type Permit } from '../db/gate';
import { claimSend } from '../db/outbox';
import { recordAcceptance, writeSentMarker, type CallStamps } from '../db/record';
import { isId } from '../domain/ids';
import type { Agenda } from '../domain/agenda';
import { CALL_START_LIMIT_MS, CALL_TIMEOUT_MS, LEASE_MS } from '../domain/limits';
import type { SendOutcome } from '../domain/sending';
import type { DeliverResult, SendRef } from './contract';
import type { ActivityDependencies } from './dependencies';

/**
 * Delivers one send (S3, C4, T8): claim, gate, one provider call, sent marker, record. Between the
 * provider's acceptance and the marker stands nothing that can fail. Every ending that leaves the
 * row open is found again through the agenda.
 */
export async function deliver(
  dependencies: ActivityDependencies,
  { conversationId, sendId }: SendRef,
): Promise<DeliverResult> {
  if (!isId('snd', sendId)) throw new Error('deliver was given an id of another kind');
  const { pool, workerId } = dependencies;
  const now = await dependencies.clock.now();
  const held = await claimSend(pool, { sendId, leaseOwner: workerId, leaseMs: LEASE_MS, now });
  if (held === null) return fresh(dependencies, conversationId);
  await dependencies.reach('deliver:claimed', sendId);
  const sender = dependencies.senders[held.channel];
  const gate = await passGate(pool, held, {
    replyWindowMs: sender.replyWindowMs,
    now: await dependencies.clock.now(),
  });
  if (gate.kind === 'refused') return recordedOnly(gate.agenda);
  const permittedMonotonicMs = performance.now();
  await dependencies.reach('deliver:permitted', sendId);
  return call(dependencies, gate.permit, permittedMonotonicMs);
}

/** Another worker has the send, or it is not its time: what is due says the agenda. */
async function fresh(
  dependencies: ActivityDependencies,
  conversationId: string,
): Promise<DeliverResult> {
  const now = await dependencies.clock.now();
  const agenda = await readAgenda(dependencies.pool, conversationId, now);
  if (agenda === null) throw new Error('a delivered conversation does not exist');
  return { kind: 'recorded', agenda };
}

async function call(
  dependencies: ActivityDependencies,
  permit: Permit,
  permittedMonotonicMs: number,
): Promise<DeliverResult> {
  const sender = dependencies.senders[permit.channel];
  const sendStartedAt = new Date().toISOString();
  const startedMonotonicMs = performance.now();
  if (startedMonotonicMs - permittedMonotonicMs > CALL_START_LIMIT_MS) {
    // Too long since the gate's look at the facts: nothing was written, so nothing left.
    return notAccepted(dependencies, permit, {
      kind: 'not-accepted',
      code: 'call_not_started',
      retry: 'back-off',
      retryAfterMs: null,
      pausesAccount: false,
      optedOut: false,
    });
  }
  const outcome = await sender.send(permit, { timeoutMs: CALL_TIMEOUT_MS });
  const sendMs = Math.round(performance.now() - startedMonotonicMs);
  switch (outcome.kind) {
    case 'accepted':
      return accepted(dependencies, permit, outcome.providerMessageId, {
        sendStartedAt,
        sendMs,
        acknowledgedAt: new Date().toISOString(),
      });
    case 'not-accepted':
      return notAccepted(dependencies, permit, outcome);
    case 'unknown':
      return recordedOnly(
        await recordUnknown(
          dependencies.pool,
          permit,
          outcome.code,
          await dependencies.clock.now(),
        ),
      );
  }
}

function recordedOnly(agenda: Agenda): DeliverResult {
  return { kind: 'recorded', agenda };
}

async function notAccepted(
  dependencies: ActivityDependencies,
  permit: Permit,
  outcome: Extract<SendOutcome, { kind: 'not-accepted' }>,
): Promise<DeliverResult> {
  const draw = { random: Math.random(), now: await dependencies.clock.now() };
  dependencies.log.warn(
    { sendId: permit.sendId, attemptId: permit.attemptId, code: outcome.code },
    'the provider did not accept a send',
  );
  return recordedOnly(await recordNotAccepted(dependencies.pool, permit, outcome, draw));
}

async function accepted(
  dependencies: ActivityDependencies,
  permit: Permit,
  providerMessageId: string | null,
  stamps: CallStamps & { readonly acknowledgedAt: string },
): Promise<DeliverResult> {
  const { markerPool, log } = dependencies;
  const ids = { sendId: permit.sendId, attemptId: permit.attemptId };
  let acceptedAt = stamps.acknowledgedAt;
  try {
    await dependencies.reach('deliver:accepted', permit.sendId);
    acceptedAt = await writeSentMarker(
      markerPool,
      { attemptId: permit.attemptId, providerMessageId },
      await dependencies.clock.now(),
    );
    await dependencies.reach('deliver:marked', permit.sendId);
    const acceptance = { ...ids, providerMessageId, evidence: 'response', acceptedAt } as const;
    const { agenda, latency } = await recordAcceptance(
      markerPool,
      permit.conversationId,
      acceptance,
      {
        stamps,
        replyWindowMs: dependencies.senders[permit.channel].replyWindowMs,
        now: await dependencies.clock.now(),
      },
    );
    // A burst gives a record for each of its messages and one sample, by their common send (L1).
    for (const record of latency) {
      log.info({ ...record, send_id: permit.sendId, duplicate: false }, 'latency');
    }
    return recordedOnly(agenda);
  } catch (error) {
    // The lead has the message. Temporal holds the acceptance until Postgres takes it (T8).
    log.error({ ...ids, error: String(error) }, 'an accepted send could not be recorded yet');
    return {
      kind: 'unrecorded',
      acceptance: { ...ids, providerMessageId, evidence: 'response', acceptedAt },
    };
  }
}
