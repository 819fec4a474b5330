import { makeConversationActivities } from '../../activities';
import type { ActivityDependencies, Engine } from '../../activities/dependencies';
import type { ChannelSender } from '../../channels/port';
import type { Failpoint } from '../../config/failpoints';
import { run, statement } from '../../db/database';
import { ingest } from '../../db/ingest/ingest';
import type { IngestResult } from '../../db/ingest/request';
import { seedDemo } from '../../dev/seed';
import { CHANNELS, type Channel } from '../../domain/inbound';
import type { ReadBack, SendOutcome, SendRequest } from '../../domain/sending';
import { makeTestDatabase, type TestDatabase } from './database';
import { FACT_TABLES } from './facts';
import { requestOf, smsElement, type LeadText } from './inbound';
import { ALWAYS_OPEN, storeRules } from './policies';
import { violations } from './invariants';

export const STAFF_TOKEN = 'token-of-tests';

/** A clock that tests move by hand. It starts at a fixed Monday noon in Chicago. */
export class TestClock {
  private ms = Date.parse('2026-11-30T18:00:00.000Z');

  now(): Promise<string | null> {
    return Promise.resolve(new Date(this.ms).toISOString());
  }

  get iso(): string {
    return new Date(this.ms).toISOString();
  }

  get epochMs(): number {
    return this.ms;
  }

  advance(milliseconds: number): void {
    this.ms += milliseconds;
  }
}

/** A provider of the test's own: it keeps what it accepted, and answers as the test says. */
export class TestProvider {
  readonly accepted: SendRequest[] = [];
  readonly calls: SendRequest[] = [];
  readBackAnswer: ReadBack = { kind: 'absent' };
  private readonly script: ((request: SendRequest) => Promise<SendOutcome> | SendOutcome)[] = [];
  replyWindowMs: number | null = null;
  /** Channels that have no window although `replyWindowMs` is set. */
  readonly windowless = new Set<Channel>();

  /** The next call is answered by `answer`; after the script every call is accepted. */
  next(answer: (request: SendRequest) => Promise<SendOutcome> | SendOutcome): void {
    this.script.push(answer);
  }

  /** Forgets everything, the script too: a call that a test expected in vain is not the next's. */
  clear(): void {
    this.accepted.length = 0;
    this.calls.length = 0;
    this.script.length = 0;
    this.readBackAnswer = { kind: 'absent' };
    this.replyWindowMs = null;
    this.windowless.clear();
  }

  accept(request: SendRequest): SendOutcome {
    this.accepted.push(request);
    return { kind: 'accepted', providerMessageId: `provider-${this.accepted.length}` };
  }

  sender(channel: Channel): ChannelSender {
    const windowOf = (): number | null =>
      this.windowless.has(channel) ? null : this.replyWindowMs;
    return {
      channel,
      get replyWindowMs() {
        return windowOf();
      },
      canReadBack: true,
      fits: () => true,
      send: async (request) => {
        this.calls.push(request);
        const answer = this.script.shift();
        return answer === undefined ? this.accept(request) : answer(request);
      },
      readBack: () => Promise.resolve(this.readBackAnswer),
    };
  }
}

/** An engine that answers everything; the real one has tests of its own. */
const plainEngine: Engine = {
  understand: () => ({
    serviceId: null,
    jobLabel: null,
    location: null,
    urgency: null,
    wantsPerson: false,
    complains: false,
    wantsPrice: false,
    wantsBooking: false,
    bareOpener: false,
    language: 'en',
  }),
  draft: (thread) => ({
    kind: 'reply',
    text: `Thanks for message ${thread.at(-1)?.seq ?? 0}. What is your ZIP code?`,
    verdict: 'meaningful',
  }),
};

export interface World {
  readonly database: TestDatabase;
  readonly clock: TestClock;
  readonly provider: TestProvider;
  readonly dependencies: ActivityDependencies;
  readonly activities: ReturnType<typeof makeConversationActivities>;
  /** What failpoints do in this world; set by a test, cleared by `reset`. */
  failpoints: Partial<Record<Failpoint, (ref: string) => Promise<void> | void>>;
  /** Stores a lead's SMS and returns the ingest's result. */
  write(...messages: readonly LeadText[]): Promise<IngestResult>;
  /** The only conversation, or that of a lead. */
  conversation(lead?: string): Promise<Record<string, unknown> & { id: string }>;
  rows(sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  reset(): Promise<void>;
  close(): Promise<void>;
}

type Overrides = Partial<ActivityDependencies>;

/** A database of its own, the demo business, the activities, a clock and a provider. */
export async function makeWorld(
  given: Overrides | ((database: TestDatabase) => Promise<Overrides>) = {},
): Promise<World> {
  const database = await makeTestDatabase();
  await seedDemo(database.owner, STAFF_TOKEN);
  const overrides = typeof given === 'function' ? await given(database) : given;
  const clock = new TestClock();
  const provider = new TestProvider();
  const senders = Object.fromEntries(
    CHANNELS.map((channel) => [channel, provider.sender(channel)]),
  ) as Record<Channel, ChannelSender>;
  const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const dependencies: ActivityDependencies = {
    pool: database.service,
    markerPool: database.service,
    senders,
    engine: plainEngine,
    clock,
    log: silent,
    hashKey: 'hash-key-of-tests',
    workerId: 'worker-of-tests',
    beat: () => undefined,
    reach: (point, ref) => world.failpoints[point]?.(ref),
    ...overrides,
  };
  const world: World = {
    database,
    clock,
    provider,
    dependencies,
    activities: makeConversationActivities(dependencies),
    failpoints: {},
    write: async (...messages) =>
      ingest(
        database.service,
        requestOf(messages.map((message, index) => smsElement(message, index))),
        await dependencies.clock.now(),
      ),
    conversation: async (lead) => {
      const found = await database.owner.query<Record<string, unknown> & { id: string }>(
        `select c.* from conversations c join addresses a on a.lead_id = c.lead_id
         where $1::text is null or a.value = $1`,
        [lead ?? null],
      );
      const row = found.rows[0];
      if (row === undefined) throw new Error('there is no such conversation');
      return row;
    },
    rows: async (sql, values = []) =>
      run(database.owner, statement<Record<string, unknown>>('', sql), values),
    reset: () => reset(database, provider, world),
    close: () => database.close(),
  };
  // What a test is about must not depend on the hour to which its clock came.
  await storeRules(world, ALWAYS_OPEN, 'always-open');
  return world;
}

/**
 * Empties the facts between tests, as the owner with triggers off, and forgets the provider's.
 * Throws where the test left an invariant broken.
 */
async function reset(database: TestDatabase, provider: TestProvider, world: World): Promise<void> {
  const broken = await violations(database.owner);
  const client = await database.owner.connect();
  try {
    await client.query("set session_replication_role = 'replica'");
    await client.query(FACT_TABLES.map((table) => `delete from ${table}`).join(';'));
    await client.query("delete from send_policies where version like 'test-%'");
    await client.query('update accounts set paused_at = null, paused_reason = null');
    await client.query("set session_replication_role = 'origin'");
  } finally {
    client.release();
  }
  provider.clear();
  world.failpoints = {};
  if (broken.length > 0) throw new Error(broken.join('\n'));
}
