import { inTransaction } from '../../../db/database';
import { escalateOverdue } from '../../../db/escalations';
import { writeNotices } from '../../../db/notices';
import { DEMO_BUSINESS } from '../../../dev/demo';
import { makeWorld, type World } from '../../support/world';
import { MINUTE_MS, notices, openItem } from './scene';

const ITEMS = 5_000;
const RUNS = 15;
const TABLES = 'work_items, escalations, notice_items, notices';
/** The planner looks at the ends of indexes. */
const FEW_ROWS = 60;

interface Counts {
  readonly rows: number;
  readonly scans: number;
}

/** What a connection has read so far of the tables that hold what is told. */
const COUNTS = `select sum(pg_stat_get_xact_tuples_returned(c.oid)
    + pg_stat_get_xact_tuples_fetched(c.oid))::int as rows,
    sum(pg_stat_get_xact_numscans(c.oid)) filter (where c.relname = 'work_items_untold')::int as scans
  from pg_class c left join pg_index x on x.indexrelid = c.oid
  where coalesce(x.indrelid, c.oid) in
    ('work_items'::regclass, 'escalations'::regclass, 'notice_items'::regclass, 'notices'::regclass)`;

describe('a look for what has to be told', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  /** Items that nobody took, each with two levels that were told, as many as an outage leaves. */
  const fill = async (toldLevel: number): Promise<void> => {
    await world.rows(
      `with made as (
         insert into work_items (id, business_id, kind, reason, explanation, subject_id, opened_at,
           escalate_at, next_escalation_at, level, told_level, assigned_queue)
         select 'wrk_' || i, 'biz_' || i % 20, 'credentials', 'of_a_test', repeat('x', 120),
           'acc_' || i, $1::timestamptz, $1, $1::timestamptz + interval '1 hour', 2, $2, 'operators'
         from generate_series(1, $3::int) i returning id, business_id),
       levels as (select id, business_id, level from made, generate_series(1, 2) level),
       reached as (
         insert into escalations (work_item_id, level, business_id, queue, due_at, at, notify_at)
         select id, level, business_id, 'operators', $1, $1, $1 from levels)
       insert into notice_items (work_item_id, level, notice_id, business_id)
       select id, level, 'ntc_' || business_id || '_' || level, business_id from levels`,
      [world.clock.iso, toldLevel, ITEMS],
    );
    await world.rows(`vacuum analyze ${TABLES}`);
  };

  const look = () => writeNotices(world.database.service, world.clock.iso);

  /** What one look reads: how many rows, and how often it went through the index of the untold. */
  const readBy = () =>
    inTransaction(world.database.service, async (client) => {
      const counted = async () => (await client.query<Counts>(COUNTS)).rows[0];
      const before = await counted();
      await writeNotices(client, world.clock.iso);
      const after = await counted();
      if (before === undefined || after === undefined) throw new Error('counts are one row');
      return { rows: after.rows - before.rows, throughIndex: after.scans > before.scans };
    });

  const bestMs = async (): Promise<number> => {
    let best = Infinity;
    for (let run = 0; run < RUNS; run += 1) {
      const startedAt = performance.now();
      await look();
      best = Math.min(best, performance.now() - startedAt);
    }
    return best;
  };

  it('costs as much among thousands of told items as among none [C7]', async () => {
    const amongNone = await bestMs();
    await fill(2);
    const { rows, throughIndex } = await readBy();
    expect(rows).toBeLessThan(FEW_ROWS);
    expect(throughIndex).toBe(true);
    // It was a hundred times as much while each look read all that was ever told.
    expect((await bestMs()) / amongNone).toBeLessThan(8);
  });

  it('reads one item’s levels where one waits to be told, not those of all others [C7]', async () => {
    await fill(2);
    await openItem(world, { kind: 'job-review', noticeDelayMs: 60_000 });
    expect((await readBy()).rows).toBeLessThan(FEW_ROWS);
  });

  it.each([
    ['a business', DEMO_BUSINESS.id, 'not-sent'],
    ['those who run the system', null, 'quarantine'],
  ] as const)(
    'and the notice of %s that follows do not read the notices of earlier days [C7]',
    async (_name, businessId, kind) => {
      await world.rows(
        `insert into notices (id, business_id, queue, number, created_at)
         select 'ntc_' || queue || i, $1, queue, i, $2::timestamptz - interval '1 day'
         from generate_series(1, $3::int) i, unnest(array['front-desk', 'operators']) queue`,
        [businessId, world.clock.iso, ITEMS],
      );
      await openItem(world, { kind, businessId });
      await world.rows(`vacuum analyze ${TABLES}`);
      expect((await readBy()).rows).toBeLessThan(FEW_ROWS);
      const [last] = await world.rows('select max(number) as number from notices');
      expect(last).toEqual({ number: ITEMS + 1 });
    },
  );

  it('marks what was told already, once, and tells none of it again [C7] [R2]', async () => {
    await fill(0);
    expect(await look()).toBe(0);
    expect(await world.rows('select distinct told_level, level from work_items')).toEqual([
      { told_level: 2, level: 2 },
    ]);
    await world.rows(`vacuum analyze ${TABLES}`);
    expect((await readBy()).rows).toBeLessThan(FEW_ROWS);
    expect(await notices(world)).toEqual([]);
  });

  const marks = () => world.rows('select level, told_level from work_items');

  // Raced: loops of which each writes the notice of one of the item's two queues.
  // Must hold: both are told, once; a later look marks the item, which neither could do alone.
  it('marks an item whose levels two notices told at the same time [T6] [C7]', async () => {
    await openItem(world, { kind: 'not-sent', noticeDelayMs: 60_000 });
    for (let level = 2; level <= 3; level += 1) {
      world.clock.advance(5 * MINUTE_MS);
      const options = { olderThanMs: 0, limit: 1, now: world.clock.iso };
      expect(await escalateOverdue(world.database.service, options)).toMatchObject({ done: 1 });
    }
    await Promise.all([look(), look(), look(), look()]);
    expect(await notices(world)).toEqual(['front-desk: 2', 'shift-lead: 1']);
    await look();
    expect(await marks()).toEqual([{ level: 3, told_level: 3 }]);
  });

  // Raced: a look, and whoever holds the item's row and raises it.
  // Must hold: the look does not wait, and the new level is told after the commit.
  it('waits for nobody, and an item that is raised meanwhile is told of its new level [T6] [C7]', async () => {
    const id = await openItem(world, { kind: 'not-sent' });
    expect(await look()).toBe(1);
    world.clock.advance(5 * MINUTE_MS);
    await inTransaction(world.database.service, async (client) => {
      await client.query('select from work_items where id = $1 for update', [id]);
      expect(await look()).toBe(0);
      expect(await marks()).toEqual([{ level: 1, told_level: 0 }]);
      await client.query(
        `with raised as (update work_items set level = 2 where id = $1 returning id, business_id)
         insert into escalations (work_item_id, level, business_id, queue, due_at, at, notify_at)
         select id, 2, business_id, 'front-desk', $2, $2, $2 from raised`,
        [id, world.clock.iso],
      );
      await look();
    });
    expect(await look()).toBe(1);
    expect(await notices(world)).toEqual(['front-desk: 1', 'front-desk: 1']);
    await look();
    expect(await marks()).toEqual([{ level: 2, told_level: 2 }]);
  });
});
