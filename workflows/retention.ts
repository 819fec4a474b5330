import { proxyActivities } from '@temporalio/workflow';
import type { RetentionActivities } from '../activities/contract';

const { emptyRawBodies } = proxyActivities<RetentionActivities>({
  startToCloseTimeout: '5m',
  retry: { initialInterval: '10s', maximumAttempts: 5 },
});

/** Empties raw webhook bodies that are past their time (C11); run by a Schedule. */
export async function rawBodyRetention(): Promise<number> {
  return emptyRawBodies.executeWithOptions({ summary: 'empty raw bodies past their time' }, []);
}
