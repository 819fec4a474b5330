import express from 'express';
import { makeEventStream } from '../../api/staff/events';
import { makeStaffRouter } from '../../api/staff/router';
import { runStaffCommand } from '../../db/commands/run';
import { sha256 } from '../../db/digest';
import { ingest } from '../../db/ingest/ingest';
import { prepared, requestOf, smsElement } from '../support/inbound';
import { makeWorld, STAFF_TOKEN, type World } from '../support/world';
import { serve, type Served } from '../unit/api/serving';

const OTHER_TOKEN = 'token-of-the-other-business';
const OTHER_BUSINESS = `biz_${'2'.repeat(32)}`;
const OTHER_NUMBER = '+13125550199';
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Whatever an operation answers; each test reads the members of its own. */
interface Answer {
  items: { id: string; leadName: string }[];
  nextCursor: string | null;
  counts: { owed: number; needsPerson: number };
  entries: { id: string; kind: string; text: string; at: string }[];
  newestSeq: number;
  timeZone: string;
  phone: string;
  code: string;
  detail: string;
}

let world: World;
let served: Served;

beforeAll(async () => {
  world = await makeWorld();
  const { owner, service, staff } = world.database;
  await owner.query(
    `insert into businesses (id, name, time_zone, services, policy_version, created_at)
     values ($1, 'Fox Roofing', 'America/New_York', '[]', 'policy-2026-11', now())`,
    [OTHER_BUSINESS],
  );
  await owner.query(
    `insert into accounts (id, business_id, provider, channel, external_id, credentials, created_at)
     values ($1, $2, 'twilio', 'sms', $3, '{}', now())`,
    [`acc_${'2'.repeat(32)}`, OTHER_BUSINESS, OTHER_NUMBER],
  );
  await owner.query(
    `insert into staff_tokens (token_sha256, business_id, role, created_at)
     values ($1, $2, 'agent', now())`,
    [sha256(OTHER_TOKEN), OTHER_BUSINESS],
  );
  const app = express();
  app.use(
    '/api',
    makeStaffRouter({
      staffPool: staff,
      tokenPool: service,
      runCommand: async (request) => runStaffCommand(staff, request, await world.clock.now()),
      wake: () => undefined,
      events: makeEventStream({ pool: service, log: silent }),
      log: silent,
    }),
  );
  served = await serve(app);
});
afterEach(() => world.reset());
afterAll(async () => {
  await served.close();
  await world.close();
});

async function get(path: string, token = STAFF_TOKEN) {
  return call(path, { headers: { Authorization: `Bearer ${token}` } });
}

async function post(path: string, body: unknown, token = STAFF_TOKEN) {
  return call(path, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Idempotency-Key': crypto.randomUUID(),
      'Content-Type': 'application/json',
    },
    body: JSON.stringify(body),
  });
}

async function call(path: string, init: RequestInit): Promise<{ status: number; body: Answer }> {
  const response = await fetch(`${served.url}/api${path}`, init);
  return { status: response.status, body: (await response.json()) as Answer };
}

/** A lead of the other business writes. */
async function writeToOther(text: string): Promise<string> {
  const { element } = smsElement({ lead: '+13125550150', text });
  const foreign = prepared({ ...element, accountExternalId: OTHER_NUMBER });
  const { wake } = await ingest(world.database.service, requestOf([foreign]), world.clock.iso);
  return wake[0]?.id ?? '';
}

async function answer(id: string): Promise<void> {
  const { activities } = world;
  const agenda = await activities.takeTurn({ conversationId: id });
  const step = agenda.items[0]?.step;
  if (step?.kind !== 'deliver') throw new Error('nothing to deliver');
  await activities.deliver({ conversationId: id, sendId: step.sendId });
}

