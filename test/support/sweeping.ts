import type { WakeTarget } from '../../db/due';
import { sweepOnce, type SweepCounts, type SweepLog } from '../../upkeep/sweep';
import type { Waker } from '../../upkeep/waker';
import type { World } from './world';

/** What a round logged, graded. */
export interface Told {
  readonly level: 'warn' | 'error' | 'fatal';
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A sweeper over a world, with a Temporal of the test's own. */
export interface Sweeper {
  readonly woken: WakeTarget[];
  readonly told: Told[];
  /** What a wake-up does, and whether Temporal accepts it; at first it accepts and nobody works. */
  onWake: (target: WakeTarget) => Promise<boolean> | boolean;
  sweep(): Promise<SweepCounts>;
  /** Moves the clock and sweeps. */
  sweepAfter(milliseconds: number): Promise<SweepCounts>;
}

/** Makes a sweeper that reads the world's clock. */
export function makeSweeper(world: World): Sweeper {
  const woken: WakeTarget[] = [];
  const told: Told[] = [];
  const tell = (level: Told['level']) => (fields: Told['fields']) => {
    told.push({ level, fields });
  };
  const log: SweepLog = {
    info: () => undefined,
    warn: tell('warn'),
    error: tell('error'),
    fatal: tell('fatal'),
  };
  const waker: Waker = {
    wake: async (target) => {
      woken.push(target);
      return sweeper.onWake(target);
    },
    wakeSoon: () => undefined,
    idle: () => Promise.resolve(),
  };
  const { pool, clock } = world.dependencies;
  const sweeper: Sweeper = {
    woken,
    told,
    onWake: () => true,
    sweep: () => sweepOnce({ pool, waker, clock, log }),
    sweepAfter: (milliseconds) => {
      world.clock.advance(milliseconds);
      return sweeper.sweep();
    },
  };
  return sweeper;
}

/** The open work items of the world, the oldest first. */
export function openItems(world: World): Promise<Record<string, unknown>[]> {
  return world.rows(
    'select kind, reason from work_items where resolved_at is null order by opened_at, id',
  );
}
