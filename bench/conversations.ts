/**
 * Two whole conversations, BENCH-A and BENCH-B, over days of virtual time: the product's workflow,
 * activities, engine and channel against real Postgres and the time-skipping server. What counts
 * afterwards is what their histories hold.
 */
import { Context } from '@temporalio/activity';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { makeConversationActivities } from '../activities';
import { engine } from '../ai/engine';
import { prepareElement } from '../api/webhooks/prepare';
import { makeChannels } from '../channels/registry';
import { openPool, run, statement } from '../db/database';
import { sha256 } from '../db/digest';
import { ingest } from '../db/ingest/ingest';
import { newId } from '../db/new-id';
import { DEMO_BUSINESS } from '../dev/demo';
import type { MessageElement } from '../domain/inbound';
import { registerSearchAttributes } from '../upkeep/bootstrap';
import { makeWaker } from '../upkeep/waker';
import { conversationWorkflowId, CONVERSATIONS_QUEUE } from '../workflows/contract';
import { countHistory, type HistoryEvent } from './actions';
import { required } from './responder';
import { serveParent } from './parent';
import type { ConversationResult } from './results';

const SMS_NUMBER = '+13125550100';
const WAIT_MS = 30_000;
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

const pool = openPool({
  connectionString: required('BENCH_DATABASE_URL'),
  max: 6,
  applicationName: 'bench-conversations',
  onError: (error) => console.error(error),
});

interface Progress {
  readonly owed: boolean;
  readonly open: number;
  readonly accepted: number;
}

const readProgress = statement<Progress>(
  'bench-progress',
  `select c.owed_since is not null as owed,
     count(o.id) filter (where o.state in ('queued', 'leased', 'sending'))::int as open,
     count(o.id) filter (where o.state in ('accepted', 'delivered'))::int as accepted
   from conversations c left join outbox o on o.conversation_id = c.id
   where c.id = $1 group by c.id`,
);

const readOutcomes = statement<{ outcome: string; count: number }>(
  'bench-outcomes',
  `select coalesce(m.settlement, 'owed') as outcome, count(*)::int as count
   from messages m where m.conversation_id = $1 and m.owes and m.direction = 'in' group by 1`,
);

function smsFrom(lead: string, text: string): MessageElement {
  const id = `SM${newId('msg').slice(4)}`;
  return {
    type: 'message',
    path: '$',
    channel: 'sms',
    accountExternalId: SMS_NUMBER,
    eventKey: `message:${id}`,
    stableContent: JSON.stringify([lead, text]),
    source: { at: null, precision: 'none' },
    providerMessageId: id,
    from: [{ kind: 'phone', value: lead }],
    profileName: null,
    text,
    media: [],
    unsupported: false,
    providerOptOut: null,
    providerConfirmsOptOut: false,
  };
}

/** Stores a text as the api does, but at the instant of the virtual clock. */
function store(lead: string, text: string, at: string) {
  const body = Buffer.from(text);
  return ingest(
    pool,
    {
      raw: {
        id: newId('raw'),
        provider: 'twilio',
        target: '/webhooks/twilio/sms',
        contentType: null,
        body,
        bodySha256: sha256(body),
      },
      elements: [prepareElement(smsFrom(lead, text), () => false)],
      ingress: { acceptedAt: at, normalizedAt: at, normalizeMs: 0 },
    },
    at,
  );
}

