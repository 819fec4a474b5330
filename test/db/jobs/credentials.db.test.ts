import type { JobActivities } from '../../../activities/contract';
import type { HttpClient } from '../../../channels/http';
import { resumeAccount, updateCredentials } from '../../../db/accounts';
import { readAgenda } from '../../../db/agenda';
import { runStaffCommand } from '../../../db/commands/run';
import { inTransaction } from '../../../db/database';
import { takeOverdueConversations } from '../../../db/due';
import { listStartableJobs } from '../../../db/jobs';
import { newId } from '../../../db/new-id';
import { DEMO_BUSINESS } from '../../../dev/demo';
import type { SendOutcome } from '../../../domain/sending';
import { runUntilIdle } from '../../support/run-until-idle';
import { makeWorld, type World } from '../../support/world';
import { conversationOn, writeOnWhatsApp } from '../races/scene';
import {
  attempt,
  connect,
  jobActivities,
  jobOf,
  jobRow,
  makeHttpClient,
  startReceiver,
  type Receiver,
} from './scene';

const REFUSED: SendOutcome = {
  kind: 'not-accepted',
  code: '190',
  retry: 'back-off',
  retryAfterMs: null,
  pausesAccount: true,
  optedOut: false,
};
const MINUTE_MS = 60_000;
const leads = ['+13125550161', '+13125550162', '+13125550163'] as const;

/** An operator resolves the open item of refused credentials, as the staff API does. */
async function mend(world: World): Promise<void> {
  const [item] = await world.rows(
    `select id from work_items where kind = 'credentials' and resolved_at is null`,
  );
  const result = await runStaffCommand(
    world.database.staff,
    {
      businessId: DEMO_BUSINESS.id,
      role: 'owner',
      command: 'resolve-item',
      resolution: null,
      workItemId: String(item?.['id']),
      idempotencyKey: newId('cmd'),
      seenSeq: null,
    },
    world.clock.iso,
  );
  expect(result.kind).not.toBe('refused');
}

const openItems = (world: World) =>
  world.rows(
    `select kind, reason, subject_id as subject from work_items where resolved_at is null`,
  );

