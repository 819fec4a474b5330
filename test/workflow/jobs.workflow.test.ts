import { Client, Connection } from '@temporalio/client';
import type { JobRef } from '../../activities/contract';
import type { HttpClient } from '../../channels/http';
import { startJobsOnce } from '../../upkeep/jobs';
import { deliveryJobWorkflowId, UPKEEP_QUEUE } from '../../workflows/contract';
import {
  connect,
  jobActivities,
  jobOf,
  jobRow,
  makeHttpClient,
  startReceiver,
  type Receiver,
} from '../db/jobs/scene';
import { eventually, makeTemporalWorld, type TemporalWorld } from '../support/temporal-world';

const LEAD = '+13125550171';
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('the workflow of a delivery job', () => {
  let temporal: TemporalWorld;
  let http: HttpClient;
  let crm: Receiver;
  let stopWorker: () => Promise<void> = () => Promise.resolve();
  let runJob: (ref: JobRef) => unknown;
  let served = false;
  const hanging: { release: (value: unknown) => void } = { release: () => undefined };

  beforeAll(async () => {
    temporal = await makeTemporalWorld();
    http = makeHttpClient();
  });
  beforeEach(async () => {
    crm = await startReceiver();
    await connect(temporal.world, 'crm-webhook', { url: crm.url });
  });
  afterEach(async () => {
    await crm.close();
    await temporal.world.rows('delete from integrations');
    await temporal.world.reset();
  });
  afterAll(async () => {
    await stopWorker();
    await http.close();
    await temporal.close();
  });

  /** One worker serves the whole file, from its first use on; what it does may change. */
  const serve = async (act: (ref: JobRef) => unknown) => {
    runJob = act;
    if (served) return;
    served = true;
    stopWorker = await temporal.serve(UPKEEP_QUEUE, { runJob: (ref: JobRef) => runJob(ref) });
  };
  const serveTruly = () => serve(jobActivities(temporal.world, http).runJob);
  const startJobs = (client = temporal.client) =>
    startJobsOnce({
      pool: temporal.world.database.service,
      client,
      clock: temporal.world.dependencies.clock,
      log: silent,
    });
  const runOf = (job: string) => temporal.client.workflow.getHandle(deliveryJobWorkflowId(job));

  /** Moves virtual time on, never while an attempt is under way, until the job's row has ended. */
  async function carriedOut(job: string): Promise<void> {
    let looks = 0;
    await eventually(
      async () => {
        const { state, ended } = await jobRow(temporal.world, job);
        looks += 1;
        if (ended !== true && state === 'queued' && looks % 10 === 0)
          await temporal.skip('5 seconds');
        return ended === true;
      },
      'the job is carried out',
      50_000,
    );
  }

  /** A lead who was answered, and the job that follows its message. */
  async function answeredWithJob(): Promise<string> {
    await temporal.receive({ text: 'My canary sink leaks', lead: LEAD });
    await eventually(() => temporal.world.provider.accepted.length === 1, 'the lead is answered');
    await eventually(
      async () =>
        (await temporal.world.rows(`select from outbox where state = 'accepted'`)).length > 0,
      'the answer is recorded',
    );
    return jobOf(temporal.world, 'crm-upsert');
  }

  /** Everything that says what was sent and what is owed. */
  const record = () =>
    Promise.all(
      ['outbox', 'send_attempts', 'send_outcomes', 'sent_markers', 'messages'].map((table) =>
        temporal.world.rows(`select * from ${table} t order by t::text`),
      ),
    );

  it('without a worker touches no record; it is one run, readable, and holds ids only [IN2] [O4] [C8] [T10]', async () => {
    const job = await answeredWithJob();
    const before = await record();
    expect(await startJobs()).toEqual({ started: 1, refused: 0 });
    expect(await startJobs()).toEqual({ started: 0, refused: 0 });
    // Half a minute later; virtual time keeps real time while nobody takes up a workflow task.
    await temporal.world.rows(
      `update delivery_jobs set next_attempt_at = next_attempt_at - interval '31 seconds'`,
    );
    expect(await startJobs()).toEqual({ started: 1, refused: 0 });
    const { runId, typedSearchAttributes } = await runOf(job).describe();
    expect(JSON.stringify(typedSearchAttributes)).toContain('biz_');
    expect(await record()).toEqual(before);
    await serveTruly();
    await carriedOut(job);
    expect((await runOf(job).describe()).runId).toBe(runId);
    const history = await runOf(job).fetchHistory();
    const decoded = JSON.stringify(history).replace(/"data":"([\w+/=]+)"/g, (_all, data: string) =>
      Buffer.from(data, 'base64').toString('utf8'),
    );
    expect(decoded).toContain(job);
    expect(decoded).not.toMatch(/canary|5550171/);
  });

  it('is started by the loop, tries again after 1, 5 and 30 s, and ends with its row [IN2] [IN4]', async () => {
    const job = await answeredWithJob();
    const takes = crm.answer;
    crm.answer = (response, request) => {
      if (crm.seen.length <= 3) response.writeHead(500).end();
      else takes(response, request);
    };
    await serveTruly();
    expect(await startJobs()).toEqual({ started: 1, refused: 0 });
    await carriedOut(job);
    expect(await jobRow(temporal.world, job)).toMatchObject({ state: 'succeeded', attempts: 4 });
    const waits = await temporal.world.rows(
      `select extract(epoch from started_at - lag(ended_at) over (order by attempt))::float8 as s
       from job_attempts order by attempt offset 1`,
    );
    expect(waits).toHaveLength(3);
    for (const [index, least] of [1, 5, 30].entries()) {
      expect(waits[index]?.['s']).toBeGreaterThanOrEqual(least);
    }
    expect(crm.taken.size).toBe(1);
  });

  it('ends in review with one item for the operators once its tries are used up [IN4]', async () => {
    const job = await answeredWithJob();
    crm.answer = (response) => response.writeHead(500).end();
    await serveTruly();
    await startJobs();
    await carriedOut(job);
    expect(await jobRow(temporal.world, job)).toMatchObject({ state: 'review', attempts: 5 });
    expect(await temporal.world.rows('select kind, subject_id from work_items')).toEqual([
      { kind: 'job-review', subject_id: job },
    ]);
  });

  it('that Temporal refused to start is started at the next tick [IN2] [R6]', async () => {
    const job = await answeredWithJob();
    const connection = Connection.lazy({ address: '127.0.0.1:1' });
    expect(await startJobs(new Client({ connection }))).toEqual({ started: 0, refused: 1 });
    await connection.close();
    expect(await startJobs()).toEqual({ started: 1, refused: 0 });
    await serveTruly();
    await carriedOut(job);
    expect(await jobRow(temporal.world, job)).toMatchObject({ state: 'succeeded' });
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('a bug of post-send work');
      },
    ],
    ['gives back {}', () => ({})],
    ['gives back nothing', () => undefined],
    ['gives back text', () => 'done?'],
    ['hangs', () => new Promise((resolve) => (hanging.release = resolve))],
  ])(
    'that %s leaves the record of the send as it was, and the job is carried out later [T10]',
    async (name, act) => {
      const hangs = name === 'hangs';
      let called = 0;
      await serve(() => {
        called += 1;
        return act();
      });
      const job = await answeredWithJob();
      const before = await record();
      await startJobs();
      await eventually(() => called > 0, 'the post-send work runs');
      // Virtual time stands still while an activity hangs.
      if (!hangs) await temporal.skip('40 seconds');
      expect(await record()).toEqual(before);
      expect(
        await temporal.world.rows('select from conversations where owed_since is not null'),
      ).toEqual([]);
      expect(temporal.world.provider.calls).toHaveLength(1);
      await serveTruly();
      hanging.release({});
      if (hangs) await temporal.skip('40 seconds');
      await startJobs();
      await carriedOut(job);
      expect(await jobRow(temporal.world, job)).toMatchObject({ state: 'succeeded' });
      expect(crm.taken.size).toBe(1);
      expect(await record()).toEqual(before);
    },
  );
});
