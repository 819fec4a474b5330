import type { PoolClient } from 'pg';
import { lockConversation, type LockedConversation } from '../../../db/conversations';
import { inTransaction } from '../../../db/database';
import {
  appendTakeoverEvent,
  endTakeoverSession,
  keepTakeoverPartitions,
  readTakeoverSession,
  type AppendOptions,
  type NewTakeoverEvent,
} from '../../../db/takeover-log';
import { replayTakeover, SequenceGapError } from '../../../domain/takeover';
import { makeWorld, type World } from '../../support/world';

const AGENT = { kind: 'company_role', ref: 'support-agent' } as const;
const RECOVERY = { kind: 'system', ref: 'recovery-worker' } as const;

let world: World;
let conversationId: string;

beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world.close());
afterEach(() => world.reset());
beforeEach(async () => {
  await world.write({ text: 'My sink leaks' });
  conversationId = (await world.conversation()).id;
});

/** A note in the log that changes nobody's ownership, so that the audited owner stays true. */
function annotation(more: Partial<NewTakeoverEvent> = {}): NewTakeoverEvent {
  return {
    type: 'decision.annotated',
    reason: 'operator_claimed',
    actor: AGENT,
    correlationId: 'cmd_1',
    at: world.clock.iso,
    ...more,
  };
}

/** Appends in a transaction of its own, without the conversation's lock, as a lone writer would. */
async function append(event: NewTakeoverEvent, options: AppendOptions = {}): Promise<number> {
  const conversation = await snapshot();
  return inTransaction(world.database.service, (client) =>
    appendTakeoverEvent(client, conversation, event, options),
  );
}

async function snapshot(): Promise<LockedConversation> {
  return inTransaction(world.database.service, async (client) => {
    const locked = await lockConversation(client, conversationId, world.clock.iso);
    if (locked === null) throw new Error('there is no conversation');
    return locked.conversation;
  });
}

/** A client whose connection fails with the named statement, after those before it were done. */
function dyingAt(client: PoolClient, name: string): PoolClient {
  return new Proxy(client, {
    get: (target, key) => {
      if (key !== 'query') return Reflect.get(target, key) as unknown;
      return (query: { readonly name: string }) =>
        query.name === name ? Promise.reject(new Error('gone')) : target.query(query as never);
    },
  });
}

async function sessionId(): Promise<string> {
  const rows = await world.rows('select session_id from takeover_heads order by session_id desc');
  return String(rows[0]?.['session_id']);
}

async function session() {
  return readTakeoverSession(world.database.service, await sessionId());
}

async function types(): Promise<readonly string[]> {
  return (await session()).map(({ type }) => type);
}

