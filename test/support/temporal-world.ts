import type { Client } from '@temporalio/client';
import type { Duration } from '@temporalio/common';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { Context } from '@temporalio/activity';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import type { ActivityDependencies } from '../../activities/dependencies';
import { makeWaker, type Waker } from '../../upkeep/waker';
import { registerSearchAttributes } from '../../upkeep/bootstrap';
import { conversationWorkflowId, CONVERSATIONS_QUEUE } from '../../workflows/contract';
import type { TestDatabase } from './database';
import { makeWorld, type World } from './world';
import type { LeadText } from './inbound';
import { keepHistory } from './recorded-histories';

/** A world whose time is the time-skipping server's, with a worker of the real bundle. */
export interface TemporalWorld {
  readonly world: World;
  readonly client: Client;
  readonly waker: Waker;
  /** Stores a lead's message and wakes its conversation, as the api does. */
  receive(...messages: readonly LeadText[]): Promise<string>;
  /** Runs a worker of one more queue until the returned function stops it. */
  serve(taskQueue: string, activities: object): Promise<() => Promise<void>>;
  /** Jumps in virtual time. */
  skip(duration: Duration): Promise<void>;
  /** Replays every run of a conversation against the bundle; a changed order of commands fails. */
  replay(conversationId: string): Promise<void>;
  close(): Promise<void>;
}

function bundlePath(): string {
  const path = process.env['TEST_WORKFLOW_BUNDLE'];
  if (path === undefined) throw new Error('the global setup of the tier builds the bundle');
  return path;
}

function testServerPath(): string {
  const path = process.env['UNSILENT_TEMPORAL_TEST_SERVER'];
  if (path === undefined) throw new Error('the global setup of the tier finds the test server');
  return path;
}

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

Runtime.install({ logger: new DefaultLogger('ERROR') });

/**
 * Makes one environment for a test file; its tests run one after the other (temporal.md 2.4).
 * `connect` gives the worker its own ways to the database.
 */
export async function makeTemporalWorld(
  connect: (database: TestDatabase) => Promise<Partial<ActivityDependencies>> = () =>
    Promise.resolve({}),
): Promise<TemporalWorld> {
  const environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: testServerPath() } },
  });
  const clock = {
    now: async () => new Date(await environment.currentTimeMs()).toISOString(),
  };
  await registerSearchAttributes(environment.client);
  const world = await makeWorld(async (database) => ({
    clock,
    beat: () => Context.current().heartbeat(),
    ...(await connect(database)),
  }));
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    taskQueue: CONVERSATIONS_QUEUE,
    workflowBundle: { codePath: bundlePath() },
    activities: world.activities,
  });
  const running = worker.run();
  const waker = makeWaker(environment.client, silent);
  return {
    world,
    client: environment.client,
    waker,
    receive: async (...messages) => {
      const result = await world.write(...messages);
      for (const target of result.wake) await waker.wake(target, 'inbound');
      const id = result.wake[0]?.id;
      if (id === undefined) throw new Error('nobody was to be woken');
      return id;
    },
    serve: async (queue, activities) => {
      const extra = await Worker.create({
        connection: environment.nativeConnection,
        taskQueue: queue,
        workflowBundle: { codePath: bundlePath() },
        activities,
      });
      const serving = extra.run();
      return async () => {
        if (extra.getState() === 'RUNNING') extra.shutdown();
        await serving;
      };
    },
    skip: (duration) => environment.sleep(duration),
    replay: (conversationId) => replayRuns(environment.client, conversationId),
    close: async () => {
      worker.shutdown();
      await running;
      await environment.teardown();
      await world.close();
    },
  };
}

/** EVENT_TYPE_WORKFLOW_TASK_SCHEDULED and _STARTED: the run's next commands are not yet written. */
const UNDER_WAY: readonly number[] = [5, 6];

async function replayRuns(client: Client, conversationId: string): Promise<void> {
  const workflowId = conversationWorkflowId(conversationId);
  const handle = client.workflow.getHandle(workflowId);
  let history = await handle.fetchHistory();
  await eventually(async () => {
    history = await handle.fetchHistory();
    const last = history.events?.at(-1)?.eventType ?? 0;
    return !UNDER_WAY.includes(last);
  }, 'the run comes to rest');
  keepHistory(workflowId, history);
  await Worker.runReplayHistory(
    { workflowBundle: { codePath: bundlePath() } },
    history,
    workflowId,
  );
}

/** Polls our own facts in real time until they hold; virtual time stands still meanwhile. */
export async function eventually(
  check: () => Promise<boolean> | boolean,
  what: string,
  limitMs = 15_000,
): Promise<void> {
  const endsAt = Date.now() + limitMs;
  while (!(await check())) {
    if (Date.now() > endsAt) throw new Error(`it never came true that ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
}
