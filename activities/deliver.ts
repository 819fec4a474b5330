import { readAgenda } from '../db/agenda';
import { recordNotAccepted, recordUnknown } from '../db/attempts';
import { keyedHash } from '../db/digest';
import { passGate, type Permit } from '../db/gate';
import { claimSend } from '../db/outbox';
import { recordAcceptance, writeSentMarker, type CallStamps } from '../db/record';
import { isId } from '../domain/ids';
import type { Agenda } from '../domain/agenda';
import { CALL_START_LIMIT_MS, CALL_TIMEOUT_MS, LEASE_MS } from '../domain/limits';
import type { SendOutcome } from '../domain/sending';
import type { DeliverResult, SendRef } from './contract';
import type { ActivityDependencies } from './dependencies';
import { planningOf, recipientZonesOf, type Planning } from './recipient-zones';

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
    // Only what the business starts keeps the recipient's quiet hours (S6).
    recipient:
      held.purpose === 'follow-up' ? await recipientZonesOf(dependencies, conversationId) : null,
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
  // Read while the provider is asked: nothing may stand between its acceptance and the record.
  const planning = planningOf(dependencies, permit);
  await dependencies.reach('deliver:calling', permit.sendId);
  const outcome = await sender.send(permit, { timeoutMs: CALL_TIMEOUT_MS });
  const sendMs = Math.round(performance.now() - startedMonotonicMs);
  switch (outcome.kind) {
    case 'accepted':
      return accepted(dependencies, permit, outcome.providerMessageId, {
        sendStartedAt,
        sendMs,
        acknowledgedAt: new Date().toISOString(),
        planning,
      });
    case 'not-accepted':
      return notAccepted(dependencies, permit, outcome);
    case 'unknown':
      return unknown(dependencies, permit, outcome.code);
  }
}

function recordedOnly(agenda: Agenda): DeliverResult {
  return { kind: 'recorded', agenda };
}

async function unknown(
  dependencies: ActivityDependencies,
  permit: Permit,
  code: string,
): Promise<DeliverResult> {
  const { pool, clock, reach } = dependencies;
  await reach('deliver:unknown', permit.sendId);
  const agenda = await recordUnknown(pool, permit, code, await clock.now());
  await reach('deliver:unknown-recorded', permit.sendId);
  return recordedOnly(agenda);
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
  await dependencies.reach('deliver:refused', permit.sendId);
  const agenda = await recordNotAccepted(dependencies.pool, permit, outcome, draw);
  await dependencies.reach('deliver:refusal-recorded', permit.sendId);
  return recordedOnly(agenda);
}

async function accepted(
  dependencies: ActivityDependencies,
  permit: Permit,
  providerMessageId: string | null,
  stamps: CallStamps & { readonly acknowledgedAt: string; readonly planning: Promise<Planning> },
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
        ...(await stamps.planning),
        now: await dependencies.clock.now(),
      },
    );
    await dependencies.reach('deliver:recorded', permit.sendId);
    // A burst gives a record for each of its messages and one sample, by their common send (L1).
    for (const record of latency) {
      const { source_event_digest: digest, ...measured } = record;
      const source_event_id_hash = keyedHash(dependencies.hashKey, digest);
      const fields = { ...measured, source_event_id_hash, send_id: permit.sendId };
      log.info({ ...fields, duplicate: false }, 'latency');
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
