/**
 * When a message was really written: the provider's time, but never later than its arrival (T5).
 * Providers without a time (Twilio) give the arrival itself. Epoch milliseconds.
 */
export function writtenAtMs(sourceAtMs: number | null, receivedAtMs: number): number {
  return sourceAtMs === null ? receivedAtMs : Math.min(sourceAtMs, receivedAtMs);
}
