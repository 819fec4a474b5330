import type { PoolClient } from 'pg';
import { joinStatus, type DeliveryStatus } from '../domain/delivery-status';
import type { AttemptId, SendId } from '../domain/ids';
import { run, runOne, statement } from './database';
import { sha256 } from './digest';

export interface ProviderMessage {
  readonly sendId: SendId | null;
  readonly attemptId: AttemptId | null;
  readonly status: DeliveryStatus | null;
  readonly errorCode: string | null;
  readonly echoedAt: string | null;
  readonly statusAt: string | null;
}

const upsert = statement<ProviderMessage>(
  'upsert-provider-message',
  `insert into provider_messages as p (account_id, provider_message_sha256, provider_message_id,
     business_id, send_id, attempt_id, echoed_at, first_seen_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8)
   on conflict (account_id, provider_message_sha256) do update set
     send_id = coalesce(p.send_id, excluded.send_id),
     attempt_id = coalesce(p.attempt_id, excluded.attempt_id),
     echoed_at = coalesce(p.echoed_at, excluded.echoed_at)
   returning send_id as "sendId", attempt_id as "attemptId", status, error_code as "errorCode",
     echoed_at::text as "echoedAt", status_at::text as "statusAt"`,
);

export interface Sighting {
  readonly accountId: string;
  readonly businessId: string;
  readonly providerMessageId: string;
  readonly sendId: string | null;
  readonly attemptId: string | null;
  readonly echoedAt: string | null;
  readonly at: string;
}

/**
 * Notes that a provider named one message: in a response, a status, an echo or a read-back. Who
 * comes first makes the row and the others join it, so there is no order to rely on (INV-16).
 */
export function noteProviderMessage(client: PoolClient, seen: Sighting): Promise<ProviderMessage> {
  return runOne(client, upsert, [
    seen.accountId,
    sha256(seen.providerMessageId),
    seen.providerMessageId,
    seen.businessId,
    seen.sendId,
    seen.attemptId,
    seen.echoedAt,
    seen.at,
  ]);
}

const setStatus = statement(
  'set-provider-status',
  `update provider_messages set status = $3, error_code = coalesce($4, error_code), status_at = $5
   where account_id = $1 and provider_message_sha256 = $2`,
);

/** Joins a reported status into the row; it never moves down and never loses an error code. */
export async function reportStatus(
  client: PoolClient,
  seen: Sighting,
  report: { readonly status: DeliveryStatus; readonly errorCode: string | null },
): Promise<ProviderMessage> {
  const known = await noteProviderMessage(client, seen);
  const status = joinStatus(known.status, report.status);
  const errorCode = known.errorCode ?? report.errorCode;
  await run(client, setStatus, [
    seen.accountId,
    sha256(seen.providerMessageId),
    status,
    errorCode,
    seen.at,
  ]);
  return { ...known, status, errorCode, statusAt: seen.at };
}
