import type { PoolClient } from 'pg';
import { readClock } from './conversations';
import { closeRefusedCredentials, reportRefusedCredentials } from './credentials';
import { run, statement } from './database';

const pauseStatement = statement<{ businessId: string | null }>(
  'pause-integration',
  `update integrations set paused_at = $2, paused_reason = $3
   where id = $1 and paused_at is null returning business_id as "businessId"`,
);

/**
 * Refused credentials pause this integration alone and show an operator why (IN4): one item per
 * pause. Its jobs and notices stay queued until it is mended.
 */
export async function pauseIntegration(
  client: PoolClient,
  integrationId: string,
  code: string,
  at: string,
): Promise<void> {
  const [paused] = await run(client, pauseStatement, [integrationId, at, code]);
  if (paused === undefined) return;
  await reportRefusedCredentials(client, {
    businessId: paused.businessId,
    subjectId: integrationId,
    code,
    explanation: `A connected system refuses our credentials (code ${code}). What is meant for it waits until they are mended.`,
    at,
  });
}

const resumeStatement = statement<{ id: string }>(
  'resume-integration',
  `update integrations set paused_at = null, paused_reason = null
   where id = $1 and paused_at is not null returning id`,
);

/**
 * Lets a paused integration go on: its item closes, and the loops find what waits for it at their
 * next round. Nothing happens where it is not paused.
 */
export async function resumeIntegration(
  client: PoolClient,
  integrationId: string,
  by: string,
  now: string | null,
): Promise<void> {
  const resumed = await run(client, resumeStatement, [integrationId]);
  if (resumed.length === 0) return;
  const at = await readClock(client, now);
  await closeRefusedCredentials(client, integrationId, { by, at: at.now });
}
