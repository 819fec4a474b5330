/** Provider faults in the random mode. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CHANNELS } from './leads.mjs';

/** Provider faults that the random mode arms: which, on what webhooks, and how often. */
const FAULTS = [
  [{ fault: 'timeout-after-accept', ms: 400 }, 3],
  [{ fault: 'timeout-before-accept', ms: 400 }, 1],
  [{ fault: 'hang', ms: 4_000 }, 2],
  [{ fault: 'error-500' }, 2],
  [{ fault: 'error-500-after-accept' }, 1],
  [{ fault: 'rate-limit', ms: 1_000 }, 4],
  [{ fault: 'success-with-inner-error' }, 1],
  [{ fault: 'status-before-response' }, 4],
  [{ fault: 'webhook-duplicate' }, 5],
  [{ fault: 'webhook-reordered' }, 3],
  [{ fault: 'webhook-altered', webhook: 'inbound' }, 2],
  [{ fault: 'webhook-lost', webhook: 'status' }, 2],
];

/** Arms a drawn fault every few seconds and notes it as a reason. */
export function startFaults({ phone, seeded, everyMs, note, onError }) {
  let stopped = false;
  const running = (async () => {
    while (!stopped) {
      await sleep(everyMs * (0.5 + seeded.random()));
      if (stopped) break;
      const channel = seeded.pick(CHANNELS);
      const fault = seeded.weighted(FAULTS);
      note({ atMs: Date.now(), what: `the provider fault ${fault.fault}`, channel });
      await phone.fault({ channel, count: 1, ...fault }).catch(onError);
    }
  })();
  return {
    stop: async () => {
      stopped = true;
      await running;
      await phone.clearFaults();
    },
  };
}
