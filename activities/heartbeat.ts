const HEARTBEAT_EVERY_MS = 1_000;

/**
 * Runs an activity that tells Temporal every second that its worker lives, so that a killed
 * worker is noticed within the heartbeat time-out and not at the end of the provider call.
 */
export async function withHeartbeat<Result>(
  beat: () => void,
  work: () => Promise<Result>,
): Promise<Result> {
  const timer = setInterval(beat, HEARTBEAT_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
