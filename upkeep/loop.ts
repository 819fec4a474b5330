import type { UpkeepLog } from './waker';

export interface Loop {
  /** Lets the round in progress end, then stops. */
  stop(): Promise<void>;
}

/**
 * Repeats `round` every `everyMs`, one at a time, until it is stopped. A round that fails is
 * logged and the next one follows: a rescuer must outlive what it rescues from.
 */
export function startLoop(
  options: { readonly name: string; readonly everyMs: number; readonly log: UpkeepLog },
  round: () => Promise<unknown>,
): Loop {
  const stopping = new AbortController();
  const running = (async () => {
    while (!stopping.signal.aborted) {
      try {
        await round();
      } catch (error) {
        options.log.error({ loop: options.name, error }, 'a round of a loop failed');
      }
      await pause(options.everyMs, stopping.signal);
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

/** Waits, or returns at once when the signal ends the wait. Never rejects. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
}
