import { proxyActivities } from '@temporalio/workflow';
import type { RetentionActivities } from '../activities/contract';

const { emptyRawBodies, keepTakeoverLog } = proxyActivities<RetentionActivities>({
  startToCloseTimeout: '5m',
  retry: { initialInterval: '10s', maximumAttempts: 5 },
});

/** Empties raw webhook bodies that are past their time (C11); run by a Schedule. */
export async function rawBodyRetention(): Promise<number> {
  return emptyRawBodies.executeWithOptions({ summary: 'empty raw bodies past their time' }, []);
}

/** Keeps the takeover log's partitions: makes the coming ones, drops the old (H2); by a Schedule. */
export async function takeoverLogRetention(): Promise<readonly string[]> {
  return keepTakeoverLog.executeWithOptions(
    { summary: 'keep the partitions of the takeover log' },
    [],
  );
}
