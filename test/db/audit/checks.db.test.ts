import type { PoolClient } from 'pg';
import { CHECKS } from '../../../db/audit/checks';
import { findBrokenAtRest, runChecks } from '../../../db/audit/run-checks';
import { violations } from '../../support/invariants';
import { makeWorld, type World } from '../../support/world';
import { SCENES } from './breaking';
import { BROKEN } from './broken';

const BOUND_MS = 900_000;

describe('the checks of the audit', () => {
  let world: World;
  let auditor: PoolClient;
  beforeAll(async () => {
    world = await makeWorld();
    auditor = await world.database.owner.connect();
  });
  afterEach(() => world.reset());
  afterAll(async () => {
    auditor.release();
    await world.close();
  });

  /** What the audit of the product says in one of its scopes, at the test's instant. */
  async function audited(scope: 'recent' | 'full'): Promise<string[]> {
    const results = await runChecks(auditor, { scope, boundMs: BOUND_MS, now: world.clock.iso });
    expect(results.flatMap(({ failure }) => failure ?? [])).toEqual([]);
    return results.filter(({ violations: rows }) => rows > 0).map(({ says }) => says);
  }

  const cases = BROKEN.map(({ says, scene, sql }, index) => {
    const check = CHECKS.find((each) => each.says === says);
    if (check === undefined) throw new Error(`no check says that ${says}`);
    // An invariant is proven to be watched; a requirement is proven where it is carried out.
    const id = check.invariant.startsWith('INV-') ? ` [${check.invariant}]` : '';
    return { id, says, scene, sql, isLively: check.lively === true, index };
  });

  it.each(cases)(
    '$index: broken by hand, it is seen that it no longer holds that $says$id',
    async ({ says, scene, sql, isLively }) => {
      await SCENES[scene](world);
      const now = world.clock.iso;
      expect(await findBrokenAtRest(auditor)).toEqual([]);
      expect(await audited('recent')).toEqual([]);
      await auditor.query("begin; set local session_replication_role = 'replica'");
      try {
        await auditor.query(sql);
        // Grace is part of the checks; nothing stands still yet when it was only now broken.
        await auditor.query('update conversations set touched_at = greatest(touched_at, $1)', [
          now,
        ]);
        expect(await audited('recent')).toContain(says);
        expect(await audited('full')).toContain(says);
        const resting = await findBrokenAtRest(auditor);
        expect(resting.map((finding) => finding.says).includes(says)).toBe(!isLively);
      } finally {
        await auditor.query('rollback');
      }
    },
  );

  it('are all shown to fail when what they say is broken, and no two say the same', () => {
    expect(new Set(CHECKS.map(({ says }) => says)).size).toBe(CHECKS.length);
    const shown = new Set(BROKEN.map(({ says }) => says));
    expect(CHECKS.filter(({ says }) => !shown.has(says))).toEqual([]);
  });

  it('cover every invariant that is visible in Postgres', () => {
    const covered = new Set(CHECKS.map(({ invariant }) => invariant));
    const wanted = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, '17b'];
    expect(wanted.filter((number) => !covered.has(`INV-${number}`))).toEqual([]);
  });

  it('are made between tests: a broken one fails the test that left it, and only that one', async () => {
    await SCENES.owed(world);
    await world.rows('update conversations set version = 7');
    await expect(world.reset()).rejects.toThrow(/^S1 is broken \(the version counts/);
    await expect(world.reset()).resolves.toBeUndefined();
    expect(await violations(world.database.owner)).toEqual([]);
  });
});