describe('an append to the takeover log', () => {
  it('begins the session with its first event, for that event’s reason [H1]', async () => {
    expect(await append(annotation({ reason: 'lead_requested_human' }))).toBe(2);
    const events = await session();
    expect(events.map(({ type, reason }) => [type, reason])).toEqual([
      ['session.started', 'lead_requested_human'],
      ['decision.annotated', 'lead_requested_human'],
    ]);
    expect(await sessionId()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  });

  it('with the head that the caller read goes behind it [H3]', async () => {
    const seq = await append(annotation());
    expect(await append(annotation(), { expectedSeq: seq })).toBe(seq + 1);
  });

  it('with a stale head is refused and writes nothing [H3]', async () => {
    const seq = await append(annotation());
    await append(annotation());
    await expect(append(annotation(), { expectedSeq: seq })).rejects.toMatchObject({
      code: 'STALE_SESSION_VERSION',
      message: `STALE_SESSION_VERSION expected=${seq} actual=${seq + 1}`,
    });
    expect(await session()).toHaveLength(seq + 1);
  });

  it('of an event id that is written already returns its place, also with a stale head [H3]', async () => {
    const seq = await append(annotation({ eventId: 'tke_a' }));
    await append(annotation());
    expect(await append(annotation({ eventId: 'tke_a' }), { expectedSeq: 0 })).toBe(seq);
    expect(await session()).toHaveLength(seq + 1);
  });

  it.each([
    ['type', { type: 'automation.resumed' }],
    ['reason', { reason: 'connection_lost' }],
    ['actor', { actor: RECOVERY }],
    ['correlation', { correlationId: 'cmd_2' }],
    ['attribute', { attributes: { attempt: 2 } }],
    ['content', { content: { ref: 'msg_1', digest: null } }],
  ] as const)('of a known event id with another %s is refused [H3]', async (_what, change) => {
    await append(annotation({ eventId: 'tke_a' }));
    await expect(append(annotation({ eventId: 'tke_a', ...change }))).rejects.toMatchObject({
      code: 'EVENT_ID_REUSED',
    });
    expect(await types()).toEqual(['session.started', 'decision.annotated']);
  });

  it('of a known event id whose content has another digest is refused [H3] [H5]', async () => {
    const content = { ref: 'msg_1', digest: 'keyed' };
    const seq = await append(annotation({ eventId: 'tke_a', content }));
    expect(await append(annotation({ eventId: 'tke_a', content }))).toBe(seq);
    const other = { ...content, digest: 'another' };
    await expect(append(annotation({ eventId: 'tke_a', content: other }))).rejects.toMatchObject({
      code: 'EVENT_ID_REUSED',
    });
  });

  it('that carries a telephone number is refused at the boundary [H5]', async () => {
    const attributes = { callback: '+13125550123' };
    await expect(append(annotation({ attributes }))).rejects.toMatchObject({
      code: 'FORBIDDEN_ATTRIBUTE',
    });
    expect(await world.rows('select from takeover_events')).toEqual([]);
  });

  it('lists the sends that were in flight when automation was stopped [INV-15]', async () => {
    let during: Promise<unknown> = Promise.resolve();
    world.provider.next(async (request) => {
      during = inTransaction(world.database.service, async (client) => {
        const locked = await lockConversation(client, conversationId, world.clock.iso);
        if (locked === null) throw new Error('there is no conversation');
        await appendTakeoverEvent(client, locked.conversation, {
          ...annotation(),
          type: 'takeover.requested',
        });
      });
      await during;
      return world.provider.accept(request);
    });
    const agenda = await world.activities.takeTurn({ conversationId });
    const step = agenda.items.find((item) => item.step.kind === 'deliver')?.step;
    if (step?.kind !== 'deliver') throw new Error('nothing is to be delivered');
    await world.activities.deliver({ conversationId, sendId: step.sendId });
    const [event] = await world.rows(
      `select attributes from takeover_events where type = 'takeover.requested'`,
    );
    expect(event).toEqual({ attributes: { inFlightSends: step.sendId } });
  });
});

describe('the end of a session', () => {
  const end = async (client: PoolClient, conversation: LockedConversation) =>
    endTakeoverSession(client, conversation, {
      actor: AGENT,
      correlationId: 'cmd_9',
      at: world.clock.iso,
    });

  async function endSession(): Promise<void> {
    const conversation = await snapshot();
    await inTransaction(world.database.service, (client) => end(client, conversation));
  }

  it('is not written where no session was begun [H1]', async () => {
    await endSession();
    expect(await world.rows('select from takeover_heads')).toEqual([]);
  });

  it('is followed by an erasure and an annotation, and by nothing else [H1] [H6]', async () => {
    await append(annotation());
    const ended = await sessionId();
    await endSession();
    await expect(
      append(annotation({ type: 'automation.resumed' }), { sessionId: ended }),
    ).rejects.toMatchObject({ code: 'SESSION_ENDED' });
    const content = { ref: 'msg_1', digest: 'keyed' };
    await append(annotation({ type: 'content.redacted', content }), { sessionId: ended });
    await append(annotation(), { sessionId: ended });
    const state = replayTakeover(await readTakeoverSession(world.database.service, ended));
    expect(state).toMatchObject({ mode: 'ended', lastSeq: 5 });
    expect([...state.redactedRefs]).toEqual(['msg_1']);
  });

  it('lets the next event begin a session of its own [H1]', async () => {
    await append(annotation());
    const first = await sessionId();
    await endSession();
    await append(annotation());
    expect(await sessionId()).not.toBe(first);
    expect(await types()).toEqual(['session.started', 'decision.annotated']);
  });
});

/**
 * Two writers, each in its own transaction. The order is forced by the head's row lock: whoever
 * takes it first commits first. Whichever wins, the log has no gap, no event twice, one winner.
 */
describe('races of the takeover log', () => {
  it('two claims after the same read: one wins, the other is told to read again [H6]', async () => {
    const seq = await append(annotation());
    const claims = await Promise.allSettled(
      ['cmd_a', 'cmd_b'].map((correlationId) =>
        append(annotation({ type: 'takeover.claimed', correlationId }), { expectedSeq: seq }),
      ),
    );
    const lost = claims.filter((claim) => claim.status === 'rejected');
    expect(lost).toHaveLength(1);
    expect(lost[0]?.reason).toMatchObject({ code: 'STALE_SESSION_VERSION' });
    expect(replayTakeover(await session())).toMatchObject({ mode: 'human', lastSeq: seq + 1 });
    // The log alone was claimed: it says again what the conversation's row says.
    await append(annotation({ type: 'takeover.released' }));
  });

  it('one event id five times at once is written once, and all are told the same place [H6]', async () => {
    await append(annotation());
    const places = await Promise.all(
      Array.from({ length: 5 }, () => append(annotation({ eventId: 'tke_five' }))),
    );
    expect(new Set(places).size).toBe(1);
    expect(await session()).toHaveLength(3);
  });

  it('the first events of ten writers make one session without a gap [H6]', async () => {
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        append(annotation({ correlationId: `cmd_${index}` })),
      ),
    );
    expect(await world.rows('select from takeover_heads')).toHaveLength(1);
    const events = await session();
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 11 }, (_, i) => i + 1));
    expect(events.filter(({ type }) => type === 'session.started')).toHaveLength(1);
  });

  it('a rollback between the event and the head leaves neither [H6]', async () => {
    const seq = await append(annotation());
    const conversation = await snapshot();
    const event = annotation({ eventId: 'tke_lost' });
    const failing = inTransaction(world.database.service, async (client) => {
      await appendTakeoverEvent(dyingAt(client, 'advance-takeover-head'), conversation, event);
    });
    await expect(failing).rejects.toThrow();
    expect(await session()).toHaveLength(seq);
    expect(await append(event)).toBe(seq + 1);
    expect(replayTakeover(await session()).lastSeq).toBe(seq + 1);
  });

  it('a release races a recovery worker that resumes: one wins, the other reads again, and both stand [H6]', async () => {
    const seq = await append(annotation({ type: 'takeover.claimed' }));
    const writers = [
      annotation({ type: 'takeover.released' }),
      annotation({ type: 'automation.resumed', actor: RECOVERY }),
    ];
    const results = await Promise.allSettled(
      writers.map((event) => append(event, { expectedSeq: seq })),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(replayTakeover(await session())).toMatchObject({ mode: 'automated', ownerRole: null });
    const loser = writers[results.findIndex(({ status }) => status === 'rejected')];
    if (loser === undefined) throw new Error('nobody lost');
    expect(await append(loser, { expectedSeq: seq + 1 })).toBe(seq + 2);
    const states = Array.from({ length: 3 }, async () => replayTakeover(await session()));
    for (const state of await Promise.all(states)) {
      expect(state).toMatchObject({ mode: 'automated', ownerRole: null, lastSeq: seq + 2 });
    }
  });

  it('a missing event 8 is met by the replay, never passed over [H6] [H4]', async () => {
    for (let index = 0; index < 9; index += 1) await append(annotation());
    const events = (await session()).filter(({ seq }) => seq !== 8);
    expect(() => replayTakeover(events)).toThrow(SequenceGapError);
  });
});

