import { relayDueMs } from './relay';
import { sweepDueMs } from './sweeper';
import { isReady, wakesAtMs } from './workflow';
import type { World } from './world';

/** The next instant, after now, at which something can happen by itself. Null where nothing can. */
export function nextInstantMs(world: World): number | null {
  const { nowMs } = world;
  const relay = relayDueMs(world);
  const instants = [
    ...world.runs.map((run) => wakesAtMs(world, run)),
    ...world.workers.flatMap(({ upAtMs, thawsAtMs }) => [upAtMs, thawsAtMs]),
    ...world.redeliveries.map(({ dueAtMs }) => dueAtMs),
    sweepDueMs(world),
    world.temporalUpAtMs,
    world.postgresUpAtMs,
    // Temporal does not take wake-ups: the relay tries again every second.
    relay !== null && relay <= nowMs && world.temporalUpAtMs > nowMs ? nowMs + 1_000 : relay,
  ];
  let next: number | null = null;
  for (const instant of instants) {
    if (instant === null || instant <= nowMs) continue;
    if (next === null || instant < next) next = instant;
  }
  return next;
}

/** The conversations whose runs can go on now. */
export function readyRuns(world: World): number[] {
  return world.runs.map((_run, index) => index).filter((index) => isReady(world, index));
}
