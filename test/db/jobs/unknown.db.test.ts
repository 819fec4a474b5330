import { mkdtemp, readFile, rm, writeFile, appendFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JobActivities } from '../../../activities/contract';
import type { HttpClient } from '../../../channels/http';
import { beginJob } from '../../../db/jobs';
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

describe('a job whose call had its effect although nobody heard so', () => {
  let world: World;
  let http: HttpClient;
  let crm: Receiver;
  let directory: string;
  let activities: JobActivities;

  beforeAll(async () => {
    world = await makeWorld();
    http = makeHttpClient();
  });
  beforeEach(async () => {
    crm = await startReceiver();
    directory = await mkdtemp(join(tmpdir(), 'audit-'));
    activities = jobActivities(world, http, directory);
  });
  afterEach(async () => {
    await crm.close();
    await rm(directory, { recursive: true });
    await world.rows('delete from integrations');
    await world.reset();
  });
  afterAll(async () => {
    await http.close();
    await world.close();
  });

  it.each<[string, Receiver['answer']]>([
    ['breaks the connection', (response) => response.socket?.destroy()],
    ['answers 500', (response) => response.writeHead(500).end()],
    ['answers 502', (response) => response.writeHead(502).end()],
  ])(
    'is delivered once by its id where the receiver takes it and %s [IN6] [IN2]',
    async (_name, answer) => {
      await connect(world, 'crm-webhook', { url: crm.url });
      await world.write({ text: 'My sink leaks' });
      const job = await jobOf(world, 'crm-upsert');
      const takes = crm.answer;
      crm.answer = (response, request) => {
        crm.take(request);
        answer(response, request);
      };
      expect(await attempt(activities, job)).toMatchObject({ state: 'retry' });
      crm.answer = takes;
      world.clock.advance(1_250);
      expect(await attempt(activities, job)).toEqual({ state: 'ended' });
      expect(crm.seen).toHaveLength(2);
      expect(crm.taken.size).toBe(1);
      expect(await jobRow(world, job)).toMatchObject({ state: 'succeeded', attempts: 2 });
    },
  );

  it('is delivered once by its id where the worker dies behind the call [IN6] [IN2]', async () => {
    await connect(world, 'crm-webhook', { url: crm.url });
    await world.write({ text: 'My sink leaks' });
    const job = await jobOf(world, 'crm-upsert');
    // The first worker gets as far as the call; its answer never becomes a fact.
    const dead = jobActivities(world, {
      call: async (request) => {
        await http.call(request);
        throw new Error('the worker is gone');
      },
      close: () => Promise.resolve(),
    });
    await expect(attempt(dead, job)).rejects.toThrow('the worker is gone');
    expect(await jobRow(world, job)).toMatchObject({ state: 'running', attempts: 1 });
    expect(await attempt(activities, job)).toEqual({ state: 'ended' });
    expect(crm.seen).toHaveLength(2);
    expect(crm.taken.size).toBe(1);
  });

  const lines = async (path = 'audit.jsonl'): Promise<unknown[]> => {
    const text = await readFile(join(directory, path), 'utf8');
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line): unknown => JSON.parse(line));
  };
  const withFile = async (path = 'audit.jsonl'): Promise<string> => {
    await connect(world, 'audit-file', { path });
    await world.write({ text: 'My canary sink leaks' });
    return jobOf(world, 'audit-export');
  };

  it('writes one line of ids and digests into the audit file [IN2] [IN5] [C8]', async () => {
    const job = await withFile('2026/audit.jsonl');
    expect(await attempt(activities, job, 'audit-export')).toEqual({ state: 'ended' });
    const written = await lines('2026/audit.jsonl');
    expect(written).toMatchObject([
      {
        id: expect.stringMatching(/^rcp_\w+:audit-export:v1$/),
        type: 'intake.audited',
        data: { provider: 'twilio', kind: 'message', duplicates: [] },
      },
    ]);
    expect(JSON.stringify(written)).not.toMatch(/canary|5550142/);
  });

  it('finds its line in the audit file where the worker died behind the write [IN6] [IN2]', async () => {
    const job = await withFile();
    const start = await beginJob(world.database.service, job, world.clock.iso);
    if (start.kind !== 'begun') throw new Error('the first attempt did not begin');
    const { jobKey } = start.attempt;
    await writeFile(join(directory, 'audit.jsonl'), `${JSON.stringify({ id: jobKey })}\n`);
    expect(await attempt(activities, job, 'audit-export')).toEqual({ state: 'ended' });
    expect(await lines()).toEqual([{ id: jobKey }]);
  });

  it('writes its line anew where the worker died in the middle of it [IN6] [IN2]', async () => {
    const job = await withFile();
    const start = await beginJob(world.database.service, job, world.clock.iso);
    expect(start.kind).toBe('begun');
    await appendFile(join(directory, 'audit.jsonl'), '{"id":"rcp_');
    expect(await attempt(activities, job, 'audit-export')).toEqual({ state: 'ended' });
    const text = await readFile(join(directory, 'audit.jsonl'), 'utf8');
    const [torn, whole, end] = text.split('\n');
    expect(torn).toBe('{"id":"rcp_');
    expect(JSON.parse(whole ?? '')).toMatchObject({ type: 'intake.audited' });
    expect(end).toBe('');
  });

  it.each(['../audit.jsonl', '/etc/audit.jsonl', 'a/../../b', '.hidden', '', 'a//b'])(
    'writes no file outside its directory: %p [IN2]',
    async (path) => {
      const job = await withFile(path);
      expect(await attempt(activities, job, 'audit-export')).toEqual({ state: 'review' });
      expect(await jobRow(world, job)).toMatchObject({ code: 'bad-path' });
    },
  );

  it('waits for a directory where none is configured, instead of losing the record [IN2]', async () => {
    const job = await withFile();
    const without = jobActivities(world, http, null);
    expect(await attempt(without, job, 'audit-export')).toMatchObject({ state: 'retry' });
    expect(await jobRow(world, job)).toMatchObject({ code: 'no_export_directory' });
  });
});
