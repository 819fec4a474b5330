import type { Failpoint } from '../../activities/dependencies';
import type { World } from './world';

/** A latch in the way of one flow: the flow says that it is there, and waits to be let go. */
export interface Barrier {
  /** Resolves once somebody stands at the barrier. */
  readonly reached: Promise<void>;
  /** What the flow calls. Only the first who comes is held; the others pass. */
  hold(): Promise<void>;
  release(): void;
}

/** Makes a barrier that holds one flow until the test releases it. */
export function makeBarrier(): Barrier {
  const reached = makeLatch();
  const released = makeLatch();
  let met = false;
  return {
    reached: reached.opened,
    hold: async () => {
      if (met) return;
      met = true;
      reached.open();
      await released.opened;
    },
    release: () => released.open(),
  };
}

function makeLatch(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** Holds the first who comes to a failpoint. */
export function pauseAt(world: World, point: Failpoint): Barrier {
  const barrier = makeBarrier();
  world.failpoints[point] = () => barrier.hold();
  return barrier;
}

/** Holds the next call to the provider before the provider accepts it. */
export function pauseInProvider(world: World): Barrier {
  const barrier = makeBarrier();
  world.provider.next(async (request) => {
    await barrier.hold();
    return world.provider.accept(request);
  });
  return barrier;
}

/** Waits until `flow` stands at the barrier; a flow that ends without meeting it is an error. */
export async function heldAt(barrier: Barrier, flow: Promise<unknown>): Promise<void> {
  const endedEarly = flow.then(() => {
    throw new Error('the flow ended and never met the barrier');
  });
  await Promise.race([barrier.reached, endedEarly]);
}
