import type { PoolClient } from 'pg';
import { iso } from './queries/staff-reading';
import { run, statement } from './database';

/** A change of state, with what a stop did to the sends that it met (S3, S5). */
export interface EvidenceTransition {
  readonly ordinal: number;
  readonly fromState: string;
  readonly toState: string;
  readonly version: number;
  readonly cause: string;
  readonly causeRef: string | null;
  readonly changed: boolean;
  /** When what caused it happened: for a message, when the lead wrote it. */
  readonly occurredAt: string;
  /** When the state changed here. */
  readonly at: string;
  readonly cancelledSendIds: string[];
  readonly acceptedAfterStop: string[];
}

export interface EvidenceAttempt {
  readonly attemptId: string;
  readonly sendId: string;
  readonly number: number;
  readonly purpose: string;
  readonly decisionId: string;
  readonly notBefore: string;
  readonly expiresAt: string | null;
  readonly conversationVersion: number;
  readonly sawSeq: number;
  readonly startedAt: string;
}

export interface EvidenceResponse {
  readonly attemptId: string;
  readonly sendId: string;
  readonly outcome: string;
  readonly code: string | null;
  readonly evidence: string;
  readonly providerMessageSha256: string | null;
  readonly acceptedAt: string | null;
  readonly recordedAt: string;
}

/** The four facts of B5 about the stop that ended `active`: all null and empty where none did. */
export interface StopFacts {
  readonly stopOccurredAt: string | null;
  readonly stateChangedAt: string | null;
  readonly cancelledSendIds: string[];
  readonly acceptedAfterStop: string[];
}

/** What proves how a conversation was treated (S5): ids and instants, nothing personal. */
export interface EvidencePacket {
  readonly configVersion: string;
  readonly conversationId: string;
  readonly providerEventIds: string[];
  readonly queuedMessageIds: string[];
  readonly transitions: EvidenceTransition[];
  readonly attempts: EvidenceAttempt[];
  readonly providerResponses: EvidenceResponse[];
  readonly facts: StopFacts;
}

interface Head {
  readonly configVersion: string;
  readonly providerEventIds: string[];
  readonly queuedMessageIds: string[];
}

/** Providers' own ids may hold a telephone number (WhatsApp's do), so their digests stand here. */
const readHead = statement<Head>(
  'evidence-head',
  `select b.policy_version as "configVersion",
     coalesce((select jsonb_agg(m.provider_message_sha256 order by m.seq) from messages m
       where m.conversation_id = c.id and m.direction = 'in'
         and m.provider_message_sha256 is not null), '[]') as "providerEventIds",
     coalesce((select jsonb_agg(o.id order by o.created_at, o.id) from outbox o
       where o.conversation_id = c.id), '[]') as "queuedMessageIds"
   from conversations c join businesses b on b.id = c.business_id
   where c.id = $1 and c.business_id = $2`,
);

/**
 * A stop cancels and marks in its own transaction, so what it met carries its instant: cancelled
 * at it, or marked at it and refused later by the gate, or accepted all the same (S3).
 */
const readTransitions = statement<EvidenceTransition>(
  'evidence-transitions',
  `select t.ordinal, t.from_state as "fromState", t.to_state as "toState", t.version, t.cause,
     t.cause_ref as "causeRef", t.changed, ${iso('t.at')} as at,
     ${iso('coalesce(least(m.source_at, m.received_at), m.received_at, t.at)')} as "occurredAt",
     coalesce((select jsonb_agg(o.id order by o.created_at, o.id) from outbox o
       where o.conversation_id = t.conversation_id and o.state = 'cancelled'
         and (o.ended_at = t.at or o.stop_requested_at = t.at)), '[]') as "cancelledSendIds",
     coalesce((select jsonb_agg(o.id order by o.created_at, o.id) from outbox o
       where o.conversation_id = t.conversation_id and o.stop_requested_at = t.at
         and o.stop_verdict = 'after'), '[]') as "acceptedAfterStop"
   from conversation_transitions t left join messages m on m.id = t.cause_ref
     and m.conversation_id = t.conversation_id
   where t.conversation_id = $1 and t.business_id = $2 order by t.ordinal`,
);

const readAttempts = statement<EvidenceAttempt>(
  'evidence-attempts',
  `select id as "attemptId", send_id as "sendId", number, purpose, decision_id as "decisionId",
     ${iso('not_before')} as "notBefore", ${iso('expires_at')} as "expiresAt",
     conversation_version as "conversationVersion", saw_seq as "sawSeq",
     ${iso('started_at')} as "startedAt"
   from send_attempts where conversation_id = $1 and business_id = $2 order by started_at, id`,
);

const readResponses = statement<EvidenceResponse>(
  'evidence-responses',
  `select r.attempt_id as "attemptId", r.send_id as "sendId", r.outcome, r.code, r.evidence,
     encode(sha256(convert_to(r.provider_message_id, 'UTF8')), 'hex') as "providerMessageSha256",
     ${iso('r.accepted_at')} as "acceptedAt", ${iso('r.recorded_at')} as "recordedAt"
   from send_outcomes r join outbox o on o.id = r.send_id
   where o.conversation_id = $1 and o.business_id = $2 order by r.ordinal`,
);

/**
 * Reads a conversation's evidence packet (S5). The caller has named its business; null where that
 * business has no such conversation.
 */
export async function readEvidence(
  client: PoolClient,
  businessId: string,
  conversationId: string,
): Promise<EvidencePacket | null> {
  const values = [conversationId, businessId];
  const [[head], transitions, attempts, providerResponses] = await Promise.all([
    run(client, readHead, values),
    run(client, readTransitions, values),
    run(client, readAttempts, values),
    run(client, readResponses, values),
  ]);
  if (head === undefined) return null;
  return {
    ...head,
    conversationId,
    transitions,
    attempts,
    providerResponses,
    facts: stopFacts(transitions),
  };
}

/** Facts of the newest stop out of `active`, with what it and every later stop did to sends. */
function stopFacts(transitions: readonly EvidenceTransition[]): StopFacts {
  const index = transitions.findLastIndex(
    ({ changed, fromState, toState }) => changed && fromState === 'active' && toState !== 'active',
  );
  const stop = transitions[index];
  if (stop === undefined) {
    const none = { cancelledSendIds: [], acceptedAfterStop: [] };
    return { stopOccurredAt: null, stateChangedAt: null, ...none };
  }
  const since = transitions.slice(index);
  return {
    stopOccurredAt: stop.occurredAt,
    stateChangedAt: stop.at,
    cancelledSendIds: unique(since.flatMap(({ cancelledSendIds }) => cancelledSendIds)),
    acceptedAfterStop: unique(since.flatMap(({ acceptedAfterStop }) => acceptedAfterStop)),
  };
}

function unique(ids: readonly string[]): string[] {
  return [...new Set(ids)];
}
