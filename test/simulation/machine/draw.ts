import type { LeadText } from '../model/facts';
import { STAFF_COMMANDS } from '../model/staff';
import type { Action, Effect } from './actions';
import type { FaultDeed, FaultProfile } from './profile';
import type { Random } from './random';
import { relayDueMs } from './relay';
import { isSweepDue } from './sweeper';
import { readyRuns } from './time';
import type { Phase, World } from './world';

const MINUTE_MS = 60_000;

/** Words of leads, as often as they are drawn. */
const TEXTS: readonly LeadText[] = [
  ...(['text', 'text', 'text', 'text', 'text', 'text', 'opener', 'opener', 'media'] as const),
  ...(['thanks', 'person', 'stop', 'start'] as const),
];

const STATUSES = ['sent', 'delivered', 'delivered', 'read', 'failed'] as const;

/** How long an outage or a sleep lasts; the long ones are rare. */
const OUTAGES_MS = [
  ...[500, 1_000, 2_500, 4_000, 8_000, 25_000, 40_000, 90_000, 4 * MINUTE_MS],
  ...[500, 1_000, 2_500, 4_000, 8_000, 25_000, 40_000, 11 * MINUTE_MS, 61 * MINUTE_MS],
];

const CLOCK_STEPS_MS = [-20_000, -1_500, -300, 300, 1_500, 20_000, 3 * MINUTE_MS];

/** Draws the next step of the safety phase: the world outside, a fault, or the machine itself. */
export function drawAction(world: World, profile: FaultProfile, random: Random): Action {
  const roll = random.next();
  if (roll < profile.outside) return drawOutside(world, profile, random);
  if (roll < profile.outside + profile.faults && profile.deeds.length > 0) {
    return drawFault(world, random.pick(profile.deeds), random);
  }
  if (random.chance(0.06)) return { do: 'wait', ms: drawWaitMs(random) };
  const choices = machineActions(world);
  if (choices.length === 0) return { do: 'next' };
  const chosen = random.pick(choices);
  if (chosen.do !== 'run' && chosen.do !== 'late-worker') return chosen;
  return { ...chosen, ...drawEffect(phaseOf(world, chosen), profile, random) };
}

/** What the machine could do now by itself, in a fixed order. */
export function machineActions(world: World): Action[] {
  const found: Action[] = readyRuns(world).map((c) => ({ do: 'run', c }));
  if (world.redeliveries.some(({ dueAtMs }) => dueAtMs <= world.nowMs)) {
    found.push({ do: 'redeliver' });
  }
  const thawed = world.lateTasks.some(({ worker }) => {
    return (world.workers[worker]?.thawsAtMs ?? 0) <= world.nowMs;
  });
  if (thawed) found.push({ do: 'late-worker' });
  const relayMs = relayDueMs(world);
  const relays = world.temporalUpAtMs <= world.nowMs;
  if (relays && relayMs !== null && relayMs <= world.nowMs) found.push({ do: 'relay' });
  if (isSweepDue(world)) found.push({ do: 'sweep' });
  return found;
}

function drawWaitMs(random: Random): number {
  return random.chance(0.9) ? 1 + random.below(2_500) : random.below(30_000);
}

/** Where the task stands that the step would go on with. */
function phaseOf(world: World, action: Extract<Action, { do: 'run' | 'late-worker' }>) {
  const task = action.do === 'run' ? world.runs[action.c]?.task : world.lateTasks[0];
  return task?.phase ?? null;
}

function drawEffect(phase: Phase | null, profile: FaultProfile, random: Random): Effect {
  if (phase === 'read-back') return { readBack: random.pick(profile.readBacks) };
  if (phase === 'call') {
    const hit = random.chance(profile.calls) && profile.answers.length > 0;
    return hit ? { answer: random.pick(profile.answers) } : {};
  }
  const hit = random.chance(profile.effects) && profile.transactions.length > 0;
  return hit ? { fault: random.pick(profile.transactions) } : {};
}

function drawOutside(world: World, profile: FaultProfile, random: Random): Action {
  const c = random.below(world.runs.length);
  const back = drawWayBack(world, c, random);
  if (back !== null) return back;
  if (random.chance(profile.staff)) return drawStaff(c, profile, random);
  const accepted = world.accepted.length;
  if (accepted > 0 && random.chance(0.4)) return drawReport(accepted, random);
  if (world.written.length > 0 && random.chance(0.05)) {
    return { do: 'repeat', n: random.below(world.written.length) };
  }
  return {
    do: 'lead',
    c,
    text: random.pick(TEXTS),
    ...(random.chance(0.1) ? { lateMs: random.below(2 * MINUTE_MS) } : {}),
    ...lostSignal(profile, random),
    ...(random.chance(profile.effects) && profile.transactions.length > 0
      ? { fault: random.pick(profile.transactions) }
      : {}),
  };
}

/** Staff hand back, and leads come back: else most conversations would end with a person. */
function drawWayBack(world: World, c: number, random: Random): Action | null {
  const conversation = world.facts.conversations[c];
  if (conversation === undefined || !random.chance(0.4)) return null;
  const held = conversation.owner === 'person' || conversation.state === 'paused';
  if (held) return { do: 'staff', c, command: 'release' };
  return conversation.state === 'opted_out' ? { do: 'lead', c, text: 'start' } : null;
}

function lostSignal(profile: FaultProfile, random: Random): { readonly unsignalled?: true } {
  return random.chance(profile.signalsLost) ? { unsignalled: true } : {};
}

function drawStaff(c: number, profile: FaultProfile, random: Random): Action {
  if (random.chance(0.2)) return { do: 'mend' };
  if (random.chance(0.15)) {
    return { do: 'native', c, author: random.chance(0.7) ? 'other' : 'unknown' };
  }
  const command = random.pick(STAFF_COMMANDS);
  return { do: 'staff', c, command, ...lostSignal(profile, random) };
}

/** Providers speak mostly of what they accepted last. */
function drawReport(accepted: number, random: Random): Action {
  const n = random.chance(0.7) ? accepted - 1 : random.below(accepted);
  const named = random.chance(0.6);
  if (random.chance(0.3)) return { do: 'echo', n, named };
  return { do: 'status', n, status: random.pick(STATUSES), named };
}

function drawFault(world: World, deed: FaultDeed, random: Random): Action {
  const ms = random.pick(OUTAGES_MS);
  switch (deed) {
    case 'kill':
      return { do: deed, w: random.below(world.workers.length) };
    case 'freeze':
      return { do: deed, w: random.below(world.workers.length), ms: Math.min(ms, 4 * MINUTE_MS) };
    case 'task-lost':
      return { do: deed, c: random.below(world.runs.length) };
    case 'temporal-forgets':
      return { do: deed };
    case 'clock-step':
      return { do: deed, ms: random.pick(CLOCK_STEPS_MS) };
    case 'temporal-down':
    case 'postgres-down':
      return { do: deed, ms };
  }
}