describe('an account whose credentials the provider refuses', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const conversations = async (): Promise<string[]> => {
    const rows = await world.rows(
      `select id from conversations where channel = 'sms' order by created_at`,
    );
    return rows.map(({ id }) => String(id));
  };
  const answered = () => world.provider.accepted.map(({ to }) => to[0]?.value);
  const accountOf = async (channel: string): Promise<string> => {
    const [row] = await world.rows('select id from accounts where channel = $1', [channel]);
    return String(row?.['id']);
  };

  /** Three leads write a minute apart; the first answer meets refused credentials. */
  async function threeLeadsWait(): Promise<readonly string[]> {
    world.provider.next(() => REFUSED);
    for (const lead of leads) {
      await world.write({ text: 'My sink leaks', lead });
      await runUntilIdle(world, await conversations(), { forMs: MINUTE_MS });
    }
    return conversations();
  }

  it('is paused alone, with one item, while another account of the business goes on [IN4]', async () => {
    await threeLeadsWait();
    expect(world.provider.calls).toHaveLength(1);
    expect(
      await world.rows('select channel, paused_reason from accounts where paused_at is not null'),
    ).toEqual([{ channel: 'sms', paused_reason: '190' }]);
    expect(await openItems(world)).toEqual([
      { kind: 'credentials', reason: '190', subject: await accountOf('sms') },
    ]);
    await writeOnWhatsApp(world, { text: 'My drain is slow', lead: '+13125550164' });
    await runUntilIdle(world, await conversationOn(world, 'whatsapp'), { forMs: 0 });
    expect(answered()).toEqual(['+13125550164']);
  });

  it('goes on in order once it is mended, and nothing is sent twice [IN4] [T2]', async () => {
    const waiting = await threeLeadsWait();
    await mend(world);
    expect(await openItems(world)).toEqual([]);
    world.clock.advance(2_001);
    const options = { limit: 25, perBusiness: 10, now: world.clock.iso };
    const woken = await takeOverdueConversations(world.database.service, options);
    expect(woken.map(({ id }) => id).sort()).toEqual([...waiting].sort());
    const due = await world.rows(
      `select id from conversations where channel = 'sms' order by next_due_at`,
    );
    // The refused one backs off for a second, so it is due behind nobody who wrote later.
    expect(due.map(({ id }) => id)).toEqual(waiting);
    await runUntilIdle(world, waiting, { forMs: MINUTE_MS });
    expect(answered()).toEqual([...leads]);
    expect(world.provider.calls).toHaveLength(4);
    expect(await world.rows('select id from conversations where owed_since is not null')).toEqual(
      [],
    );
  });

  it('is due again exactly when its agenda says so, in as many statements as for one [IN4] [O1]', async () => {
    const waiting = await threeLeadsWait();
    // The last answer cannot leave before it expires: nothing but its expiry is due.
    const [send] = await world.rows(
      `update outbox o set not_before = o.expires_at + interval '1 minute' from outbox before
       where before.id = o.id and o.conversation_id = $1
       returning o.id, before.not_before::text as "notBefore"`,
      [waiting[2]],
    );
    await world.rows(`update conversations set relay_count = 2, relay_at = $1`, [world.clock.iso]);
    const statements = await inTransaction(world.database.service, async (client) => {
      const asked = jest.spyOn(client, 'query');
      await resumeAccount(client, await accountOf('sms'), 'operator', world.clock.iso);
      const count = asked.mock.calls.length;
      asked.mockRestore();
      return count;
    });
    expect(statements).toBe(5);
    for (const id of waiting) {
      const agenda = await readAgenda(world.database.service, id, world.clock.iso);
      const [row] = await world.rows(
        `select (extract(epoch from next_due_at) * 1000)::float8 as due, relay_count, relay_at
         from conversations where id = $1`,
        [id],
      );
      expect(agenda?.items[0]?.step.kind).toBe(id === waiting[2] ? 'expire' : 'deliver');
      expect(row).toEqual({
        due: world.clock.epochMs + (agenda?.items[0]?.dueInMs ?? Number.NaN),
        relay_count: 0,
        relay_at: null,
      });
    }
    await world.rows('update outbox set not_before = $2 where id = $1', [
      send?.['id'],
      send?.['notBefore'],
    ]);
  });

  it('goes on with new credentials, which the next call uses [IN4]', async () => {
    const waiting = await threeLeadsWait();
    const account = await accountOf('sms');
    const before = await world.rows('select credentials from accounts where id = $1', [account]);
    const wake = await updateCredentials(
      world.database.service,
      account,
      { authToken: 'a new one' },
      world.clock.iso,
    );
    expect(wake.map(({ id }) => id).sort()).toEqual([...waiting].sort());
    await runUntilIdle(world, waiting, { forMs: MINUTE_MS });
    expect(answered()).toEqual([...leads]);
    expect(world.provider.accepted[0]?.credentials).toEqual({ authToken: 'a new one' });
    const [item] = await world.rows('select resolution, resolved_by from work_items');
    expect(item).toEqual({ resolution: 'credentials_mended', resolved_by: 'operator' });
    await world.rows('update accounts set credentials = $2 where id = $1', [
      account,
      JSON.stringify(before[0]?.['credentials']),
    ]);
  });

  it('answers nothing by itself that waited over an hour: that is with a person [IN4] [T4]', async () => {
    const waiting = await threeLeadsWait();
    await runUntilIdle(world, waiting, { forMs: 61 * MINUTE_MS });
    const handoffs = await world.rows(
      `select conversation_id from work_items where kind = 'handoff' and resolved_at is null`,
    );
    expect(handoffs).toHaveLength(3);
    await mend(world);
    await runUntilIdle(world, waiting, { forMs: MINUTE_MS });
    expect(world.provider.calls).toHaveLength(1);
    expect(answered()).toEqual([]);
  });

  it('is paused anew, with a new item, where the mended credentials are refused too [IN4]', async () => {
    const waiting = await threeLeadsWait();
    await mend(world);
    world.provider.next(() => REFUSED);
    await runUntilIdle(world, waiting, { forMs: MINUTE_MS });
    expect(world.provider.calls).toHaveLength(2);
    expect(await openItems(world)).toMatchObject([{ kind: 'credentials' }]);
    expect(await world.rows(`select id from work_items where kind = 'credentials'`)).toHaveLength(
      2,
    );
  });
});

