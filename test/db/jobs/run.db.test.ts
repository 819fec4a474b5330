import type { JobActivities } from '../../../activities/contract';
import type { HttpClient } from '../../../channels/http';
import { beginJob, endJobAttempt, listStartableJobs, noteStartedJobs } from '../../../db/jobs';
import { makeWorld, type World } from '../../support/world';
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

describe('a delivery job', () => {
  let world: World;
  let http: HttpClient;
  let crm: Receiver;
  let activities: JobActivities;

  beforeAll(async () => {
    world = await makeWorld();
    http = makeHttpClient();
    activities = jobActivities(world, http);
  });
  beforeEach(async () => {
    crm = await startReceiver();
  });
  afterEach(async () => {
    await crm.close();
    await world.rows('delete from integrations');
    await world.reset();
  });
  afterAll(async () => {
    await http.close();
    await world.close();
  });

  const startable = async () => {
    const options = { limit: 25, perBusiness: 10, now: world.clock.iso };
    return (await listStartableJobs(world.database.service, options)).map(({ id }) => id);
  };
  const operations = () =>
    world.rows('select attempt, outcome, code from job_attempts order by attempt, integration_id');
  const items = () => world.rows('select kind, reason, subject_id as subject from work_items');

  const withCrm = async (): Promise<string> => {
    await connect(world, 'crm-webhook', { url: crm.url });
    await world.write({ text: 'My sink leaks' });
    return jobOf(world, 'crm-upsert');
  };

  it('without anything connected has succeeded with the message, without a call or a start [IN2]', async () => {
    await world.write({ text: 'My sink leaks' });
    expect(
      await world.rows(
        `select operation, state, attempts, ended_at is not null as ended
         from delivery_jobs order by operation`,
      ),
    ).toEqual([
      { operation: 'audit-export', state: 'succeeded', attempts: 0, ended: true },
      { operation: 'crm-upsert', state: 'succeeded', attempts: 0, ended: true },
      { operation: 'initial-response', state: 'queued', attempts: 0, ended: false },
    ]);
    expect(await startable()).toEqual([]);
  });

  it('writes the contact to the CRM under its own key, once [IN2] [P6]', async () => {
    const job = await withCrm();
    expect(await startable()).toEqual([job]);
    expect(await attempt(activities, job)).toEqual({ state: 'ended' });
    expect([...crm.taken.values()]).toMatchObject([
      {
        id: expect.stringMatching(/^rcp_\w+:crm-upsert:v1$/),
        type: 'contact.upserted',
        data: {
          channel: 'sms',
          name: null,
          addresses: [{ kind: 'phone', value: '+13125550142', optedOut: false }],
        },
      },
    ]);
    expect([...crm.taken.keys()]).toEqual([
      (await world.rows(`select job_key from delivery_jobs where id = $1`, [job]))[0]?.['job_key'],
    ]);
    expect(await jobRow(world, job)).toEqual({
      state: 'succeeded',
      attempts: 1,
      code: null,
      ended: true,
    });
    expect(await startable()).toEqual([]);
    expect(await attempt(activities, job)).toEqual({ state: 'ended' });
    expect(crm.seen).toHaveLength(1);
  });

  it('is marked, counted and has its operation row committed before the call [IN2]', async () => {
    const job = await withCrm();
    let during: unknown;
    const answered = new Promise<void>((resolve, reject) => {
      crm.answer = (response, request) => {
        Promise.all([jobRow(world, job), operations()])
          .then((rows) => {
            during = rows;
            crm.take(request);
            response.writeHead(200).end();
            resolve();
          })
          .catch(reject);
      };
    });
    await Promise.all([attempt(activities, job), answered]);
    expect(during).toEqual([
      { state: 'running', attempts: 1, code: null, ended: false },
      [{ attempt: 1, outcome: null, code: null }],
    ]);
  });

  it('fails five times after 1, 5, 30 and 120 s, then is an operator’s to review, once [IN4]', async () => {
    const job = await withCrm();
    crm.answer = (response) => response.writeHead(500).end();
    for (const least of [1_000, 5_000, 30_000, 120_000]) {
      const end = await attempt(activities, job);
      expect(end.state).toBe('retry');
      const delayMs = 'delayMs' in end ? end.delayMs : 0;
      expect(delayMs).toBeGreaterThanOrEqual(least);
      expect(delayMs).toBeLessThan(least + 1_000);
      expect(await jobRow(world, job)).toMatchObject({ state: 'queued', code: 'http-500' });
      expect(await startable()).toEqual([]);
      world.clock.advance(delayMs);
    }
    expect(await attempt(activities, job)).toEqual({ state: 'review' });
    expect(await jobRow(world, job)).toEqual({
      state: 'review',
      attempts: 5,
      code: 'http-500',
      ended: true,
    });
    expect(await items()).toEqual([{ kind: 'job-review', reason: 'http-500', subject: job }]);
    expect(await attempt(activities, job)).toEqual({ state: 'ended' });
    expect(crm.seen).toHaveLength(5);
    expect(await operations()).toHaveLength(5);
    world.clock.advance(3_600_000);
    expect(await startable()).toEqual([]);
  });

  it('waits as long as Retry-After asks [IN4]', async () => {
    const job = await withCrm();
    crm.answer = (response) => response.writeHead(429, { 'retry-after': '77' }).end();
    expect(await attempt(activities, job)).toEqual({ state: 'retry', delayMs: 77_000 });
  });

  it.each<[string, Record<string, string>]>([
    ['its back-off', {}],
    ['Retry-After', { 'retry-after': '77' }],
  ])(
    'is not begun before %s is over where nobody told Temporal of that wait [IN4]',
    async (_name, headers) => {
      const job = await withCrm();
      const takes = crm.answer;
      crm.answer = (response) => response.writeHead(429, headers).end();
      const failed = await attempt(activities, job);
      const delayMs = 'delayMs' in failed ? failed.delayMs : 0;
      expect(delayMs).toBeGreaterThanOrEqual(1_000);
      crm.answer = takes;
      // The worker died with its verdict: Temporal asks again by a schedule of its own.
      world.clock.advance(400);
      expect(await attempt(activities, job)).toEqual({ state: 'retry', delayMs: delayMs - 400 });
      world.clock.advance(delayMs - 401);
      expect(await attempt(activities, job)).toEqual({ state: 'retry', delayMs: 1 });
      expect(await jobRow(world, job)).toMatchObject({ state: 'queued', attempts: 1 });
      expect(crm.seen).toHaveLength(1);
      world.clock.advance(1);
      expect(await attempt(activities, job)).toEqual({ state: 'ended' });
      expect(await jobRow(world, job)).toMatchObject({ state: 'succeeded', attempts: 2 });
    },
  );

  it('whose timer was lost begins at once when the loop starts it once more [IN4] [R6]', async () => {
    const job = await withCrm();
    const takes = crm.answer;
    crm.answer = (response) => response.writeHead(500).end();
    await attempt(activities, job);
    crm.answer = takes;
    world.clock.advance(32_000);
    expect(await startable()).toEqual([job]);
    await noteStartedJobs(world.database.service, [job], world.clock.iso);
    expect(await startable()).toEqual([]);
    expect(await attempt(activities, job)).toEqual({ state: 'ended' });
  });

  it('keeps the wait of its verdict where the start is noted behind it [IN4]', async () => {
    const job = await withCrm();
    crm.answer = (response) => response.writeHead(500).end();
    const failed = await attempt(activities, job);
    await noteStartedJobs(world.database.service, [job], world.clock.iso);
    expect(await attempt(activities, job)).toEqual(failed);
  });

  it('that the receiver refuses for good is reviewed without a second call [IN4]', async () => {
    const job = await withCrm();
    crm.answer = (response) => response.writeHead(410).end();
    expect(await attempt(activities, job)).toEqual({ state: 'review' });
    expect(crm.seen).toHaveLength(1);
  });

  it('whose settings cannot be used is reviewed, not tried five times [IN4]', async () => {
    await connect(world, 'crm-webhook', { address: 'no url' });
    await world.write({ text: 'My sink leaks' });
    const job = await jobOf(world, 'crm-upsert');
    expect(await attempt(activities, job)).toEqual({ state: 'review' });
    expect(await items()).toMatchObject([{ reason: 'bad-settings' }]);
  });

  it('of a late worker is kept as evidence and changes nothing [IN4]', async () => {
    const job = await withCrm();
    const { service } = world.database;
    const late = await beginJob(service, job, world.clock.iso);
    if (late.kind !== 'begun') throw new Error('the first attempt did not begin');
    crm.answer = (response) => response.writeHead(500).end();
    expect(await attempt(activities, job)).toMatchObject({ state: 'retry' });
    const [target] = late.attempt.targets;
    const results = new Map([
      [target?.id ?? '', { outcome: 'accepted', code: null, retryAfterMs: null } as const],
    ]);
    const draw = { random: 0, now: world.clock.iso };
    expect(await endJobAttempt(service, late.attempt, results, draw)).toBeNull();
    expect(await jobRow(world, job)).toMatchObject({ state: 'queued', attempts: 2 });
    expect(await operations()).toEqual([
      { attempt: 1, outcome: 'accepted', code: null },
      { attempt: 2, outcome: 'unknown', code: 'http-500' },
    ]);
    // The evidence is enough: the next attempt ends the job without a third call.
    world.clock.advance(60_000);
    expect(await startable()).toEqual([job]);
    expect(await attempt(activities, job)).toEqual({ state: 'ended' });
    expect(crm.seen).toHaveLength(1);
  });

  it('whose workers die one after the other is reviewed instead of a sixth call [IN4]', async () => {
    const job = await withCrm();
    for (let dead = 1; dead <= 5; dead += 1) {
      const start = await beginJob(world.database.service, job, world.clock.iso);
      expect(start.kind).toBe('begun');
      world.clock.advance(90_000);
      expect(await startable()).toEqual([job]);
    }
    expect(await attempt(activities, job)).toEqual({ state: 'review' });
    expect(await items()).toMatchObject([{ kind: 'job-review', reason: 'attempts_lost' }]);
    expect(crm.seen).toHaveLength(0);
  });

  it('of one business is not held up by the backlog of another [IN2]', async () => {
    await connect(world, 'crm-webhook', { url: crm.url });
    for (let index = 0; index < 12; index += 1) await world.write({ text: `Message ${index}` });
    expect(await startable()).toHaveLength(10);
  });

  it.each([
    ['its own', null, ['accepted', 'unknown'], { state: 'retry' }],
    ['all of them', 'mended', ['accepted', 'unknown', 'accepted'], { state: 'ended' }],
  ])(
    'of two receivers repeats only what failed: %s [IN2] [IN4]',
    async (_name, mended, outcomes, end) => {
      const second = await startReceiver();
      await connect(world, 'audit-webhook', { url: crm.url });
      await connect(world, 'audit-webhook', { url: second.url }, null);
      await world.write({ text: 'My sink leaks' });
      const job = await jobOf(world, 'audit-export');
      const { answer } = second;
      second.answer = (response) => response.writeHead(502).end();
      let last = await attempt(activities, job, 'audit-export');
      if (mended !== null) {
        second.answer = answer;
        world.clock.advance(1_250);
        last = await attempt(activities, job, 'audit-export');
      }
      expect(last).toMatchObject(end);
      expect((await operations()).map(({ outcome }) => outcome).sort()).toEqual(outcomes.sort());
      expect(crm.seen).toHaveLength(1);
      await second.close();
    },
  );

  it('tells contacts to the CRM of their own business only [IN2] [P6]', async () => {
    await connect(world, 'crm-webhook', { url: crm.url }, null);
    await world.write({ text: 'My sink leaks' });
    expect(await startable()).toEqual([]);
  });
});
