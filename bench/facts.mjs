/** What Postgres and Temporal say of the leads of a phase, once it is over. */
import { createRequire } from 'node:module';
import { waitFor } from '../dev/machine.mjs';
import { PAGE_ID } from './environment.mjs';

const require = createRequire(import.meta.url);

const OUTCOMES = `
  select case
      when m.settlement = 'reply' then 'answered'
      when w.kind = 'delivery-unknown' then 'unknown'
      when m.settlement in ('person', 'work-item') then 'handed over'
      when m.settlement = 'no-answer' then 'no-answer'
      else 'owed' end as outcome,
    count(*)::int as count
  from messages m
  join conversations c on c.id = m.conversation_id
  join addresses a on a.id = c.address_id
  left join work_items w on w.id = m.settlement_ref
  where a.value like $1 and m.direction = 'in' and m.owes
  group by 1`;

const epochMs = (column) => `(extract(epoch from ${column}) * 1000)::float8`;

const STAGES = `
  select split_part(a.value, '/', 2) as lead, c.id as "conversationId", m.id as "messageId",
    m.provider_message_id as mid, m.settlement_ref as "sendId", sa.id as "attemptId",
    ${epochMs('t.ingress_accepted_at')} as "ingressAt",
    ${epochMs('t.normalized_at')} as "normalizedAt",
    ${epochMs('m.received_at')} as "storedAt",
    ${epochMs('t.job_claimed_at')} as "turnAt",
    ${epochMs('sa.started_at')} as "gateAt",
    ${epochMs('t.send_started_at')} as "callAt",
    ${epochMs('sm.accepted_at')} as "markedAt",
    ${epochMs('m.settled_at')} as "settledAt"
  from messages m
  join conversations c on c.id = m.conversation_id
  join addresses a on a.id = c.address_id
  left join transport_traces t on t.message_id = m.id
  left join outbox o on o.id = m.settlement_ref
  left join send_attempts sa on sa.id = o.attempt_id
  left join sent_markers sm on sm.attempt_id = sa.id
  where a.value like $1 and m.direction = 'in' and m.owes
  order by m.received_at`;

const ATTEMPTS = `
  select sa.id as "attemptId", sa.send_id as "sendId", o.state, ${epochMs('sa.started_at')} as "gateAt",
    split_part(a.value, '/', 2) as lead, c.id as "conversationId",
    (select array_agg(so.evidence || ':' || so.outcome order by so.ordinal)
       from send_outcomes so where so.attempt_id = sa.id) as outcomes
  from send_attempts sa
  join outbox o on o.id = sa.send_id
  join conversations c on c.id = sa.conversation_id
  join addresses a on a.id = c.address_id
  where a.value like $1`;

function pattern(prefix) {
  return `${PAGE_ID}/${prefix}%`;
}

/** Opens the facts of the product's database, read as the owner. */
export function openFacts(databaseUrl) {
  const { Pool } = require('pg');
  const pool = new Pool({ connectionString: databaseUrl, max: 2 });
  const rows = async (sql, prefix) => (await pool.query(sql, [pattern(prefix)])).rows;
  const outcomes = async (prefix) => {
    const counts = Object.fromEntries(
      (await rows(OUTCOMES, prefix)).map(({ outcome, count }) => [outcome, count]),
    );
    const names = ['answered', 'handed over', 'unknown', 'no-answer', 'owed'];
    return Object.fromEntries(names.map((name) => [name, counts[name] ?? 0]));
  };
  return {
    outcomes,
    /** The outcomes once nothing is owed any more, or as they stand when time is up. */
    settledOutcomes: async (prefix, timeoutMs) => {
      await waitFor(async () => (await outcomes(prefix)).owed === 0, { timeoutMs, everyMs: 250 });
      return outcomes(prefix);
    },
    stages: (prefix) => rows(STAGES, prefix),
    attempts: (prefix) => rows(ATTEMPTS, prefix),
    stop: () => pool.end(),
  };
}

function timeOf({ eventTime }) {
  return Number(eventTime.seconds) * 1000 + Number(eventTime.nanos ?? 0) / 1e6;
}

/** Opens the histories of the conversations' workflows. */
export async function openHistories(address) {
  const { Client, Connection } = require('@temporalio/client');
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace: 'default' });
  return {
    client,
    /** The events of a conversation's last run, each with `atMs`. */
    async eventsOf(conversationId) {
      const handle = client.workflow.getHandle(`conversation/${conversationId}`);
      const { events } = await handle.fetchHistory();
      return events.map((event) => ({ ...event, atMs: timeOf(event) }));
    },
    /** The identities that poll for workflow tasks of the conversations. */
    async pollers() {
      const { pollers } = await client.workflowService.describeTaskQueue({
        namespace: 'default',
        taskQueue: { name: 'conversations' },
        taskQueueType: 1,
      });
      return (pollers ?? []).map(({ identity }) => identity);
    },
    stop: () => connection.close(),
  };
}