describe('an integration that refuses our credentials', () => {
  let world: World;
  let http: HttpClient;
  let crm: Receiver;
  let audit: Receiver;
  let activities: JobActivities;

  beforeAll(async () => {
    world = await makeWorld();
    http = makeHttpClient();
    activities = jobActivities(world, http);
  });
  beforeEach(async () => {
    [crm, audit] = await Promise.all([startReceiver(), startReceiver()]);
  });
  afterEach(async () => {
    await Promise.all([crm.close(), audit.close()]);
    await world.rows('delete from integrations');
    await world.reset();
  });
  afterAll(async () => {
    await http.close();
    await world.close();
  });

  const startable = async () => {
    const options = { limit: 25, perBusiness: 10, now: world.clock.iso };
    return (await listStartableJobs(world.database.service, options)).map(
      ({ operation }) => operation,
    );
  };

  it.each([401, 403])(
    'with %i is paused alone; its jobs wait, uncounted, and go on once it is mended [IN4]',
    async (status) => {
      const integration = await connect(world, 'crm-webhook', { url: crm.url });
      await connect(world, 'audit-webhook', { url: audit.url });
      await world.write({ text: 'My sink leaks' });
      const job = await jobOf(world, 'crm-upsert');
      const takes = crm.answer;
      crm.answer = (response) => response.writeHead(status).end();
      expect(await attempt(activities, job)).toEqual({ state: 'waits' });
      expect(await jobRow(world, job)).toMatchObject({ state: 'queued', ended: false });
      expect(await openItems(world)).toEqual([
        { kind: 'credentials', reason: `http-${status}`, subject: integration },
      ]);
      world.clock.advance(3 * 3_600_000);
      expect(await startable()).toEqual(['audit-export']);
      // Even a run that comes by itself does not knock again.
      expect(await attempt(activities, job)).toEqual({ state: 'waits' });
      expect(crm.seen).toHaveLength(1);
      crm.answer = takes;
      await mend(world);
      expect((await startable()).sort()).toEqual(['audit-export', 'crm-upsert']);
      expect(await attempt(activities, job)).toEqual({ state: 'ended' });
      expect(crm.taken.size).toBe(1);
    },
  );

  it('holds up no other job, however many wait for it [IN4] [IN2]', async () => {
    await connect(world, 'crm-webhook', { url: crm.url });
    await world.write({ text: 'My sink leaks' });
    const job = await jobOf(world, 'crm-upsert');
    const takes = crm.answer;
    crm.answer = (response) => response.writeHead(401).end();
    expect(await attempt(activities, job)).toEqual({ state: 'waits' });
    crm.answer = takes;
    await world.rows(
      `insert into delivery_jobs (id, receipt_id, business_id, conversation_id, job_key, operation,
         state, attempts, next_attempt_at, created_at)
       select 'job_' || n, receipt_id, business_id, conversation_id, 'waits-' || n, operation,
         state, attempts, next_attempt_at, created_at
       from delivery_jobs, generate_series(1, 1200) as n where id = $1`,
      [job],
    );
    await connect(world, 'audit-webhook', { url: audit.url });
    world.clock.advance(1_000);
    await world.write({ text: 'It is the kitchen sink', lead: '+13125550165' });
    expect(await startable()).toEqual(['audit-export']);
    await world.rows(`delete from delivery_jobs where job_key like 'waits-%'`);
    await mend(world);
    expect((await startable()).sort()).toEqual(['audit-export', 'crm-upsert', 'crm-upsert']);
  });

  it('is asked after once a minute by a job that is done but for it [IN4]', async () => {
    await connect(world, 'audit-webhook', { url: audit.url });
    await connect(world, 'audit-webhook', { url: crm.url }, null);
    await world.write({ text: 'My sink leaks' });
    const job = await jobOf(world, 'audit-export');
    const takes = audit.answer;
    audit.answer = (response) => response.writeHead(403).end();
    expect(await attempt(activities, job, 'audit-export')).toEqual({ state: 'waits' });
    const dueInS = async () => {
      const [row] = await world.rows(
        `select extract(epoch from next_attempt_at - $2)::int as s from delivery_jobs where id = $1`,
        [job, world.clock.iso],
      );
      return row?.['s'];
    };
    expect(await startable()).toEqual([]);
    expect(await dueInS()).toBe(60);
    audit.answer = takes;
    await mend(world);
    world.clock.advance(60_000);
    expect(await startable()).toEqual(['audit-export']);
    expect(await attempt(activities, job, 'audit-export')).toEqual({ state: 'ended' });
    expect([crm.seen.length, audit.seen.length]).toEqual([1, 2]);
  });

  it('does not use up the tries of its jobs [IN4]', async () => {
    await connect(world, 'crm-webhook', { url: crm.url });
    await world.write({ text: 'My sink leaks' });
    const job = await jobOf(world, 'crm-upsert');
    for (let pauses = 1; pauses <= 6; pauses += 1) {
      crm.answer = (response) => response.writeHead(401).end();
      expect(await attempt(activities, job)).toEqual({ state: 'waits' });
      await mend(world);
    }
    crm.answer = (response) => response.writeHead(500).end();
    expect(await attempt(activities, job)).toMatchObject({ state: 'retry' });
    expect(await jobRow(world, job)).toMatchObject({ attempts: 7 });
  });
});
