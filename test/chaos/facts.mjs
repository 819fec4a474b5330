/** What Postgres holds, read as its owner; and the way to let time pass for one conversation. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DIST } from './environment.mjs';

const require = createRequire(import.meta.url);

/** B of docs/invariants.md under faults. */
const OWED_BOUND_MS = 15 * 60_000;

const STORED = `
  select provider_message_id as "providerMessageId", conversation_id as "conversationId", owes,
    settlement, settlement_ref as "settlementRef", settlement_reason as "settlementReason"
  from messages where direction = 'in'`;

const ATTEMPTS = `
  select a.id as "attemptId", a.send_id as "sendId", a.conversation_id as "conversationId", o.state,
    coalesce((select array_agg(distinct r.provider_message_id) from send_outcomes r
      where r.attempt_id = a.id and r.provider_message_id is not null), '{}')
      as "providerMessageIds"
  from send_attempts a join outbox o on o.id = a.send_id`;

const BACKED_OFF = `
  select distinct send_id as id from send_decisions where reason = 'rate-limit-backoff'`;

/** Notices are append-only, with triggers that would refuse this. */
const AGE_NOTICES = `
  begin; set local session_replication_role = replica;
  update notices set created_at = created_at - interval '31 seconds'; commit`;

const RAW_ROWS = `
  select body_sha256 as digest, count(*)::int as count from raw_deliveries group by 1`;

const OPEN = `
  select (select count(*) from messages where owes and settled_at is null)::int as owed,
    (select count(*) from outbox where state in ('queued', 'leased', 'sending')
       and not_before < clock_timestamp() + interval '10 minutes')::int as sends,
    (select count(*) from conversations
       where next_due_at < clock_timestamp() + interval '5 seconds')::int as due`;

const CONVERSATION_OF = `
  select m.conversation_id as id from messages m where m.provider_message_id = $1`;

const OPEN_SEND = `
  select o.id, o.state, o.attempts,
    exists (select from send_outcomes r where r.attempt_id = o.attempt_id
      and r.outcome = 'unknown') as unknown,
    o.not_before > clock_timestamp() + interval '30 seconds' as waits
  from outbox o where o.conversation_id = $1 order by o.created_at desc limit 1`;

/** Nothing is under way in them, and a step of their follow-ups lies ahead. */
const QUIET = `
  select c.id, c.channel, a.value as address,
    extract(epoch from min(s.due_at) - clock_timestamp())::float8 as "dueInSeconds"
  from conversations c
  join addresses a on a.id = c.address_id
  join follow_up_plans p on p.conversation_id = c.id and p.stopped_at is null
  join follow_up_steps s on s.plan_id = p.id and s.written_at is null
  where c.state = 'active' and c.owner = 'automation' and c.owed_since is null
    and c.touched_at < clock_timestamp() - interval '2 seconds'
    and not exists (select from outbox o where o.conversation_id = c.id
      and o.state in ('queued', 'leased', 'sending'))
  group by c.id, a.value having min(s.due_at) > clock_timestamp() + interval '10 seconds'
  order by random() limit 1`;

const UNBOOKED = `
  select id from conversations where state in ('active', 'replied') and owner = 'automation'
  order by random() limit 1`;

/** Whose send waits because its provider asked for it, and how long still. */
const WAITING = `
  select conversation_id as id,
    extract(epoch from max(not_before) - clock_timestamp())::float8 as seconds
  from outbox where state = 'queued'
    and not_before between clock_timestamp() + interval '3 seconds'
      and clock_timestamp() + interval '10 minutes'
  group by conversation_id`;

const ITEM_OF = `
  select id, extract(epoch from next_escalation_at - clock_timestamp())::float8 as "dueInSeconds"
  from work_items where conversation_id = $1 and resolved_at is null
    and next_escalation_at is not null limit 1`;

/** Tables of a conversation's facts without a column that names it, and how they are found. */
const BY_SEND = ['send_decisions', 'send_outcomes', 'provider_messages'];
const KEPT = ['takeover_events', 'takeover_heads'];

const COLUMNS = `
  select c.table_name as "table", array_agg(c.column_name::text) as columns,
    bool_or(k.column_name is not null) as named
  from information_schema.columns c
  join information_schema.tables t using (table_schema, table_name)
  left join information_schema.columns k on k.table_schema = c.table_schema
    and k.table_name = c.table_name and k.column_name = 'conversation_id'
  where c.table_schema = 'public' and t.table_type = 'BASE TABLE'
    and c.data_type = 'timestamp with time zone'
  group by c.table_name`;

