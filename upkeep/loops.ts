import type { Reach } from '../config/failpoints';
import { AUDIT_EVERY_MS, auditOnce, type AuditDependencies } from './audit';
import { startLoop, type Loop } from './loop';
import { deliverNoticesOnce, noticesOnce } from './notices';
import type { NoticeTransports } from './notify/port';
import { relayOnce } from './relay';
import { sweepOnce, type SweepDependencies } from './sweep';

export interface UpkeepDependencies extends SweepDependencies {
  /** Says that a named point was reached; in production nobody listens. */
  readonly reach: Reach;
  readonly transports: NoticeTransports;
  /** Where the console stands, for the link in every notice. */
  readonly consoleUrl: string;
  /** The auditor's own pool and its bound. */
  readonly audit: Pick<AuditDependencies, 'pool' | 'boundMs'>;
  /** Registers again what a wiped Temporal forgot (R6); only where the process does that. */
  readonly bootstrap?: () => Promise<void>;
  /** Starts the workflows of due jobs; only where their worker runs too. */
  readonly startJobs?: () => Promise<unknown>;
  /** Brings what waits under changed rules (C2); only where recipients' zones can be looked up. */
  readonly applyPolicies?: () => Promise<unknown>;
}

const RELAY_EVERY_MS = 1_000;
const JOBS_EVERY_MS = 1_000;
const NOTICES_EVERY_MS = 1_000;
const POLICIES_EVERY_MS = 10_000;
const SWEEP_EVERY_MS = 60_000;
const BOOTSTRAP_EVERY_MS = 60_000;

/**
 * Starts the loops over Postgres that rescue what nobody looks after (design.md 4): the upkeep
 * process runs them, and the api runs a second copy. They need no leader: locks that are passed
 * over and unique keys keep two copies from doing anything twice (T4).
 */
export function startUpkeep(dependencies: UpkeepDependencies): Loop {
  const { log, bootstrap, startJobs, applyPolicies } = dependencies;
  const start = (name: string, everyMs: number, round: () => Promise<unknown>) =>
    startLoop({ name, everyMs, log }, round);
  const loops = [
    start('relay', RELAY_EVERY_MS, async () => {
      const { refused } = await relayOnce(dependencies);
      if (refused > 0) await bootstrap?.();
    }),
    start('sweep', SWEEP_EVERY_MS, () => sweepOnce(dependencies)),
    start('audit', AUDIT_EVERY_MS, () => auditOnce({ ...dependencies, ...dependencies.audit })),
    start('notices', NOTICES_EVERY_MS, () => noticesOnce(dependencies)),
    start('notice-deliveries', NOTICES_EVERY_MS, () => deliverNoticesOnce(dependencies)),
  ];
  if (bootstrap !== undefined) loops.push(start('bootstrap', BOOTSTRAP_EVERY_MS, bootstrap));
  if (startJobs !== undefined) loops.push(start('jobs', JOBS_EVERY_MS, startJobs));
  if (applyPolicies !== undefined) loops.push(start('policies', POLICIES_EVERY_MS, applyPolicies));
  return {
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
