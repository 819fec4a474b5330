import { Context } from '@temporalio/activity';
import { makeConversationActivities } from '../activities';
import { engine } from '../ai/engine';
import { makeChannels } from '../channels/registry';
import { channelsOptions } from '../config/channels';
import type { Config } from '../config/env';
import { makeFailpoints } from '../config/failpoints';
import type { Logger } from '../config/logger';
import { databaseClock } from '../db/clock';
import { openRolePool } from '../db/role-pool';
import { CONVERSATIONS_QUEUE } from '../workflows/contract';
import type { WorkOptions } from './run-worker';

export interface Work {
  readonly options: WorkOptions;
  readonly close: () => Promise<void>;
}

/** Below the two seconds that a local activity may take, so that a wait ends as an error of ours. */
const LOCK_TIMEOUT_MS = 1_000;
const STATEMENT_TIMEOUT_MS = 1_500;

/** The worker of the queue `conversations`: workflow tasks, turns, deliveries. */
export function makeConversationsWork(config: Config, log: Logger): Work {
  const limits = { lockTimeoutMs: LOCK_TIMEOUT_MS, statementTimeoutMs: STATEMENT_TIMEOUT_MS };
  const pool = openRolePool(config, log, {
    role: 'unsilent_service',
    name: 'worker',
    max: 10,
    ...limits,
  });
  // Nothing else queues between a provider's acceptance and its marker (design.md).
  const markerPool = openRolePool(config, log, {
    role: 'unsilent_service',
    name: 'worker-marker',
    max: 2,
  });
  const channels = makeChannels(channelsOptions(config));
  const activities = makeConversationActivities({
    pool,
    markerPool,
    senders: channels.senders,
    engine,
    clock: databaseClock,
    log,
    hashKey: config.HASH_KEY,
    workerId: config.WORKER_ID,
    beat: () => {
      Context.current().heartbeat();
    },
    reach: makeFailpoints(config.UNSILENT_FAILPOINT),
  });
  return {
    options: {
      taskQueue: CONVERSATIONS_QUEUE,
      activities,
      tuner: {
        workflowTaskSlotSupplier: { type: 'fixed-size', numSlots: 40 },
        activityTaskSlotSupplier: { type: 'fixed-size', numSlots: 100 },
        localActivityTaskSlotSupplier: { type: 'fixed-size', numSlots: 40 },
        nexusTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
      },
    },
    close: async () => {
      await channels.close();
      await Promise.all([pool.end(), markerPool.end()]);
    },
  };
}