describe('two businesses', () => {
  it('each sees its own conversations and no other, in every list [SEC1]', async () => {
    await world.write({ text: 'My water heater leaks' });
    const own = (await world.conversation('+13125550142')).id;
    const foreign = await writeToOther('My roof leaks');
    const [mine, theirs] = await Promise.all([
      get('/conversations'),
      get('/conversations', OTHER_TOKEN),
    ]);
    expect(mine.body.items.map(({ id }) => id)).toEqual([own]);
    expect(theirs.body.items.map(({ id }) => id)).toEqual([foreign]);
    expect(mine.body.counts).toEqual({ owed: 1, needsPerson: 0 });
    const searched = await get(`/conversations?q=${foreign}`);
    expect(searched.body.items).toEqual([]);
  });

  it.each(['', '/timeline'])('a foreign conversation%s is not found [SEC1]', async (rest) => {
    const foreign = await writeToOther('My roof leaks');
    const { status, body } = await get(`/conversations/${foreign}${rest}`);
    expect([status, body.code]).toEqual([404, 'not_found']);
    expect((await get(`/conversations/${foreign}${rest}`, OTHER_TOKEN)).status).toBe(200);
  });

  it.each(['claim', 'release', 'book', 'opt-out'])(
    '%s of a foreign conversation is not found and changes nothing [SEC1]',
    async (command) => {
      const foreign = await writeToOther('My roof leaks');
      const before = await world.rows('select * from conversations');
      const { status, body } = await post(`/conversations/${foreign}/${command}`, { seenSeq: 1 });
      expect([status, body.code]).toEqual([404, 'not_found']);
      expect(await world.rows('select * from conversations')).toEqual(before);
    },
  );

  it("work items and unknown deliveries are a business's own; those without a business are nobody's here [SEC1]", async () => {
    await world.write({ text: 'Hello' });
    const { id } = await world.conversation('+13125550142');
    world.provider.next(() => ({ kind: 'unknown', code: 'read_timeout' }));
    await answer(id);
    world.clock.advance(21_000);
    const [send] = await world.rows('select id from outbox');
    await world.activities.resolve({
      conversationId: id,
      sendId: `snd_${String(send?.['id']).slice(4)}`,
    });
    await world.database.owner.query(
      `insert into work_items (id, kind, reason, explanation, opened_at, escalate_at, assigned_queue)
       values ($1, 'quarantine', 'unknown_account', 'Nobody knows this account.', now(), now(), 'operators')`,
      [`wrk_${'9'.repeat(32)}`],
    );
    const items = await get('/escalations');
    const deliveries = await get('/deliveries?state=delivery_unknown');
    expect(items.body.items).toEqual([
      expect.objectContaining({
        kind: 'delivery-unknown',
        conversationId: id,
        sendId: send?.['id'],
      }),
    ]);
    expect(deliveries.body.items).toEqual([
      expect.objectContaining({ id: send?.['id'], state: 'delivery_unknown', attempts: 1 }),
    ]);
    expect((await get('/escalations', OTHER_TOKEN)).body.items).toEqual([]);
    expect((await get('/deliveries', OTHER_TOKEN)).body.items).toEqual([]);
    await world.database.owner.query("delete from work_items where kind = 'quarantine'");
  });
});

