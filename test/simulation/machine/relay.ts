import type { Conversation } from '../model/facts';
import { transact } from './transact';
import { signal } from './workflow';
import { databaseNowMs, noteSometimes, type World } from './world';

/** As db/due has them. */
const OVERDUE_MS = 2_000;
const TAKEN_MS = 5_000;
const AGAIN_MS = [10_000, 60_000, 600_000] as const;

/** By the database's clock; null where nothing is due. */
function relayAtMs({ nextDueAtMs, relayAtMs: notBefore }: Conversation): number | null {
  if (nextDueAtMs === null) return null;
  return Math.max(nextDueAtMs + OVERDUE_MS, notBefore ?? 0);
}

/** When the relay next finds something, by true time. */
export function relayDueMs(world: World): number | null {
  if (world.facts.mutant === 'no-rescue') return null;
  const due = world.facts.conversations.flatMap((conversation) => {
    const atMs = relayAtMs(conversation);
    return atMs === null ? [] : [atMs - world.clockErrorMs];
  });
  return due.length === 0 ? null : Math.max(world.postgresUpAtMs, Math.min(...due));
}

/** One tick of the relay that finds something overdue: it repeats the wake-up. */
export function relayOnce(world: World): boolean {
  const dueMs = relayDueMs(world);
  if (dueMs === null || dueMs > world.nowMs) return false;
  const nowMs = databaseNowMs(world);
  const found = world.facts.conversations.filter((conversation) => {
    const atMs = relayAtMs(conversation);
    return atMs !== null && atMs <= nowMs;
  });
  transact(world, undefined, () => {
    for (const conversation of found) conversation.relayAtMs = nowMs + TAKEN_MS;
  });
  for (const conversation of found) {
    if (world.runs[conversation.index]?.dirty === true) {
      noteSometimes(world, 'relay and signal repair the same debt');
    }
    if (!signal(world, conversation.index)) {
      conversation.relayAtMs = null;
      continue;
    }
    const again = AGAIN_MS[Math.min(conversation.relayCount, 2)] ?? AGAIN_MS[2];
    conversation.relayAtMs = nowMs + again;
    conversation.relayCount += 1;
  }
  return true;
}
