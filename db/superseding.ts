import type { PoolClient } from 'pg';
import type { PolicyDecision } from '../domain/policy';
import type { Purpose } from '../domain/sending';
import type { StandingDecision } from '../domain/staff-decisions';
import type { Locked } from './conversations';
import { run, statement } from './database';
import { newId } from './new-id';
import { storeDecision } from './outbox';

/** A send that has not left, with the decision under which it stands. */
export interface StandingSend extends StandingDecision {
  readonly id: string;
  readonly purpose: Purpose;
  readonly decisionId: string;
}

const pointToDecision = statement(
  'supersede-decision',
  `update outbox set decision_id = $2, not_before = to_timestamp($3::float8 / 1000),
     expires_at = to_timestamp($4::float8 / 1000), state = 'queued', lease_owner = null,
     lease_until = null
   where id = $1 and state in ('queued', 'leased')`,
);

/**
 * Puts a send under a new decision that supersedes the one it stood under; both stay (C2). Row and
 * idempotency key stay too (C5). The caller holds the conversation's lock and has read that no
 * worker holds the row.
 */
export async function supersedeDecision(
  client: PoolClient,
  { conversation, now }: Locked,
  standing: StandingSend,
  decision: PolicyDecision,
): Promise<void> {
  const decisionId = newId('dec');
  await run(client, pointToDecision, [
    standing.id,
    decisionId,
    decision.notBeforeMs,
    decision.expiresAtMs,
  ]);
  await storeDecision(
    client,
    {
      id: decisionId,
      businessId: conversation.businessId,
      sendId: standing.id,
      supersedesId: standing.decisionId,
      policyVersion: conversation.policyVersion,
      at: now,
    },
    decision,
  );
}
