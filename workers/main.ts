import { hostname } from 'node:os';
import { Client, Connection } from '@temporalio/client';
import { readConfig } from '../config/env';
import { makeLogger } from '../config/logger';
import { readTemporalConfig } from '../config/temporal';
import { databaseClock } from '../db/clock';
import { openRolePool } from '../db/role-pool';
import { bootstrapTemporal } from '../upkeep/bootstrap';
import { startLoop } from '../upkeep/loop';
import { relayOnce } from '../upkeep/relay';
import { makeWaker } from '../upkeep/waker';
import { makeConversationsWork } from './conversations';
import { installRuntime, runWorker } from './run-worker';
import { makeUpkeepWork } from './upkeep';

const QUEUES = ['conversations', 'upkeep'] as const;
type Queue = (typeof QUEUES)[number];

/** Which queues this process serves: all, unless the command line names some. */
function servedQueues(): readonly Queue[] {
  const named = QUEUES.filter((queue) => process.argv.slice(2).includes(queue));
  return named.length > 0 ? named : QUEUES;
}

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = makeLogger('worker', config.LOG_LEVEL);
  const temporal = readTemporalConfig();
  installRuntime(log);
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      stopping.abort();
    });
  }
  const queues = servedQueues();
  const closers: (() => Promise<unknown>)[] = [];
  const workers: Promise<void>[] = [];
  const common = { config, log, temporal, signal: stopping.signal };
  if (queues.includes('conversations')) {
    const work = makeConversationsWork(config, log);
    closers.push(work.close);
    workers.push(runWorker(common, work.options));
  }
  if (queues.includes('upkeep')) {
    const work = makeUpkeepWork(config, log);
    const pool = openRolePool(config, log, { role: 'unsilent_service', name: 'upkeep', max: 3 });
    const connection = Connection.lazy(temporal.connectionOptions);
    const client = new Client({ connection, namespace: temporal.namespace });
    const waker = makeWaker(client, log);
    const relay = { pool, waker, clock: databaseClock };
    const loops = [
      startLoop({ name: 'bootstrap', everyMs: 60_000, log }, () => bootstrapTemporal(client)),
      startLoop({ name: 'relay', everyMs: 1_000, log }, async () => {
        const { refused } = await relayOnce(relay);
        if (refused > 0) await bootstrapTemporal(client);
      }),
    ];
    closers.push(async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
      await waker.idle();
      await connection.close();
      await pool.end();
      await work.close();
    });
    workers.push(runWorker(common, work.options));
  }
  log.info({ queues, host: hostname() }, 'worker started');
  await Promise.all(workers);
  for (const close of closers) await close();
  log.info({}, 'worker stopped');
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
