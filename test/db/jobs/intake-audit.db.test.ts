import type { JobActivities } from '../../../activities/contract';
import type { HttpClient } from '../../../channels/http';
import { sha256 } from '../../../db/digest';
import { readConversationIntake, readIntakeAudit } from '../../../db/intake-audit';
import { answer } from '../../support/answering';
import { makeWorld, type World } from '../../support/world';
import {
  attempt,
  connect,
  jobActivities,
  jobOf,
  makeHttpClient,
  startReceiver,
  type Receiver,
} from './scene';

describe('the audit of one event', () => {
  let world: World;
  let http: HttpClient;
  let receiver: Receiver;
  let activities: JobActivities;

  beforeAll(async () => {
    world = await makeWorld();
    http = makeHttpClient();
    receiver = await startReceiver();
    activities = jobActivities(world, http);
  });
  afterEach(async () => {
    await world.rows('delete from integrations');
    await world.reset();
  });
  afterAll(async () => {
    await receiver.close();
    await http.close();
    await world.close();
  });

  const audited = async () => {
    const { id } = await world.conversation();
    return readConversationIntake(world.database.service, id, 50);
  };
  const stateOf = async (operation: string) => {
    const [first] = await audited();
    return first?.jobs.find((job) => job.operation === operation);
  };

  it('says which event, which key won, which jobs, and which duplicates made no work [IN5]', async () => {
    const message = { text: 'My canary sink leaks', id: 'SM1' };
    await world.write(message);
    await world.write(message);
    await world.write({ ...message, text: 'Something else' });
    const [first, ...others] = await audited();
    expect(others).toEqual([]);
    const [receipt] = await world.rows('select id, raw_id from webhook_receipts');
    const repeats = await world.rows('select raw_id from receipt_duplicates order by id');
    const same = sha256(JSON.stringify(['lead', message.text]));
    expect(first).toMatchObject({
      receiptId: receipt?.['id'],
      rawId: receipt?.['raw_id'],
      provider: 'twilio',
      kind: 'message',
      keySha256: sha256('message:SM1'),
      contentSha256: same,
      quarantineReason: null,
      duplicates: [
        { rawId: repeats[0]?.['raw_id'], contentSha256: same, differs: false },
        { rawId: repeats[1]?.['raw_id'], differs: true },
      ],
    });
    expect(first?.jobs).toMatchObject([
      { operation: 'audit-export', state: 'succeeded', attempts: 0, skipped: true },
      { operation: 'crm-upsert', state: 'succeeded', attempts: 0, skipped: true },
      { operation: 'initial-response', state: 'queued', attempts: 0, skipped: false },
    ]);
    expect(JSON.stringify(first)).not.toMatch(/canary|5550142/);
    expect(await readIntakeAudit(world.database.service, String(receipt?.['id']))).toEqual(first);
    expect(await readIntakeAudit(world.database.service, 'rcp_unknown')).toBeNull();
  });

  it('says how often a job was tried and where it stands [IN5] [IN4]', async () => {
    await connect(world, 'crm-webhook', { url: receiver.url });
    await world.write({ text: 'My sink leaks' });
    const takes = receiver.answer;
    receiver.answer = (response) => response.writeHead(500).end();
    await attempt(activities, await jobOf(world, 'crm-upsert'));
    receiver.answer = takes;
    expect(await stateOf('crm-upsert')).toMatchObject({
      state: 'queued',
      attempts: 1,
      lastErrorCode: 'http-500',
      skipped: false,
    });
    world.clock.advance(1_250);
    await attempt(activities, await jobOf(world, 'crm-upsert'));
    expect(await stateOf('crm-upsert')).toMatchObject({
      state: 'succeeded',
      attempts: 2,
      lastErrorCode: null,
    });
  });

  it('derives the initial response from debt and outbox [IN5] [IN2]', async () => {
    await world.write({ text: 'My sink leaks' });
    const seen: unknown[] = [(await stateOf('initial-response'))?.state];
    world.provider.next(async (request) => {
      seen.push((await stateOf('initial-response'))?.state);
      return world.provider.accept(request);
    });
    await answer(world);
    expect(await stateOf('initial-response')).toMatchObject({ state: 'succeeded', attempts: 1 });
    expect(seen).toEqual(['queued', 'running']);
    // A later message has an answer of its own, which is no attempt of the first one's.
    await world.write({ text: 'It is the kitchen sink' });
    expect((await audited()).map(({ jobs }) => jobs.at(-1)?.state)).toEqual([
      'succeeded',
      'queued',
    ]);
    const { id } = await world.conversation();
    const [first] = await audited();
    expect(await readConversationIntake(world.database.service, id, 1)).toEqual([first]);
  });

  it('an exhausted initial response waits for review with its work item [IN5] [IN4]', async () => {
    await world.write({ text: 'My sink leaks' });
    world.provider.next(() => ({
      kind: 'not-accepted',
      code: '21610',
      retry: 'never',
      retryAfterMs: null,
      pausesAccount: false,
      optedOut: false,
    }));
    await answer(world);
    expect(await stateOf('initial-response')).toMatchObject({ state: 'review', attempts: 1 });
  });

  it('is exported once more with the record of the answer [IN5] [T10]', async () => {
    await connect(world, 'audit-webhook', { url: receiver.url });
    await world.write({ text: 'My sink leaks' });
    await attempt(activities, await jobOf(world, 'audit-export'), 'audit-export');
    await answer(world);
    await attempt(activities, await jobOf(world, 'audit-export', 2), 'audit-export');
    const exported = [...receiver.taken].filter(([id]) => id.includes('audit-export'));
    expect(exported).toMatchObject([
      [expect.stringMatching(/:v1$/), { data: { jobs: [{}, {}, { state: 'queued' }] } }],
      [expect.stringMatching(/:v2$/), { data: { jobs: [{}, {}, {}, { state: 'succeeded' }] } }],
    ]);
  });
});
