import type { WakeTarget } from '../../db/due';
import { takeOverdueConversations } from '../../db/due';
import { ingest } from '../../db/ingest/ingest';
import { relayOnce } from '../../upkeep/relay';
import type { Waker } from '../../upkeep/waker';
import { prepared, requestOf, smsElement } from '../support/inbound';
import { makeWorld, type World } from '../support/world';
import { answeredLead, command } from './races/scene';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const OTHER = 'biz_00000000000070008000000000000002';
const OTHER_NUMBER = '+13125550188';

const leadNumber = (index: number) => `+1312555${String(1_000 + index)}`;

describe('the relay', () => {
  let world: World;
  let woken: WakeTarget[];
  let accepts: boolean;
  beforeAll(async () => {
    world = await makeWorld();
    await world.rows(
      `insert into businesses select $1, 'Other Plumbing', time_zone, services, policy_version, true, created_at
       from businesses`,
      [OTHER],
    );
    await world.rows(
      `insert into accounts select 'acc_other', $1, provider, channel, $2, credentials, null, null, created_at
       from accounts where channel = 'sms'`,
      [OTHER, OTHER_NUMBER],
    );
  });
  beforeEach(() => {
    woken = [];
    accepts = true;
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const waker: Waker = {
    wake: (target) => {
      woken.push(target);
      return Promise.resolve(accepts);
    },
    wakeSoon: () => undefined,
    idle: () => Promise.resolve(),
  };
  const tick = () => relayOnce({ pool: world.database.service, waker, clock: world.clock });
  /** Advances the clock, ticks, and says how many were woken. */
  const tickAfter = async (milliseconds: number) => {
    world.clock.advance(milliseconds);
    return (await tick()).woken;
  };
  const owe = (...leads: readonly string[]) =>
    world.write(...leads.map((lead) => ({ text: 'My sink leaks', lead })));

  it('wakes what is more than two seconds overdue, and nothing earlier [O1]', async () => {
    await owe(leadNumber(1));
    expect(await tickAfter(1_999)).toBe(0);
    expect(await tickAfter(2)).toBe(1);
    const { id } = await world.conversation();
    expect(woken).toEqual([
      {
        id,
        businessId: woken[0]?.businessId,
        channel: 'sms',
        state: 'active',
        owner: 'automation',
      },
    ]);
  });

  it('wakes again after 10 s, 60 s and then every 10 min, counted from what Temporal accepted [O1]', async () => {
    await owe(leadNumber(1));
    expect(await tickAfter(3 * SECOND_MS)).toBe(1);
    const waits = [10 * SECOND_MS, MINUTE_MS, 10 * MINUTE_MS, 10 * MINUTE_MS];
    for (const wait of waits) {
      expect([wait, await tickAfter(wait - 1)]).toEqual([wait, 0]);
      expect([wait, await tickAfter(1)]).toEqual([wait, 1]);
    }
  });

  it('tries what Temporal refused again at the next tick, and counts it as no wake-up [O1] [R6]', async () => {
    await owe(leadNumber(1));
    world.clock.advance(3 * SECOND_MS);
    accepts = false;
    for (let outage = 0; outage < 5; outage += 1) {
      expect(await tick()).toEqual({ woken: 0, refused: 1 });
      world.clock.advance(SECOND_MS);
    }
    accepts = true;
    expect(await tick()).toEqual({ woken: 1, refused: 0 });
    expect(await tickAfter(10 * SECOND_MS - 1)).toBe(0);
    expect(await tickAfter(1)).toBe(1);
  });

  it('that dies between taking and waking is followed by another within seconds [O1] [R6]', async () => {
    await owe(leadNumber(1));
    world.clock.advance(3 * SECOND_MS);
    const options = { limit: 25, perBusiness: 10, now: world.clock.iso };
    expect(await takeOverdueConversations(world.database.service, options)).toHaveLength(1);
    expect(await tickAfter(4 * SECOND_MS)).toBe(0);
    expect(await tickAfter(SECOND_MS)).toBe(1);
  });

  it('begins anew with every new fact: an old back-off never delays a new message [O1]', async () => {
    await owe(leadNumber(1));
    expect(await tickAfter(3 * SECOND_MS)).toBe(1);
    expect(await tickAfter(10 * SECOND_MS)).toBe(1);
    await owe(leadNumber(1));
    expect(await tickAfter(SECOND_MS)).toBe(0);
    expect(await tickAfter(SECOND_MS)).toBe(1);
  });

  it('leaves alone what is due later, and a conversation in which nothing is due [O1]', async () => {
    const id = await answeredLead(world);
    expect(await tickAfter(23 * 60 * MINUTE_MS)).toBe(0);
    await command(world, id, 'claim');
    expect(await tickAfter(9 * 24 * 60 * MINUTE_MS)).toBe(0);
  });

  it('wakes at most ten of one business at a tick, so that a backlog starves no other [O1]', async () => {
    await owe(...Array.from({ length: 15 }, (_, index) => leadNumber(index)));
    world.clock.advance(MINUTE_MS);
    const other = Array.from({ length: 3 }, (_, index) => {
      const { element } = smsElement(
        { text: 'My drain is clogged', lead: leadNumber(index) },
        index,
      );
      return prepared({ ...element, accountExternalId: OTHER_NUMBER });
    });
    await ingest(world.database.service, requestOf(other), world.clock.iso);
    expect(await tickAfter(3 * SECOND_MS)).toBe(13);
    expect(woken.filter(({ businessId }) => businessId === OTHER)).toHaveLength(3);
    expect(await tick()).toMatchObject({ woken: 5 });
    expect(await tick()).toMatchObject({ woken: 0 });
  });

  it('wakes fresh answers before follow-ups and before answers that are an hour late [O1]', async () => {
    const planned = Array.from({ length: 6 }, (_, index) => leadNumber(index));
    for (const lead of planned) await answeredLead(world, lead);
    world.clock.advance(24 * 60 * MINUTE_MS);
    await owe(...Array.from({ length: 6 }, (_, index) => leadNumber(20 + index)));
    world.clock.advance(90 * MINUTE_MS);
    const fresh = Array.from({ length: 8 }, (_, index) => leadNumber(40 + index));
    await owe(...fresh);
    expect(await tickAfter(3 * SECOND_MS)).toBe(10);
    const numbers = await world.rows(
      `select a.value from unnest($1::text[]) with ordinality as w(id, n)
       join conversations c using (id) join addresses a on a.id = c.address_id order by n`,
      [woken.map(({ id }) => id)],
    );
    const first = new Set(numbers.map((row) => row['value']));
    expect(fresh.filter((lead) => first.has(lead))).toEqual(fresh);
  });

  it('never takes a row that another relay has: many relays at once wake each conversation once [O1]', async () => {
    const leads = 120;
    await owe(...Array.from({ length: leads }, (_, index) => leadNumber(index)));
    world.clock.advance(3 * SECOND_MS);
    const options = { limit: 5, perBusiness: 1_000, now: world.clock.iso };
    const taken = (
      await Promise.all(
        Array.from({ length: 60 }, () => takeOverdueConversations(world.database.service, options)),
      )
    ).flat();
    expect(new Set(taken.map(({ id }) => id)).size).toBe(taken.length);
    let rest = taken.length;
    for (let round = 0; rest < leads && round < leads; round += 1) {
      rest += (await takeOverdueConversations(world.database.service, options)).length;
    }
    expect(rest).toBe(leads);
  });

  it('passes over a conversation that somebody works on, and takes it afterwards [O1]', async () => {
    await owe(leadNumber(1), leadNumber(2));
    world.clock.advance(3 * SECOND_MS);
    const { id } = await world.conversation(leadNumber(1));
    const worker = await world.database.owner.connect();
    await worker.query('begin');
    await worker.query('select from conversations where id = $1 for update', [id]);
    await tick();
    await worker.query('rollback');
    worker.release();
    expect(woken.map((target) => target.id)).not.toContain(id);
    await tick();
    expect(woken.map((target) => target.id)).toContain(id);
  });

  it('brings every debt back after Temporal’s store was lost, a few at a time [R6] [O1]', async () => {
    const leads = Array.from({ length: 47 }, (_, index) => leadNumber(index));
    await owe(...leads);
    accepts = false;
    world.clock.advance(5 * MINUTE_MS);
    for (let outage = 0; outage < 3; outage += 1) await tick();
    accepts = true;
    woken = [];
    const ticks: number[] = [];
    for (let count = 0; count < 6; count += 1) ticks.push(await tickAfter(SECOND_MS));
    expect(ticks).toEqual([10, 10, 10, 10, 7, 0]);
    expect(new Set(woken.map(({ id }) => id)).size).toBe(leads.length);
  });
});
