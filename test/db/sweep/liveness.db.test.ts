import { seededRandom } from '../../fixtures/noise';
import { makeSweeper, type Sweeper } from '../../support/sweeping';
import { runUntilIdle } from '../../support/run-until-idle';
import { makeWorld, type World } from '../../support/world';
import { command } from '../races/scene';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** B under faults, and one sweep (docs/invariants.md 2, INV-8). */
const BOUND_MINUTES = 16;
const STEPS = 14;
const SEEDS = Array.from({ length: 40 }, (_, index) => index + 1);
const LEADS = ['+13125550151', '+13125550152'] as const;

interface Walk {
  readonly world: World;
  readonly sweeper: Sweeper;
  readonly random: () => number;
}

const pick = <T>({ random }: Walk, items: readonly T[]): T => {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
};

async function conversations({ world }: Walk): Promise<string[]> {
  return (await world.rows('select id from conversations order by id')).map(({ id }) => String(id));
}

/** Runs what may fail by a fault of the walk; the facts that it leaves are what is tested. */
async function faulty(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}

const dies = () => {
  throw new Error('a process dies here');
};

/** Everything that can happen to a conversation, faults included; each is one step of a walk. */
const STEP_KINDS: Record<string, (walk: Walk) => Promise<void>> = {
  write: async (walk) => {
    await walk.world.write({ text: 'My sink leaks', lead: pick(walk, LEADS) });
  },
  'opener in a burst': async (walk) => {
    const lead = pick(walk, LEADS);
    await walk.world.write({ text: 'Hi', lead, mayWait: true });
  },
  wait: async (walk) => {
    const waits = [SECOND, 5 * SECOND, 30 * SECOND, 3 * MINUTE, 11 * MINUTE, 50 * MINUTE];
    walk.world.clock.advance(pick(walk, waits));
    await Promise.resolve();
  },
  'turn that throws': (walk) => turnDyingAt(walk, 'turn:drafted'),
  'turn that dies when it began': (walk) => turnDyingAt(walk, 'turn:begun'),
  'turn without its delivery': (walk) => turnDyingAt(walk, null),
  'worker that dies with a claim': (walk) => deliverDyingAt(walk, 'deliver:claimed'),
  'worker that dies with a permit': (walk) => deliverDyingAt(walk, 'deliver:permitted'),
  'worker that dies before the marker': (walk) => deliverDyingAt(walk, 'deliver:accepted'),
  'worker that dies behind the marker': (walk) => deliverDyingAt(walk, 'deliver:marked'),
  'provider that says nothing': (walk) => deliverWith(walk, () => ({ kind: 'unknown', code: 'x' })),
  'provider that is busy': (walk) => deliverWith(walk, () => refusal('back-off', false)),
  'provider that refuses': (walk) => deliverWith(walk, () => refusal('never', false)),
  'provider that wants credentials': (walk) => deliverWith(walk, () => refusal('back-off', true)),
  'sweep without Temporal': async ({ sweeper }) => {
    sweeper.onWake = () => false;
    await sweeper.sweepAfter(MINUTE);
  },
  claim: (walk) => staff(walk, 'claim'),
  release: (walk) => staff(walk, 'release'),
  book: (walk) => staff(walk, 'book'),
  'opt-out': (walk) => staff(walk, 'opt-out'),
  'a moment of health': async (walk) => {
    await runUntilIdle(walk.world, await conversations(walk), { forMs: SECOND });
  },
};

function refusal(retry: 'back-off' | 'never', pausesAccount: boolean) {
  const code = 'refused';
  return {
    kind: 'not-accepted',
    code,
    retry,
    retryAfterMs: null,
    pausesAccount,
    optedOut: false,
  } as const;
}

async function turnDyingAt(walk: Walk, point: 'turn:begun' | 'turn:drafted' | null): Promise<void> {
  const { world } = walk;
  const ids = await conversations(walk);
  if (ids.length === 0) return;
  world.failpoints = point === null ? {} : { [point]: dies };
  await faulty(world.activities.takeTurn({ conversationId: pick(walk, ids) }));
  world.failpoints = {};
}

