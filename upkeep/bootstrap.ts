import {
  isGrpcServiceError,
  ScheduleAlreadyRunning,
  ScheduleOverlapPolicy,
  type Client,
} from '@temporalio/client';
import {
  businessKey,
  channelKey,
  escalatedKey,
  ownerKey,
  RETENTION_SCHEDULES,
  stateKey,
  UPKEEP_QUEUE,
} from '../workflows/contract';

const KEYWORD = 2;
const BOOL = 5;
const ALREADY_EXISTS = 6;

const ATTRIBUTES: Readonly<Record<string, number>> = {
  [businessKey.name]: KEYWORD,
  [channelKey.name]: KEYWORD,
  [stateKey.name]: KEYWORD,
  [ownerKey.name]: KEYWORD,
  [escalatedKey.name]: BOOL,
};

/**
 * Registers what the workflows need in a namespace: search attributes and Schedules. Idempotent,
 * and run at start and again when the store was wiped (R6).
 */
export async function bootstrapTemporal(client: Client): Promise<void> {
  await registerSearchAttributes(client);
  for (const [scheduleId, workflowType] of Object.entries(RETENTION_SCHEDULES)) {
    await ensureRetentionSchedule(client, scheduleId, workflowType);
  }
}

/** Registers the search attributes; a start that names an unknown one would be refused for ever. */
export async function registerSearchAttributes(client: Client): Promise<void> {
  const { namespace } = client.options;
  try {
    await client.connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: ATTRIBUTES,
    });
  } catch (error) {
    if (!isGrpcServiceError(error)) throw error;
    const code: number = error.code;
    if (code !== ALREADY_EXISTS) throw error;
  }
}

async function ensureRetentionSchedule(
  client: Client,
  scheduleId: string,
  workflowType: string,
): Promise<void> {
  try {
    await client.schedule.create({
      scheduleId,
      spec: { intervals: [{ every: '6h' }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1h' },
      action: {
        type: 'startWorkflow',
        workflowType,
        workflowId: scheduleId,
        taskQueue: UPKEEP_QUEUE,
        args: [],
      },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}
