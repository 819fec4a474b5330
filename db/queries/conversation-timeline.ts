import type { PoolClient } from 'pg';
import type { TimelineFacts } from '../../domain/timeline-facts';
import { run, statement } from '../database';
import { iso } from './staff-reading';

/** A thread shows at most so many of its newest messages, and the facts since the oldest of them. */
const TIMELINE_MESSAGES_MAX = 500;

type Facts = Omit<TimelineFacts, 'channel' | 'timeZone'>;
type Fact<Key extends keyof Facts> = Facts[Key][number];

const readMessages = statement<Fact<'messages'>>(
  'timeline-messages',
  `select m.id, m.seq, m.direction, m.author, m.text, m.unsupported, m.opt_out as "optOut",
     coalesce((select array_agg(x ->> 'kind') from jsonb_array_elements(m.media) x), '{}') as media,
     m.send_id as "sendId", ${iso('m.source_at')} as "sourceAt", ${iso('m.received_at')} as "receivedAt",
     m.owes, m.settlement, m.settlement_ref as "settlementRef",
     m.settlement_reason as "settlementReason", ${iso('m.settled_at')} as "settledAt",
     ${iso('m.edited_at')} as "editedAt", ${iso('m.deleted_at')} as "deletedAt"
   from messages m where m.conversation_id = $1 and m.business_id = $2
   order by m.seq desc limit $3`,
);

const readTransitions = statement<Fact<'transitions'>>(
  'timeline-transitions',
  `select ordinal, from_state as "fromState", to_state as "toState", cause, changed,
     ${iso('at')} as at
   from conversation_transitions
   where conversation_id = $1 and business_id = $2 and at >= $3::timestamptz order by ordinal`,
);

const readSends = statement<Fact<'sends'>>(
  'timeline-sends',
  `select id, purpose, state, body, end_reason as "endReason", ${iso('ended_at')} as "endedAt",
     ${iso('stop_requested_at')} as "stopRequestedAt", stop_cause as "stopCause",
     stop_verdict as "stopVerdict"
   from outbox
   where conversation_id = $1 and business_id = $2 and created_at >= $3::timestamptz
   order by created_at`,
);

const SENDS = `select id from outbox
  where conversation_id = $1 and business_id = $2 and created_at >= $3::timestamptz`;

const readDecisions = statement<Fact<'decisions'>>(
  'timeline-decisions',
  `select id, send_id as "sendId", supersedes_id as "supersedesId", reason, rule,
     ${iso('not_before')} as "notBefore", ${iso('expires_at')} as "expiresAt",
     ${iso('evaluated_at')} as "evaluatedAt", policy_version as "policyVersion", inputs
   from send_decisions where send_id in (${SENDS}) and business_id = $2 order by evaluated_at`,
);

const readAttempts = statement<Fact<'attempts'>>(
  'timeline-attempts',
  `select id, send_id as "sendId", number, ${iso('started_at')} as "startedAt"
   from send_attempts where send_id in (${SENDS}) and business_id = $2 order by started_at`,
);

const readOutcomes = statement<Fact<'outcomes'>>(
  'timeline-outcomes',
  `select attempt_id as "attemptId", ordinal, send_id as "sendId", outcome, code, evidence,
     ${iso('recorded_at')} as "recordedAt"
   from send_outcomes where send_id in (${SENDS}) and business_id = $2 order by ordinal`,
);

const readWorkItems = statement<Fact<'workItems'>>(
  'timeline-work-items',
  `select id, kind, explanation, ${iso('opened_at')} as "openedAt",
     ${iso('resolved_at')} as "resolvedAt", resolved_by as "resolvedBy", resolution
   from work_items
   where conversation_id = $1 and business_id = $2 and opened_at >= $3::timestamptz
   order by opened_at`,
);

const readTakeovers = statement<Fact<'takeovers'>>(
  'timeline-takeovers',
  `select event_id as "eventId", type, actor_ref as "actorRef", reason,
     ${iso('occurred_at')} as "occurredAt"
   from takeover_events
   where conversation_id = $1 and business_id = $2 and occurred_at >= $3::timestamptz
   order by session_id, seq`,
);

