import { RETRY_DELAYS_MS } from './limits';

/**
 * When to try again after `failedAttempts` attempts that were definitely not accepted (IN4):
 * 1, 5, 30 and 120 s plus jitter of 0 to min(1 s, delay / 4), never before the provider's
 * Retry-After. Null once the schedule is exhausted: a person decides then.
 * `random` is a number in [0, 1), drawn by the caller.
 */
export function retryDelayMs(
  failedAttempts: number,
  random: number,
  retryAfterMs: number | null,
): number | null {
  const base = RETRY_DELAYS_MS[failedAttempts - 1];
  if (base === undefined) return null;
  const jittered = base + Math.floor(random * Math.min(1_000, base / 4));
  return Math.max(jittered, retryAfterMs ?? 0);
}
