import type { Home } from '../model/facts';
import type { Mutant } from '../model/mutants';
import type { Deed, ProviderAnswer, ReadBackAnswer, TransactionFault } from './actions';
import { FAULT_DEEDS } from './actions';
import { Random } from './random';
import type { WorldOptions } from './world';

export type FaultDeed = (typeof FAULT_DEEDS)[number] & Deed;

/**
 * How rough a simulated day is. Each seed switches some faults off, so that the others meet states
 * that a storm of all of them would never let come about (swarm testing).
 */
export interface FaultProfile {
  /** How often the world outside acts: leads, staff, providers' webhooks. */
  readonly outside: number;
  /** How often a fault strikes. */
  readonly faults: number;
  readonly deeds: readonly FaultDeed[];
  /** How often a call or a transaction goes wrong, and how. */
  readonly calls: number;
  readonly effects: number;
  readonly answers: readonly ProviderAnswer[];
  readonly transactions: readonly TransactionFault[];
  readonly readBacks: readonly ReadBackAnswer[];
  /** How often staff act, of what happens outside. */
  readonly staff: number;
  /** How often a wake-up behind a commit is lost. */
  readonly signalsLost: number;
}

/** Everything that a seed decides before the first step. */
export interface Scenario {
  readonly world: WorldOptions;
  readonly profile: FaultProfile;
}

const ANSWERS: readonly ProviderAnswer[] = [
  ...(['accept-unheard', 'accept-unheard', 'unheard', 'rate-limit', 'upstream-error'] as const),
  ...(['upstream-error', 'refuse', 'credentials', 'opted-out'] as const),
];

const TRANSACTIONS: readonly TransactionFault[] = ['refused', 'kept', 'lost'];
const READ_BACKS: readonly ReadBackAnswer[] = ['truth', 'truth', 'lagging', 'unavailable'];

/** One person on one or two channels, or two people. */
const HOMES: readonly (readonly Home[])[] = [
  [{ account: 0, address: 0 }],
  [
    { account: 0, address: 0 },
    { account: 1, address: 0 },
  ],
  [
    { account: 0, address: 0 },
    { account: 0, address: 1 },
  ],
];

/** An ordinary Monday, and the eves of both days on which the clocks change in Chicago. */
const STARTS = ['2026-11-30T18:00:00Z', '2027-03-13T19:00:00Z', '2026-10-31T17:30:00Z'];

/** Derives a scenario from its seed. */
export function drawScenario(seed: number, mutant: Mutant | null): Scenario {
  const random = new Random(seed);
  const some = <Item>(items: readonly Item[]): Item[] => items.filter(() => random.chance(0.6));
  const world: WorldOptions = {
    homes: random.pick(HOMES),
    startsAtMs: Date.parse(random.pick(STARTS)),
    workers: 1 + random.below(2),
    replyWindowMs: random.chance(0.3) ? 24 * 3_600_000 : null,
    canReadBack: random.chance(0.6),
    jitter: random.next(),
    workerClockErrorMs: random.chance(0.2) ? random.below(7_200_000) - 3_600_000 : 0,
    mutant,
  };
  const calm = random.chance(0.15);
  const profile: FaultProfile = {
    outside: random.pick([0.08, 0.15, 0.25]),
    faults: calm ? 0 : random.pick([0.02, 0.05]),
    deeds: some(FAULT_DEEDS),
    calls: calm ? 0 : random.pick([0.1, 0.3]),
    effects: calm ? 0 : random.pick([0.02, 0.06]),
    answers: some(ANSWERS),
    transactions: some(TRANSACTIONS),
    readBacks: READ_BACKS,
    staff: random.pick([0, 0.1, 0.25]),
    signalsLost: calm ? 0 : random.pick([0, 0.1]),
  };
  return { world, profile };
}
