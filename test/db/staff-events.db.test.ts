import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import express from 'express';
import type { Pool, QueryConfig } from 'pg';
import { makeEventStream, type EventStream } from '../../api/staff/events';
import { databaseClock } from '../../db/clock';
import { inTransaction } from '../../db/database';
import { openWorkItem } from '../../db/work-items';
import { DEMO_BUSINESS } from '../../dev/demo';
import { noticesOnce } from '../../upkeep/notices';
import { makeWorld, type World } from '../support/world';

interface Received {
  readonly id: string | null;
  readonly event: string;
  readonly data: string;
}

const tick = () => new Promise<void>((resolve) => setTimeout(resolve, 5));

/** A reader of one stream: what came so far, and a wait for what is still to come. */
async function listen(url: string, headers: Record<string, string> = {}) {
  const abort = new AbortController();
  const response = await fetch(url, { headers, signal: abort.signal });
  const received: Received[] = [];
  let comments = 0;
  let ended = false;
  let changed: () => void = () => undefined;
  const read = async (): Promise<void> => {
    let rest = '';
    const decoder = new TextDecoder();
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
        if (block.startsWith(':')) comments += 1;
        const data = field('data');
        if (data !== undefined) {
          received.push({ id: field('id') ?? null, event: field('event') ?? 'message', data });
        }
      }
      changed();
    }
  };
  const end = () => {
    ended = true;
    changed();
  };
  read().then(end, end);
  const until = async (done: () => boolean): Promise<void> => {
    while (!done()) {
      await Promise.race([new Promise<void>((resolve) => (changed = resolve)), tick()]);
    }
  };
  return {
    response,
    received,
    until,
    comments: () => comments,
    ended: () => ended,
    close: () => {
      abort.abort();
    },
  };
}