const readPlans = statement<Fact<'plans'>>(
  'timeline-plans',
  `select p.id, ${iso('p.anchor_at')} as "anchorAt", ${iso('p.stopped_at')} as "stoppedAt",
     p.stop_reason as "stopReason",
     coalesce((select jsonb_agg(jsonb_build_object('step', s.step, 'day', s.day,
         'dueAt', ${iso('s.due_at')}, 'writtenAt', ${iso('s.written_at')}) order by s.step)
       from follow_up_steps s where s.plan_id = p.id), '[]') as steps
   from follow_up_plans p
   where p.conversation_id = $1 and p.business_id = $2 and p.anchor_at >= $3::timestamptz
   order by p.anchor_at`,
);

const readNotes = statement<Fact<'notes'>>(
  'timeline-notes',
  `select id, role, text, ${iso('at')} as at from notes
   where conversation_id = $1 and business_id = $2 and at >= $3::timestamptz order by at, id`,
);

const readTraces = statement<Fact<'traces'>>(
  'timeline-traces',
  `select send_id as "sendId", ${iso('ingress_accepted_at')} as "ingressAcceptedAt",
     ${iso('provider_acknowledged_at')} as "providerAcknowledgedAt",
     ${iso('visible_at')} as "visibleAt", decision_ms as "decisionMs", send_ms as "sendMs"
   from transport_traces
   where conversation_id = $1 and business_id = $2 and ingress_accepted_at >= $3::timestamptz
     and send_id is not null`,
);

export interface TimelineReading {
  readonly facts: Facts;
  /** True where the thread is longer than what is shown. */
  readonly olderOmitted: boolean;
}

/**
 * Reads the facts of a conversation's timeline: of a very long thread the newest messages, and
 * what happened since the oldest of them.
 */
export async function readTimeline(
  client: PoolClient,
  businessId: string,
  conversationId: string,
): Promise<TimelineReading> {
  const newest = await run(client, readMessages, [
    conversationId,
    businessId,
    TIMELINE_MESSAGES_MAX + 1,
  ]);
  const olderOmitted = newest.length > TIMELINE_MESSAGES_MAX;
  const messages = newest.slice(0, TIMELINE_MESSAGES_MAX).reverse();
  const since = olderOmitted ? (messages[0]?.receivedAt ?? '-infinity') : '-infinity';
  const values = [conversationId, businessId, since];
  const [
    transitions,
    sends,
    decisions,
    attempts,
    outcomes,
    workItems,
    takeovers,
    plans,
    notes,
    traces,
  ] = await Promise.all([
    run(client, readTransitions, values),
    run(client, readSends, values),
    run(client, readDecisions, values),
    run(client, readAttempts, values),
    run(client, readOutcomes, values),
    run(client, readWorkItems, values),
    run(client, readTakeovers, values),
    run(client, readPlans, values),
    run(client, readNotes, values),
    run(client, readTraces, values),
  ]);
  return {
    facts: {
      messages,
      transitions,
      sends,
      decisions,
      attempts,
      outcomes,
      workItems,
      takeovers,
      plans,
      notes,
      traces,
    },
    olderOmitted,
  };
}

const readHead = statement<{ channel: TimelineFacts['channel']; timeZone: string; now: string }>(
  'timeline-head',
  `select c.channel, b.time_zone as "timeZone", ${iso('clock_timestamp()')} as now
   from conversations c join businesses b on b.id = c.business_id
   where c.id = $1 and c.business_id = $2`,
);

/** What a timeline needs to know of its conversation. Null where the business has no such one. */
export async function readTimelineHead(
  client: PoolClient,
  businessId: string,
  conversationId: string,
): Promise<{ channel: TimelineFacts['channel']; timeZone: string; now: string } | null> {
  const [row] = await run(client, readHead, [conversationId, businessId]);
  return row ?? null;
}