async function deliverOne({ world }: Walk): Promise<void> {
  const [send] = await world.rows(
    `select id, conversation_id from outbox where state in ('queued', 'leased') order by id limit 1`,
  );
  if (send === undefined) return;
  const conversationId = String(send['conversation_id']);
  await faulty(world.activities.deliver({ conversationId, sendId: String(send['id']) }));
}

async function deliverDyingAt(
  walk: Walk,
  point: 'deliver:claimed' | 'deliver:permitted' | 'deliver:accepted' | 'deliver:marked',
): Promise<void> {
  walk.world.failpoints = { [point]: dies };
  await deliverOne(walk);
  walk.world.failpoints = {};
}

async function deliverWith(
  walk: Walk,
  answer: Parameters<World['provider']['next']>[0],
): Promise<void> {
  walk.world.provider.next(answer);
  await deliverOne(walk);
  forgetScript(walk.world);
}

/** What was scripted for a call that never came is no longer to happen. */
function forgetScript({ provider }: World): void {
  const accepted = [...provider.accepted];
  provider.clear();
  provider.accepted.push(...accepted);
}

async function staff(walk: Walk, name: Parameters<typeof command>[2]): Promise<void> {
  const ids = await conversations(walk);
  if (ids.length === 0) return;
  const id = pick(walk, ids);
  const [row] = await walk.world.rows('select last_seq from conversations where id = $1', [id]);
  await command(walk.world, id, name, Number(row?.['last_seq']));
}

describe('from any reachable state, with the faults off', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  /** The rare states, and how many walks ended in them. */
  const reached: Record<string, number> = {};
  const look = async (walk: Walk) => {
    const [row] = await walk.world.rows(
      `select exists (select from conversations where owed_since is not null) as owed,
         exists (select from outbox where state = 'sending') as "in flight",
         exists (select from turn_markers where thrown_at is not null) as "a turn that threw",
         exists (select from sent_markers k where not exists (
           select from send_outcomes r where r.attempt_id = k.attempt_id)) as "not recorded",
         exists (select from send_decisions where reason = 'rate-limit-backoff') as "a back-off",
         exists (select from accounts where paused_at is not null) as "no credentials",
         exists (select from work_items where resolved_at is null) as "with a person"`,
    );
    for (const [state, is] of Object.entries(row ?? {})) {
      reached[state] = (reached[state] ?? 0) + (is === true ? 1 : 0);
    }
  };

  it.each(SEEDS)(
    'nothing is owed beyond the bound and one sweep (seed %i) [INV-8] [INV-6] [T4]',
    async (seed) => {
      const random = seededRandom(seed);
      const walk: Walk = { world, sweeper: makeSweeper(world), random };
      await world.write({ text: 'My sink leaks', lead: LEADS[0] });
      const taken: string[] = [];
      for (let step = 0; step < STEPS; step += 1) {
        const kind = pick(walk, Object.keys(STEP_KINDS));
        taken.push(kind);
        await STEP_KINDS[kind]?.(walk);
      }
      await look(walk);
      // The faults are off: Temporal wakes, providers accept, the credentials are mended.
      await world.rows('update accounts set paused_at = null, paused_reason = null');
      const ids = await conversations(walk);
      walk.sweeper.onWake = () => true;
      for (let minute = 0; minute < BOUND_MINUTES; minute += 1) {
        await runUntilIdle(world, ids, { forMs: MINUTE });
        await walk.sweeper.sweep();
      }
      const owed = await world.rows('select id from messages where owes and settled_at is null');
      expect({ taken, owed }).toEqual({ taken, owed: [] });
      const claimed = await world.rows(
        "select id from outbox where state in ('leased', 'sending')",
      );
      expect({ taken, claimed }).toEqual({ taken, claimed: [] });
    },
  );

  it('the walks ended in every rare state, so that the promise above is worth something [INV-8]', () => {
    expect(Object.keys(reached)).toHaveLength(7);
    expect(Object.entries(reached).filter(([, walks]) => walks === 0)).toEqual([]);
  });
});