describe('the table of the takeover log', () => {
  it.each(['service', 'staff'] as const)('%s may not change it [H2]', async (role) => {
    await append(annotation());
    const pool = world.database[role];
    for (const sql of [
      `update takeover_events set reason = 'connection_lost'`,
      'delete from takeover_events',
      'truncate takeover_events',
      'truncate takeover_events_other',
      'alter table takeover_events disable trigger all',
      'select prepare_takeover_partitions(1)',
      `select drop_takeover_partitions('2020-01-01')`,
    ]) {
      await expect(pool.query(sql)).rejects.toMatchObject({ code: '42501' });
    }
    expect(await session()).toHaveLength(2);
  });

  it('refuses its owner too, in every partition [H2]', async () => {
    await append(annotation());
    const partitions = await world.rows(
      `select inhrelid::regclass::text as name from pg_inherits
       where inhparent = 'takeover_events'::regclass`,
    );
    expect(partitions.length).toBeGreaterThanOrEqual(6);
    for (const { name } of [...partitions, { name: 'takeover_events' }]) {
      const truncate = world.database.owner.query(`truncate ${String(name)}`);
      await expect(truncate).rejects.toMatchObject({ code: '42501' });
    }
    const change = `update takeover_events set reason = 'connection_lost'`;
    await expect(world.database.owner.query(change)).rejects.toMatchObject({ code: '42501' });
  });

  it('keeps a session in the month of its id [H2]', async () => {
    await append(annotation());
    const [row] = await world.rows(
      `select tableoid::regclass::text as partition, to_char(uuid_extract_timestamp(session_id)
         at time zone 'UTC', 'YYYY_MM') as month from takeover_events limit 1`,
    );
    expect(row?.['partition']).toBe(`takeover_events_${String(row?.['month'])}`);
  });
});

