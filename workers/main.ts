import { hostname } from 'node:os';
import { Client, Connection } from '@temporalio/client';
import { recipientZonesOf } from '../activities/recipient-zones';
import { readConfig } from '../config/env';
import { makeFailpoints } from '../config/failpoints';
import { makeLogger } from '../config/logger';
import { readTemporalConfig } from '../config/temporal';
import { databaseClock } from '../db/clock';
import { applyPolicyChanges } from '../db/policy-change';
import { openRolePool } from '../db/role-pool';
import { bootstrapTemporal } from '../upkeep/bootstrap';
import { startJobsOnce } from '../upkeep/jobs';
import { startUpkeep } from '../upkeep/loops';
import { openNoticeTransports } from '../upkeep/notify/transports';
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
    const pool = openRolePool(config, log, { role: 'unsilent_service', name: 'upkeep', max: 5 });
    const auditPool = openRolePool(config, log, {
      role: 'unsilent_service',
      name: 'audit',
      max: 2,
      statementTimeoutMs: 20_000,
    });
    const connection = Connection.lazy(temporal.connectionOptions);
    const client = new Client({ connection, namespace: temporal.namespace });
    const reach = makeFailpoints(config.UNSILENT_FAILPOINT);
    const waker = makeWaker(client, log, reach);
    const notices = openNoticeTransports(config, log);
    const upkeep = startUpkeep({
      pool,
      waker,
      clock: databaseClock,
      log,
      reach,
      transports: notices.transports,
      consoleUrl: config.PUBLIC_URL,
      audit: { pool: auditPool, boundMs: config.OWED_BOUND_SECONDS * 1_000 },
      bootstrap: () => bootstrapTemporal(client),
      startJobs: () => startJobsOnce({ pool, client, clock: databaseClock, log, reach }),
      applyPolicies: () =>
        applyPolicyChanges(pool, (id) => recipientZonesOf({ pool, log }, id), null),
    });
    closers.push(async () => {
      await upkeep.stop();
      await notices.close();
      await waker.idle();
      await connection.close();
      await Promise.all([pool.end(), auditPool.end()]);
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
