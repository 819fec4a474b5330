import { ingest } from '../../../db/ingest/ingest';
import { noticesOnce } from '../../../upkeep/notices';
import { prepared, requestOf, smsElement } from '../../support/inbound';
import { makeSweeper, openItems } from '../../support/sweeping';
import { runUntilIdle } from '../../support/run-until-idle';
import { makeWorld, type World } from '../../support/world';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const OTHER = 'biz_00000000000070008000000000000002';
const OTHER_NUMBER = '+13125550188';
const LEADS = 20;

const leadNumber = (index: number) => `+1312555${String(1_000 + index)}`;

describe('an outage of Temporal', () => {
  let world: World;
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
  afterEach(() => world.reset());
  afterAll(() => world.close());

  /** A lead of one of the two businesses writes. */
  const write = (index: number) => {
    const item = smsElement({ text: 'My sink leaks', lead: leadNumber(index) }, index);
    if (index % 2 === 0) return ingest(world.database.service, requestOf([item]), world.clock.iso);
    const other = prepared({ ...item.element, accountExternalId: OTHER_NUMBER });
    return ingest(world.database.service, requestOf([other]), world.clock.iso);
  };

  it('of 61 minutes leaves every debt with a person, in one notice per business [T4] [T6] [T11] [INV-8]', async () => {
    const sweeper = makeSweeper(world);
    sweeper.onWake = () => false;
    const { pool, clock, log } = world.dependencies;
    for (let index = 0; index < LEADS; index += 1) {
      await write(index);
      world.clock.advance(SECOND);
    }
    world.clock.advance(MINUTE - LEADS * SECOND);
    // Nothing runs but the two loops over Postgres: the sweep every minute, notices in between.
    for (let minute = 1; minute <= 61; minute += 1) {
      await sweeper.sweep();
      for (let look = 0; look < 3; look += 1) {
        await noticesOnce({ pool, clock, log });
        world.clock.advance(20 * SECOND);
      }
    }
    const owed = await world.rows('select from messages where owes and settled_at is null');
    expect(owed).toEqual([]);
    expect(await openItems(world)).toEqual(
      Array(LEADS).fill({ kind: 'handoff', reason: 'reply_overdue' }),
    );
    const notices = await world.rows(
      `select n.business_id, count(*)::int as items from notices n
       join notice_items i on i.notice_id = n.id group by n.id order by n.business_id`,
    );
    expect(notices).toEqual([
      expect.objectContaining({ items: LEADS / 2 }),
      expect.objectContaining({ items: LEADS / 2, business_id: OTHER }),
    ]);
    expect(sweeper.told.filter(({ level }) => level === 'error')).toHaveLength(LEADS);

    // Temporal is back: every conversation wakes, finds its debt with a person, and sends nothing.
    const facts = () =>
      world.rows(
        `select c.id, c.state, c.version, c.owner, m.settlement_ref, w.level from conversations c
         join messages m on m.conversation_id = c.id join work_items w on w.id = m.settlement_ref
         order by c.id`,
      );
    const before = await facts();
    await runUntilIdle(
      world,
      before.map(({ id }) => String(id)),
      { forMs: 0 },
    );
    expect(await facts()).toEqual(before);
    expect(world.provider.calls).toEqual([]);
  });
});