describe('the stream of hints', () => {
  let world: World;
  let server: Server;
  let stream: EventStream;
  let url: string;
  const readers: { close(): void }[] = [];

  beforeAll(async () => {
    world = await makeWorld({ clock: databaseClock });
  });
  beforeEach(async () => {
    const log = { info: () => undefined, warn: () => undefined };
    stream = makeEventStream({ pool: world.database.service, log, pollMs: 20, heartbeatMs: 30 });
    const app = express();
    app.get('/events/:business', (request, response) =>
      stream.serve(request, response, request.params.business),
    );
    server = createServer(app);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    url = `http://127.0.0.1:${typeof address === 'object' ? (address?.port ?? 0) : 0}/events`;
  });
  afterEach(async () => {
    for (const reader of readers.splice(0)) reader.close();
    await stream.close();
    server.closeAllConnections();
    server.close();
    await world.reset();
  });
  afterAll(() => world.close());

  async function reader(business: string = DEMO_BUSINESS.id, headers: Record<string, string> = {}) {
    const made = await listen(`${url}/${business}`, headers);
    readers.push(made);
    return made;
  }
  const ids = (received: readonly Received[]) =>
    received.map(({ data }) => (JSON.parse(data) as { id: string }).id);

  it('tells of a change once to everybody of that business, by id and version only', async () => {
    const [one, two] = await Promise.all([reader(), reader()]);
    await world.write({ text: 'My water heater leaks' });
    const { id } = await world.conversation();
    await Promise.all([one, two].map((each) => each.until(() => each.received.length > 0)));
    for (const each of [one, two]) {
      expect(each.received).toEqual([
        {
          id: expect.stringMatching(/^\d{16}$/),
          event: 'conversation',
          data: JSON.stringify({ id, version: 1 }),
        },
      ]);
    }
  });

  it('tells nothing to another business [SEC1]', async () => {
    const [own, other] = await Promise.all([reader(), reader(`biz_${'2'.repeat(32)}`)]);
    await world.write({ text: 'Hello' });
    await own.until(() => own.received.length > 0);
    const heard = other.comments();
    await other.until(() => other.comments() > heard + 1);
    expect(other.received).toEqual([]);
  });

  it('what was there before is not told, what commits late is', async () => {
    await world.write({ lead: '+13125550101', text: 'Early' });
    await world.write({ lead: '+13125550102', text: 'Late' });
    const late = (await world.conversation('+13125550102')).id;
    const own = await reader();
    // A transaction that began seconds ago commits now: its instant lies behind what was read.
    await world.database.owner.query(
      `update conversations set touched_at = clock_timestamp() - interval '5 seconds' where id = $1`,
      [late],
    );
    await own.until(() => own.received.length > 0);
    expect(ids(own.received)).toEqual([late]);
  });

  it('a client that comes back gets what it missed, from any process', async () => {
    const first = await reader();
    await world.write({ lead: '+13125550101', text: 'Seen' });
    await first.until(() => first.received.length > 0);
    const lastId = first.received[0]?.id ?? '';
    first.close();
    await world.write({ lead: '+13125550102', text: 'Missed' });
    const missed = (await world.conversation('+13125550102')).id;
    const back = await reader(DEMO_BUSINESS.id, { 'Last-Event-ID': lastId });
    await back.until(() => ids(back.received).includes(missed));
    expect(back.received.every(({ event }) => event === 'conversation')).toBe(true);
  });

  it('a client that was away too long is told to fetch everything again', async () => {
    await world.write({ text: 'Hello' });
    const { id } = await world.conversation();
    await world.database.owner.query(
      `update conversations set touched_at = clock_timestamp() - interval '40 seconds' where id = $1`,
      [id],
    );
    const lastId = String((Date.now() - 60_000) * 1_000);
    const back = await reader(DEMO_BUSINESS.id, { 'Last-Event-ID': lastId });
    await back.until(() => back.received.length > 0);
    expect(back.received).toEqual([{ id: null, event: 'reset', data: '{}' }]);
  });

  it.each(['nonsense', '-1', "1' or 1=1", '9'.repeat(40)])(
    'a strange Last-Event-ID %s replays nothing and breaks nothing [SEC7]',
    async (lastId) => {
      await world.write({ text: 'Hello' });
      const own = await reader(DEMO_BUSINESS.id, { 'Last-Event-ID': lastId });
      expect(own.response.status).toBe(200);
      await own.until(() => own.comments() > 0);
      expect(own.received).toEqual([]);
    },
  );

  it('tells of a notice by its queue and number only, once, and again to whom it was missed [C7] [T6]', async () => {
    const own = await reader();
    const other = await reader(`biz_${'2'.repeat(32)}`);
    await inTransaction(world.database.service, (client) =>
      openWorkItem(client, {
        businessId: DEMO_BUSINESS.id,
        conversationId: null,
        kind: 'job-review',
        reason: 'of_a_test',
        explanation: 'An item of a test.',
        at: new Date().toISOString(),
      }),
    );
    const { log } = world.dependencies;
    await noticesOnce({ pool: world.database.service, clock: databaseClock, log });
    await own.until(() => own.received.length > 0);
    const [notice] = await world.rows('select id from notices');
    const told = {
      id: expect.stringMatching(/^\d{16}$/),
      event: 'notice',
      data: JSON.stringify({ id: notice?.['id'], queue: 'operators', items: 1 }),
    };
    const heard = own.comments();
    await own.until(() => own.comments() > heard + 1);
    expect(own.received).toEqual([told]);
    expect(other.received).toEqual([]);
    const before = String(Number(own.received[0]?.id) - 1);
    const back = await reader(DEMO_BUSINESS.id, { 'Last-Event-ID': before });
    await back.until(() => back.received.length > 0);
    expect(back.received).toEqual([told]);
  });

  it('closing ends every answer, and who asks then is told to come back', async () => {
    const own = await reader();
    await stream.close();
    await own.until(() => own.ended());
    const later = await reader();
    expect([later.response.status, later.response.headers.get('retry-after')]).toEqual([503, '1']);
  });

  /** The pool of the world, counted, and broken when a test says so. */
  function countingPool() {
    const { service } = world.database;
    const counter = { asks: 0, broken: false };
    const query = (config: QueryConfig) => {
      counter.asks += 1;
      return counter.broken ? Promise.reject(new Error('gone')) : service.query(config);
    };
    return { counter, pool: { query } as unknown as Pool };
  }

  it('what changed while Postgres was gone is told when it is back', async () => {
    const { counter, pool } = countingPool();
    const said: string[] = [];
    const note = (_fields: unknown, text: string) => said.push(text);
    await stream.close();
    stream = makeEventStream({ pool, log: { info: note, warn: note }, pollMs: 5 });
    const own = await reader();
    counter.broken = true;
    await own.until(() => said.length > 0);
    await world.write({ text: 'While Postgres was gone' });
    counter.broken = false;
    await own.until(() => own.received.length > 0);
    expect(said).toEqual(['the event stream cannot read Postgres', 'the event stream reads again']);
  });

  it('Postgres is asked only while somebody listens', async () => {
    const { counter, pool } = countingPool();
    const log = { info: () => undefined, warn: () => undefined };
    const other = stream;
    stream = makeEventStream({ pool, log, pollMs: 5 });
    const own = await reader();
    own.close();
    await stream.close();
    const asked = counter.asks;
    // Another stream of the same kind has polled and told meanwhile; this one has not asked again.
    stream = other;
    const second = await reader();
    await world.write({ text: 'Hello' });
    await second.until(() => second.received.length > 0);
    expect([asked > 0, counter.asks]).toEqual([true, asked]);
  });
});