async function startWorld() {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: {
      executable: { type: 'existing-path', path: required('UNSILENT_TEMPORAL_TEST_SERVER') },
    },
  });
  await registerSearchAttributes(environment.client);
  const clock = { now: async () => new Date(await environment.currentTimeMs()).toISOString() };
  const channels = makeChannels({
    publicUrl: 'http://127.0.0.1',
    twilio: {
      apiUrl: required('TWILIO_API_URL'),
      accountSid: 'AC00000000000000000000000000000001',
      authTokens: ['bench-twilio-token'],
    },
  });
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    taskQueue: CONVERSATIONS_QUEUE,
    workflowBundle: { codePath: required('BENCH_WORKFLOW_BUNDLE') },
    activities: makeConversationActivities({
      pool,
      markerPool: pool,
      senders: channels.senders,
      engine,
      clock,
      log: silent,
      hashKey: 'hash-key-of-the-bench',
      workerId: 'bench',
      beat: () => Context.current().heartbeat(),
      reach: () => undefined,
    }),
  });
  const running = worker.run();
  const waker = makeWaker(environment.client, silent);
  return { environment, clock, waker, worker, running, channels };
}

type World = Awaited<ReturnType<typeof startWorld>>;

/** One conversation under way, with every run that its workflow has had. */
function makeConversation(world: World, lead: string) {
  const { environment, clock, waker } = world;
  const runIds = new Set<string>();
  let id = '';
  const handle = (runId?: string) =>
    environment.client.workflow.getHandle(conversationWorkflowId(id), runId);

  const progress = async (): Promise<Progress> => {
    const [row] = await run(pool, readProgress, [id]);
    if (row === undefined) throw new Error('the conversation is not there');
    return row;
  };
  const until = async (holds: () => Promise<boolean>, what: string) => {
    const endsAt = Date.now() + WAIT_MS;
    while (!(await holds())) {
      if (Date.now() > endsAt) throw new Error(`${lead}: it never came true that ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    runIds.add((await handle().describe()).runId);
  };
  return {
    /** The lead writes, and the turn comes to its end. */
    async writes(text: string) {
      for (const target of (await store(lead, text, await clock.now())).wake) {
        id = target.id;
        await waker.wake(target, 'inbound');
      }
      await until(async () => {
        const { owed, open } = await progress();
        return !owed && open === 0;
      }, 'the message is settled');
    },
    /** Time passes until one more message of ours has left. */
    async followsUpWithin(duration: '25 hours' | '2 days' | '4 days') {
      const { accepted } = await progress();
      await environment.sleep(duration);
      await until(async () => (await progress()).accepted > accepted, 'a follow-up left');
    },
    async completes() {
      await until(async () => {
        const { status } = await handle().describe();
        return status.name === 'COMPLETED';
      }, 'the run completes');
    },
    pause: () => environment.sleep('10 minutes'),
    async result() {
      const runs: HistoryEvent[][] = [];
      for (const runId of runIds) {
        const { events } = await handle(runId).fetchHistory();
        runs.push(events ?? []);
      }
      const rows = await run(pool, readOutcomes, [id]);
      const outcomes = Object.fromEntries(rows.map(({ outcome, count }) => [outcome, count]));
      return { ...countHistory(runs), accepted: (await progress()).accepted, outcomes };
    },
  };
}

const OPENING = 'My water heater is leaking, can you come today? 60614';

async function runA(world: World): Promise<ConversationResult> {
  const lead = makeConversation(world, '+13125550141');
  await lead.writes(OPENING);
  await lead.followsUpWithin('25 hours');
  await lead.followsUpWithin('2 days');
  await lead.followsUpWithin('4 days');
  await lead.completes();
  return lead.result();
}

async function runB(world: World): Promise<ConversationResult> {
  const lead = makeConversation(world, '+13125550142');
  await lead.writes(OPENING);
  await lead.followsUpWithin('25 hours');
  await lead.writes('Sorry for the late answer. It is a 50 gallon tank.');
  await lead.pause();
  await lead.writes(`Tomorrow morning would work. Is ${DEMO_BUSINESS.name} licensed?`);
  await lead.completes();
  return lead.result();
}

async function runBoth() {
  const world = await startWorld();
  try {
    return { a: await runA(world), b: await runB(world) };
  } finally {
    world.worker.shutdown();
    await world.running;
    await world.channels.close();
    await world.environment.teardown();
  }
}

serveParent({}, { run: runBoth });
