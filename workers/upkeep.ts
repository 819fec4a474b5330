import { makeAppendAudit } from '../activities/audit-file';
import { makeJobActivities } from '../activities/delivery-job';
import { makeRetentionActivities } from '../activities/retention';
import { makeHttpClient } from '../channels/http';
import { makePostSigned } from '../channels/signed-webhook';
import type { Config } from '../config/env';
import { makeFailpoints } from '../config/failpoints';
import type { Logger } from '../config/logger';
import { databaseClock } from '../db/clock';
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
  // Of their own, so that a slow CRM never holds what retention or the loops need.
  const jobsPool = openRolePool(config, log, { role: 'unsilent_service', name: 'jobs', max: 3 });
  const http = makeHttpClient();
  return {
    options: {
      taskQueue: UPKEEP_QUEUE,
      activities: {
        ...makeRetentionActivities({
          pool,
          rawBodyDays: config.RAW_BODY_DAYS,
          auditMonths: config.AUDIT_MONTHS,
        }),
        ...makeJobActivities({
          pool: jobsPool,
          clock: databaseClock,
          log,
          post: makePostSigned(http),
          append: makeAppendAudit(config.AUDIT_EXPORT_DIR ?? null),
          reach: makeFailpoints(config.UNSILENT_FAILPOINT),
        }),
      },
      maxConcurrentWorkflowTaskExecutions: 4,
      maxConcurrentActivityTaskExecutions: 8,
      maxConcurrentLocalActivityExecutions: 1,
      maxCachedWorkflows: 10,
    },
    close: async () => {
      await http.close();
      await Promise.all([pool.end(), jobsPool.end()]);
    },
  };
}
