import { makeRetentionActivities } from '../activities/retention';
import type { Config } from '../config/env';
import type { Logger } from '../config/logger';
import { openRolePool } from '../db/role-pool';
import { UPKEEP_QUEUE } from '../workflows/contract';
import type { Work } from './conversations';

/** The worker of the queue `upkeep`: what no lead waits for. */
export function makeUpkeepWork(config: Config, log: Logger): Work {
  const pool = openRolePool(config, log, {
    role: 'unsilent_retention',
    name: 'retention',
    max: 1,
    statementTimeoutMs: 60_000,
  });
  return {
    options: {
      taskQueue: UPKEEP_QUEUE,
      activities: makeRetentionActivities({ pool, rawBodyDays: config.RAW_BODY_DAYS }),
      maxConcurrentWorkflowTaskExecutions: 4,
      maxConcurrentActivityTaskExecutions: 4,
      maxConcurrentLocalActivityExecutions: 1,
      maxCachedWorkflows: 10,
    },
    close: () => pool.end(),
  };
}