describe('the list', () => {
  const lead = (digits: string) => `+131255501${digits}`;

  async function writeThree(): Promise<void> {
    for (const digits of ['01', '02', '03']) {
      world.clock.advance(1_000);
      await world.write({ lead: lead(digits), text: `Message of ${digits}` });
    }
  }

  it('shows the newest activity first and pages without gap or repeat', async () => {
    await writeThree();
    const first = await get('/conversations?limit=2');
    const second = await get(`/conversations?limit=2&cursor=${first.body.nextCursor ?? ''}`);
    const names = [...first.body.items, ...second.body.items].map((row) => row.leadName);
    expect(names).toEqual([lead('03'), lead('02'), lead('01')]);
    expect([first.body.items.length, second.body.nextCursor]).toEqual([2, null]);
  });

  it.each([
    ['owed=true', ['02']],
    ['owed=false', ['01', '03']],
    ['state=active', ['02', '03']],
    ['state=paused', ['01']],
    ['owner=person', ['01']],
    ['needsPerson=true', ['01']],
    ['needsPerson=false', ['02', '03']],
    ['channel=whatsapp', []],
    ['q=55501 02', []],
    ['q=5550102', ['02']],
    ['q=%', []],
    ['q=_13125550102', []],
  ])('%s', async (query, expected) => {
    await writeThree();
    await answer((await world.conversation(lead('03'))).id);
    const { id } = await world.conversation(lead('01'));
    await post(`/conversations/${id}/claim`, {});
    const { body } = await get(`/conversations?${encodeURI(query)}`);
    expect(body.items.map((row) => row.leadName).sort()).toEqual(expected.map(lead));
  });

  it.each(["q=' or 1=1 --", 'q=%00', 'q=\\', "q='; select pg_sleep(5) --", 'q=%ED%A0%80'])(
    '%s is only text to look for [SEC7]',
    async (query) => {
      await writeThree();
      const { status, body } = await get(`/conversations?${query}`);
      expect(status).toBe(200);
      expect(body.items.length === 0 || body.items.length === 3).toBe(true);
      expect(query.includes('or 1=1') ? body.items : []).toEqual([]);
    },
  );

  it.each([
    'state=nonsense',
    'owed=maybe',
    'limit=0',
    'limit=101',
    'limit=1;drop table leads',
    'sort=id',
    'state=active&state=paused',
    'cursor=nonsense',
    `cursor=${Buffer.from('["2026-02-31T00:00:00.000000Z","cnv_1"]').toString('base64url')}`,
    `cursor=${Buffer.from(`["2026-02-31T00:00:00.000000Z","cnv_${'0'.repeat(32)}"]`).toString('base64url')}`,
  ])('%s is refused and says what is wrong [SEC7]', async (query) => {
    const { status, body } = await get(`/conversations?${query}`);
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.detail).not.toBe('');
  });
});

describe('a timeline over HTTP', () => {
  it('tells an answered lead from its message to the planned follow-ups [S5] [L1]', async () => {
    await world.write({ text: 'My water heater leaks' });
    const { id } = await world.conversation();
    world.clock.advance(400);
    await answer(id);
    const { body } = await get(`/conversations/${id}/timeline`);
    expect(body.entries.map((entry) => entry.kind)).toEqual([
      'message',
      'received',
      'decision',
      'attempt',
      'message',
      'outcome',
      'latency',
      'follow-up',
      'follow-up',
      'follow-up',
      'follow-up',
    ]);
    expect([body.newestSeq, body.timeZone]).toEqual([2, 'America/Chicago']);
    expect(body.entries.every(({ at }) => /^[\d-]{10}T[\d:]{8}\.\d{6}Z$/.test(at))).toBe(true);
  });

  it('tells a takeover: what was cancelled, who took over, who gave back [INV-15] [T6]', async () => {
    await world.write({ text: 'My water heater leaks' });
    const { id } = await world.conversation();
    await world.activities.takeTurn({ conversationId: id });
    await post(`/conversations/${id}/claim`, {});
    world.clock.advance(60_000);
    const stale = await post(`/conversations/${id}/release`, { seenSeq: 0 });
    expect([stale.status, stale.body.code, stale.body.newestSeq]).toEqual([
      409,
      'newer_message',
      1,
    ]);
    expect((await post(`/conversations/${id}/release`, { seenSeq: 1 })).status).toBe(200);
    const { body } = await get(`/conversations/${id}/timeline`);
    const texts = body.entries.map((entry) => entry.text);
    expect(texts).toEqual(
      expect.arrayContaining([
        'The answer was not sent: a person has the conversation.',
        'A shift supervisor took over.',
        'A shift supervisor gave the conversation back to automation.',
        'A shift supervisor settled this: given back to automation.',
      ]),
    );
  });

  it('reads as the staff role: it cannot write, and sees nothing without a business', async () => {
    await world.write({ text: 'Hello' });
    const { staff } = world.database;
    const seen = await staff.query('select id from conversations');
    expect(seen.rows).toEqual([]);
    const detail = await get(`/conversations/${(await world.conversation()).id}`);
    expect(detail.body).toMatchObject({ newestSeq: 1, phone: '+13125550142' });
  });
});
