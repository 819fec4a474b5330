import { CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow';

/** Timers below one second are rounded up by the server; none is asked for (temporal.md 2.3). */
const WAIT_MS_MIN = 1_000;

/**
 * One lazy timer for all deadlines of a conversation (performance.md). It is armed for the nearest
 * one and left alone when work moves the deadline later: when it rings early, the agenda says that
 * nothing is due and it is armed again. Only an earlier deadline replaces it.
 */
export class Alarm {
  private armed: { readonly ringsAt: number; readonly scope: CancellationScope } | null = null;
  private rang = false;

  /** Waits until `interrupted` holds or the alarm rings, at the latest in about `waitMs`. */
  async ring(waitMs: number, interrupted: () => boolean, summary: string): Promise<void> {
    const wait = Math.max(Math.ceil(waitMs), WAIT_MS_MIN);
    this.arm(wait, summary);
    await condition(() => this.rang || interrupted());
    this.rang = false;
  }

  private arm(waitMs: number, summary: string): void {
    const ringsAt = Date.now() + waitMs;
    if (this.armed !== null && this.armed.ringsAt <= ringsAt) return;
    this.armed?.scope.cancel();
    const scope = new CancellationScope();
    const armed = { ringsAt, scope };
    this.armed = armed;
    scope
      .run(() => sleep(waitMs, { summary }))
      .then(() => {
        this.armed = null;
        this.rang = true;
      })
      .catch((error: unknown) => {
        // Only our own cancellation ends a timer early; anything else is a bug of the workflow.
        if (!isCancellation(error)) throw error;
      });
  }
}
