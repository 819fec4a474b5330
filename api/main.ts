import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { isOpener } from '../ai/engine';
import { makeChannels, type Channels } from '../channels/registry';
import { channelsOptions } from '../config/channels';
import { readConfig, type Config } from '../config/env';
import { makeFailpoints } from '../config/failpoints';
import { makeLogger, type Logger } from '../config/logger';
import { readTemporalConfig } from '../config/temporal';
import { databaseClock } from '../db/clock';
import type { ChannelRules } from '../db/commands/contract';
import { runStaffCommand } from '../db/commands/run';
import { openRolePool } from '../db/role-pool';
import { startUpkeep } from '../upkeep/loops';
import { openNoticeTransports } from '../upkeep/notify/transports';
import { makeWaker } from '../upkeep/waker';
import { createApp } from './app';
import { makeEventStream } from './staff/events';

/** Between the last answer and the end of the process. */
const CLOSE_LIMIT_MS = 5_000;

function openPools(config: Config, log: Logger) {
  const service = { role: 'unsilent_service' } as const;
  return {
    // Separate pools: an overloaded console must not keep a webhook waiting (design.md).
    ingest: openRolePool(config, log, { ...service, name: 'ingest', max: 16 }),
    upkeep: openRolePool(config, log, { ...service, name: 'api-upkeep', max: 5 }),
    staff: openRolePool(config, log, { role: 'unsilent_staff', name: 'staff', max: 8 }),
    // A scrape or an audit that is slow keeps nobody waiting, and is ended before the next one.
    metrics: openRolePool(config, log, {
      ...service,
      name: 'metrics',
      max: 3,
      statementTimeoutMs: 5_000,
    }),
    audit: openRolePool(config, log, {
      ...service,
      name: 'api-audit',
      max: 2,
      statementTimeoutMs: 20_000,
    }),
  };
}

/** What staff are told before they queue a message; the gate judges by the same (C4). */
function rulesOf({ senders }: Channels): ChannelRules {
  return {
    fits: (channel, text) => senders[channel].fits(text),
    replyWindowMs: (channel) => senders[channel].replyWindowMs,
  };
}

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = makeLogger('api', config.LOG_LEVEL);
  const temporal = readTemporalConfig();
  const pools = openPools(config, log);
  const channels = makeChannels(channelsOptions(config));
  // Lazy: intake must start and work while Temporal is down.
  const connection = Connection.lazy(temporal.connectionOptions);
  const client = new Client({ connection, namespace: temporal.namespace });
  const reach = makeFailpoints(config.UNSILENT_FAILPOINT);
  const waker = makeWaker(client, log, reach);
  const events = makeEventStream({ pool: pools.upkeep, log });
  const app = createApp({
    webhooks: {
      pool: pools.ingest,
      isOpener,
      log,
      endpoints: channels.endpoints,
      publicUrl: config.PUBLIC_URL,
      waker,
      reach,
    },
    health: {
      pool: pools.upkeep,
      pingTemporal: async () => {
        await client.withDeadline(Date.now() + 1_000, () => connection.healthService.check({}));
      },
    },
    metrics: { pool: pools.metrics },
    staff: {
      staffPool: pools.staff,
      tokenPool: pools.upkeep,
      runCommand: async (request) => {
        reach('command:received');
        const result = await runStaffCommand(pools.staff, request, null, rulesOf(channels));
        reach('command:committed');
        return result;
      },
      wake: (target) => {
        waker.wakeSoon([target], 'staff');
      },
      events,
      log,
    },
    webRoot: config.WEB_ROOT ?? join(__dirname, '..', '..', 'web', 'dist'),
  });
  // The second copy of the rescuing loops: they need no Temporal worker (design.md 4).
  const notices = openNoticeTransports(config, log);
  const upkeep = startUpkeep({
    pool: pools.upkeep,
    waker,
    clock: databaseClock,
    log,
    reach,
    transports: notices.transports,
    consoleUrl: config.PUBLIC_URL,
    audit: { pool: pools.audit, boundMs: config.OWED_BOUND_SECONDS * 1_000 },
  });
  const server = await listen(createServer(app), config.PORT);
  log.info({ port: config.PORT, channels: Object.keys(channels.endpoints) }, 'api started');
  await untilStopped();
  await events.close();
  await closeServer(server);
  await upkeep.stop();
  await notices.close();
  await waker.idle();
  await Promise.all([channels.close(), connection.close()]);
  await Promise.all(Object.values(pools).map((pool) => pool.end()));
  log.info({}, 'api stopped');
}

function listen(server: Server, port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, () => {
      resolve(server);
    });
  });
}

function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}

/** Answers what is under way, then closes idle connections; nothing waits longer than the limit. */
async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  server.closeIdleConnections();
  const timer = setTimeout(() => {
    server.closeAllConnections();
  }, CLOSE_LIMIT_MS);
  await closed;
  clearTimeout(timer);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