describe('the retention of the takeover log', () => {
  const OLD = { name: 'takeover_events_2020_01', from: '2020-01-01', session: '016f5e66-e800' };

  /** A month of the past with one session, as if it had been kept since. */
  async function oldMonth(endedAt: string | null): Promise<void> {
    const id = `${OLD.session}-7000-8000-000000000001`;
    const { owner } = world.database;
    await owner.query(`create table if not exists ${OLD.name} partition of takeover_events
      for values from (takeover_session_bound('2020-01-01Z')) to (takeover_session_bound('2020-02-01Z'))`);
    await owner.query(
      `insert into takeover_heads (session_id, conversation_id, last_seq, ended_at)
       values ('${id}', 'cnv_old', 1, $1)`,
      [endedAt],
    );
    await owner.query(`insert into takeover_events (session_id, seq, event_id, business_id,
      conversation_id, type, actor_kind, actor_ref, reason, policy_version, correlation_id,
      attributes, occurred_at, recorded_at) values ('${id}', 1, 'tke_old', 'biz', 'cnv_old',
      'session.started', 'service', 'conversation-router', 'operator_claimed', 'p', 'c', '{}',
      '2020-01-05', '2020-01-05')`);
  }

  const exists = async (): Promise<boolean> => {
    const [row] = await world.rows(`select to_regclass('${OLD.name}') is not null as yes`);
    return row?.['yes'] === true;
  };

  afterEach(() => world.database.owner.query(`drop table if exists ${OLD.name}`));

  it('drops a month whose sessions all ended before the limit, and their heads [H2] [C11]', async () => {
    await oldMonth('2020-01-06');
    const { retention } = world.database;
    expect(await keepTakeoverPartitions(retention, '2024-11-30')).toEqual([OLD.name]);
    expect(await exists()).toBe(false);
    expect(await world.rows('select from takeover_heads')).toEqual([]);
  });

  it.each([
    ['has a session that never ended', null],
    ['has a session that ended later than the limit', '2025-03-01'],
  ])('keeps a month that %s [H2] [C11]', async (_why, endedAt) => {
    await oldMonth(endedAt);
    expect(await keepTakeoverPartitions(world.database.retention, '2024-11-30')).toEqual([]);
    expect(await exists()).toBe(true);
  });

  it('has the coming months ready, however often it runs [H2]', async () => {
    const count = async () =>
      (await world.rows(`select from pg_inherits where inhparent = 'takeover_events'::regclass`))
        .length;
    const before = await count();
    await keepTakeoverPartitions(world.database.retention, '2024-11-30');
    expect(await count()).toBe(before);
  });

  it('refuses a limit that would drop what is fresh [H2]', async () => {
    await expect(
      keepTakeoverPartitions(world.database.retention, new Date().toISOString()),
    ).rejects.toThrow('SQLSTATE');
  });
});
