/** Delivery states as providers report them, in the one order in which they may move (INV-16). */
export type DeliveryStatus = 'queued' | 'sent' | 'delivered' | 'read' | 'failed';

const RANK: Record<DeliveryStatus, number> = {
  queued: 0,
  sent: 1,
  delivered: 2,
  read: 3,
  failed: 4,
};

/**
 * Joins a reported status with the one on record: it only moves up, and `failed` is the end.
 * Providers report out of order and repeat themselves (traps.md).
 */
export function joinStatus(
  recorded: DeliveryStatus | null,
  reported: DeliveryStatus,
): DeliveryStatus {
  if (recorded === null) return reported;
  if (reported === 'failed' && (recorded === 'delivered' || recorded === 'read')) return recorded;
  return RANK[reported] > RANK[recorded] ? reported : recorded;
}
