import type { Check } from './check';
import { DEBT } from './debt';
import { INTAKE } from './intake';
import { LIVENESS } from './liveness';
import { BOUNDS, SENDING } from './sending';
import { STATES } from './states';
import { THREAD } from './thread';

/** Every invariant of docs/invariants.md that is visible in Postgres, one check per sentence. */
export const CHECKS: readonly Check[] = [
  ...INTAKE,
  ...THREAD,
  ...DEBT,
  ...LIVENESS,
  ...SENDING,
  ...BOUNDS,
  ...STATES,
];
