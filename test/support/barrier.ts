import type { Failpoint } from '../../config/failpoints';
import type { World } from './world';

/** A latch in the way of a flow: the flow says that it is there, and waits to be let go. */
export interface Barrier {
  /** Resolves once all whom it waits for stand at the barrier. */
  readonly reached: Promise<void>;
  /** What a flow calls. Only the first who come are held; the others pass. */
  hold(): Promise<void>;
  release(): void;
}

/** Makes a barrier that holds the first `flows` who come until the test releases them. */
function makeBarrier(flows = 1): Barrier {
  const reached = makeLatch();
  const released = makeLatch();
  let met = 0;
  return {
    reached: reached.opened,
    hold: async () => {
      met += 1;
      if (met === flows) reached.open();
      if (met <= flows) await released.opened;
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

/** Holds the first who come to a failpoint. */
export function pauseAt(world: World, point: Failpoint, flows = 1): Barrier {
  const barrier = makeBarrier(flows);
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