function conditionOf({ table, named }) {
  if (table === 'conversations') return 'id = $1';
  if (KEPT.includes(table)) return null;
  if (BY_SEND.includes(table)) {
    return 'send_id in (select id from outbox where conversation_id = $1)';
  }
  if (table === 'sent_markers') {
    return 'attempt_id in (select id from send_attempts where conversation_id = $1)';
  }
  if (table === 'escalations') {
    return 'work_item_id in (select id from work_items where conversation_id = $1)';
  }
  return named ? 'conversation_id = $1' : null;
}

/** Asks again while Postgres is down. */
async function patiently(work) {
  for (let left = 60; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      if (left === 0) throw error;
      await sleep(500);
    }
  }
}

/**
 * Lets time pass for one conversation: every instant of its facts moves back, under its lock, so
 * that for the product they were that long ago.
 */
function makeAging(pool, rows) {
  let shifts = null;
  async function shiftsOfTime() {
    shifts ??= (await rows(COLUMNS)).flatMap((table) => {
      const condition = conditionOf(table);
      if (condition === null) return [];
      const moved = table.columns.map(
        (name) => `"${name}" = "${name}" - $2::float8 * interval '1 s'`,
      );
      return [`update "${table.table}" set ${moved.join(', ')} where ${condition}`];
    });
    return shifts;
  }
  return async (conversationId, seconds) => {
    const statements = await shiftsOfTime();
    // Whole milliseconds, as the product's own deadlines are.
    const whole = Math.ceil(seconds * 1000) / 1000;
    await patiently(async () => {
      const client = await pool.connect();
      try {
        await client.query('begin');
        // Facts that are only ever appended to have triggers that would refuse this.
        await client.query('set local session_replication_role = replica');
        await client.query('select from conversations where id = $1 for update', [conversationId]);
        for (const sql of statements) await client.query(sql, [conversationId, whole]);
        await client.query('commit');
      } finally {
        client.release(true);
      }
    });
  };
}

/** Every fact of one conversation, table by table, for a person to read. */
async function readTimeline(rows, conversationId) {
  const facts = {};
  for (const table of await rows(COLUMNS)) {
    const condition = conditionOf(table) ?? (table.named ? 'conversation_id = $1' : null);
    if (condition === null) continue;
    const sql = `select * from "${table.table}" where ${condition}`;
    facts[table.table] = await rows(sql, [conversationId]);
  }
  return facts;
}

/** What the product's own auditor finds, as lines. */
async function readViolations(pool) {
  const { runChecks } = require(join(DIST, 'db', 'audit', 'run-checks.js'));
  const options = { scope: 'full', boundMs: OWED_BOUND_MS, now: null };
  const results = await patiently(() => runChecks(pool, options));
  return results
    .filter(({ violations, failure }) => violations > 0 || failure !== null)
    .map(({ invariant, says, violations, failure, found }) => {
      const what = failure ?? `${violations} rows, as ${found[0]?.row ?? '?'}`;
      return `${invariant} is broken (${says}): ${what}`;
    });
}

/** Opens the facts. Every question is asked again while Postgres is down. */
export function openFacts(databaseUrl) {
  const { Pool } = require('pg');
  const pool = new Pool({ connectionString: databaseUrl, max: 3 });
  pool.on('error', () => undefined);
  const rows = (sql, values = []) => patiently(async () => (await pool.query(sql, values)).rows);
  const first = async (sql, values) => (await rows(sql, values))[0] ?? null;
  return {
    stored: () => rows(STORED),
    attempts: () => rows(ATTEMPTS),
    backedOff: async () => new Set((await rows(BACKED_OFF)).map(({ id }) => id)),
    open: () => first(OPEN),
    rawRows: async () =>
      new Map((await rows(RAW_ROWS)).map(({ digest, count }) => [digest, count])),
    conversationOf: async (messageId) => (await first(CONVERSATION_OF, [messageId]))?.id ?? null,
    openSend: (conversationId) => first(OPEN_SEND, [conversationId]),
    quiet: () => first(QUIET),
    unbooked: () => first(UNBOOKED),
    waiting: () => rows(WAITING),
    itemOf: (conversationId) => first(ITEM_OF, [conversationId]),
    age: makeAging(pool, rows),
    /** Lets the time pass that lies between two notices to one queue. */
    ageNotices: () => patiently(() => pool.query(AGE_NOTICES)),
    timeline: (conversationId) => readTimeline(rows, conversationId),
    violations: () => readViolations(pool),
    stop: () => pool.end(),
  };
}
