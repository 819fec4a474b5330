import { readAgenda } from '../db/agenda';
import { findOverdueAttempt, giveToReview, type OverdueAttempt } from '../db/attempts';
import { recordAcceptance, type Acceptance } from '../db/record';
import { CALL_TIMEOUT_MS } from '../domain/limits';
import type { Agenda } from '../domain/agenda';
import type { DeliverResult, SendRef } from './contract';
import type { ActivityDependencies } from './dependencies';
import { planningOf } from './recipient-zones';

/**
 * Judges an attempt whose outcome nobody recorded, never before its limit (C6): a sent marker or
 * the provider's own word proves it; else the channel is read back where it can be; else a person
 * reviews it. In no case is the message sent again.
 */
export async function resolve(
  dependencies: ActivityDependencies,
  { conversationId, sendId }: SendRef,
): Promise<DeliverResult> {
  const now = await dependencies.clock.now();
  const attempt = await findOverdueAttempt(dependencies.pool, sendId, now);
  if (attempt === null) {
    const agenda = await readAgenda(dependencies.pool, conversationId, now);
    if (agenda === null) throw new Error('a resolved conversation does not exist');
    return { kind: 'recorded', agenda };
  }
  await dependencies.reach('resolve:taken', sendId);
  return { kind: 'recorded', agenda: await judge(dependencies, attempt, now) };
}

async function judge(
  dependencies: ActivityDependencies,
  attempt: OverdueAttempt,
  now: string | null,
): Promise<Agenda> {
  if (attempt.provenAcceptedAt !== null) {
    return record(dependencies, attempt, {
      providerMessageId: attempt.provenProviderMessageId,
      evidence: attempt.provenBy,
      acceptedAt: attempt.provenAcceptedAt,
    });
  }
  const sender = dependencies.senders[attempt.channel];
  if (!sender.canReadBack) return review(dependencies, attempt, { code: 'no_read_back', now });
  const found = await sender.readBack({
    ...attempt,
    attemptedAt: new Date(attempt.attemptedAt).toISOString(),
    timeoutMs: CALL_TIMEOUT_MS,
  });
  dependencies.log.info(
    { sendId: attempt.sendId, attemptId: attempt.attemptId, readBack: found.kind },
    'read an unknown attempt back',
  );
  await dependencies.reach('resolve:read-back', attempt.sendId);
  switch (found.kind) {
    case 'found':
      return record(dependencies, attempt, {
        providerMessageId: found.providerMessageId,
        evidence: 'read-back',
        acceptedAt: attempt.attemptedAt,
      });
    case 'absent':
      // A provider's list may lag behind: absence proves nothing, and a second send might double.
      return review(dependencies, attempt, { code: 'absent_on_read_back', now });
    case 'unavailable':
      return review(dependencies, attempt, { code: found.code, now });
  }
}

async function review(
  { pool, reach }: ActivityDependencies,
  attempt: OverdueAttempt,
  { code, now }: { readonly code: string; readonly now: string | null },
): Promise<Agenda> {
  const agenda = await giveToReview(pool, attempt, code, now);
  await reach('resolve:reviewed', attempt.sendId);
  return agenda;
}

async function record(
  dependencies: ActivityDependencies,
  attempt: OverdueAttempt,
  proof: Pick<Acceptance, 'providerMessageId' | 'evidence' | 'acceptedAt'>,
): Promise<Agenda> {
  const { agenda } = await recordAcceptance(
    dependencies.markerPool,
    attempt.conversationId,
    { sendId: attempt.sendId, attemptId: attempt.attemptId, ...proof },
    {
      ...(await planningOf(dependencies, attempt)),
      now: await dependencies.clock.now(),
    },
  );
  await dependencies.reach('resolve:proven', attempt.sendId);
  return agenda;
}
