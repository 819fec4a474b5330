/** Work that no request waits for: it is started later, and ended with the sandbox. */
export class Background {
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #onError: (error: unknown) => void;
  #closed = false;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Runs `work` after `delayMs`; its failure goes to the error handler of the settings. */
  later(delayMs: number, work: () => Promise<void>): void {
    if (this.#closed) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work().catch(this.#onError);
    }, delayMs);
    this.#timers.add(timer);
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}

/** Waits `ms` milliseconds; 0 or less does not wait at all. It keeps no closed sandbox alive. */
export async function pause(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms).unref());
}
