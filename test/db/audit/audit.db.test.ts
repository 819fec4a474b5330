import express from 'express';
import type { Pool } from 'pg';
import { auditReportSchema } from '../../../api/staff/audit';
import { makeStaffRouter } from '../../../api/staff/router';
import { readAuditResults } from '../../../db/audit/results';
import { CHECKS } from '../../../db/audit/checks';
import { DEMO_BUSINESS } from '../../../dev/demo';
import { auditOnce, type AuditDependencies } from '../../../upkeep/audit';
import { answer } from '../../support/answering';
import { makeWorld, STAFF_TOKEN, type World } from '../../support/world';
import { serve } from '../../unit/api/serving';

interface Logged {
  readonly level: 'error' | 'fatal';
  readonly fields: Readonly<Record<string, unknown>>;
}

describe('the auditor', () => {
  let world: World;
  let logged: Logged[] = [];
  beforeAll(async () => {
    world = await makeWorld();
  });
  beforeEach(() => {
    logged = [];
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const dependencies = (pool: Pool = world.database.service): AuditDependencies => ({
    pool,
    clock: world.clock,
    boundMs: 900_000,
    log: {
      error: (fields) => logged.push({ level: 'error', fields }),
      fatal: (fields) => logged.push({ level: 'fatal', fields }),
    },
  });

  const results = (businessId: string = DEMO_BUSINESS.id) =>
    readAuditResults(world.database.service, businessId);

  it('checks every invariant, says 0 where all hold, and logs nothing [INV-6]', async () => {
    await world.write({ text: 'My sink leaks' });
    await answer(world);
    expect(await auditOnce(dependencies())).toEqual({ scopes: ['recent', 'full'], violations: 0 });
    expect(logged).toEqual([]);
    const stored = await results();
    expect(stored).toHaveLength(CHECKS.length);
    expect(stored.filter(({ violations }) => violations > 0)).toEqual([]);
    expect(new Set(stored.map(({ checkedAt }) => checkedAt))).toEqual(new Set([world.clock.iso]));
  });

  it('looks at what was touched lately every minute, and at everything every six hours', async () => {
    await auditOnce(dependencies());
    world.clock.advance(30_000);
    expect(await auditOnce(dependencies())).toBeNull();
    world.clock.advance(30_000);
    expect(await auditOnce(dependencies())).toEqual({ scopes: ['recent'], violations: 0 });
    world.clock.advance(6 * 3_600_000);
    expect(await auditOnce(dependencies())).toEqual({ scopes: ['recent', 'full'], violations: 0 });
  });

  it('runs once where two processes come at the same time', async () => {
    const both = await Promise.all([auditOnce(dependencies()), auditOnce(dependencies())]);
    expect(both.filter((audited) => audited !== null)).toHaveLength(1);
  });

  it('logs what is broken as fatal, with ids and how many, until it is mended [INV-6]', async () => {
    await world.write({ text: 'My sink leaks' });
    const { id } = await world.conversation();
    const before = await world.conversation();
    await world.rows(
      'update conversations set owed_since = null, oldest_owed_at = null, overdue_from = null',
    );
    expect(await auditOnce(dependencies())).toMatchObject({ violations: 4 });
    const [message] = await world.rows('select id from messages');
    expect(logged).toContainEqual({
      level: 'fatal',
      fields: {
        invariant: 'INV-6',
        says: 'an unsettled message is owed by its conversation',
        scope: 'recent',
        violations: 1,
        ids: [message?.['id']],
      },
    });
    const broken = (await results()).filter(({ violations }) => violations > 0);
    expect(broken).toContainEqual(
      expect.objectContaining({ invariant: 'INV-6', violations: 1, rows: [message?.['id']] }),
    );
    await world.rows(
      `update conversations set owed_since = $2, oldest_owed_at = $3, overdue_from = $4
       where id = $1`,
      [id, before['owed_since'], before['oldest_owed_at'], before['overdue_from']],
    );
    world.clock.advance(6 * 3_600_000);
    await world.rows('update conversations set overdue_from = $1, touched_at = $1', [
      world.clock.iso,
    ]);
    expect(await auditOnce(dependencies())).toMatchObject({ violations: 0 });
    expect(
      (await results()).filter(({ violations, rows }) => violations + rows.length > 0),
    ).toEqual([]);
  });

  it('finds what broke long ago in the audit of everything, and keeps saying so [INV-6]', async () => {
    await world.write({ text: 'My sink leaks' });
    await answer(world);
    await auditOnce(dependencies());
    world.clock.advance(6 * 3_600_000);
    await world.rows(`update messages set settlement = 'no-answer', settlement_reason = null
      where owes`);
    expect(await auditOnce(dependencies())).toEqual({ scopes: ['recent', 'full'], violations: 1 });
    world.clock.advance(60_000);
    expect(await auditOnce(dependencies())).toEqual({ scopes: ['recent'], violations: 0 });
    const broken = (await results()).filter(({ violations }) => violations > 0);
    expect(broken.map(({ says }) => says)).toEqual(['a deliberate no-answer has its reason']);
    await world.rows(`update messages set settlement_reason = 'repaired' where owes`);
  });

  it('names rows only to the business that they belong to [SEC1]', async () => {
    await world.write({ text: 'My sink leaks' });
    await world.rows('update conversations set version = 2');
    await auditOnce(dependencies());
    const ofOthers = (await results('biz_other')).filter(({ violations }) => violations > 0);
    expect(ofOthers).toEqual([expect.objectContaining({ violations: 1, rows: [] })]);
    await world.rows('update conversations set version = 1');
  });

  it('is told to staff over the API: counts of all, ids of their own business [SEC1]', async () => {
    const app = express();
    const { staff, service } = world.database;
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const router = makeStaffRouter({
      staffPool: staff,
      tokenPool: service,
      runCommand: () => Promise.reject(new Error('no command is expected')),
      wake: () => undefined,
      events: { serve: () => Promise.resolve(), close: () => Promise.resolve() },
      log,
    });
    app.use('/api', router);
    const served = await serve(app);
    try {
      const read = async () => {
        const headers = { Authorization: `Bearer ${STAFF_TOKEN}` };
        const response = await fetch(`${served.url}/api/audit`, { headers });
        return auditReportSchema.parse(await response.json()).items;
      };
      expect(await read()).toEqual([]);
      await world.write({ text: 'My sink leaks' });
      await world.rows('update conversations set version = 2');
      await auditOnce(dependencies());
      const { id } = await world.conversation();
      const [first, ...others] = await read();
      expect(first).toMatchObject({ invariant: 'S1', violations: 1, rows: [id] });
      expect(others).toHaveLength(CHECKS.length - 1);
      expect(others[0]).toMatchObject({ invariant: 'INV-1', violations: 0, rows: [] });
      await world.rows(`update audit_findings set business_id = 'biz_other'`);
      expect((await read())[0]).toMatchObject({ invariant: 'S1', violations: 1, rows: [] });
      expect((await fetch(`${served.url}/api/audit`)).status).toBe(401);
    } finally {
      await served.close();
      await world.rows('update conversations set version = 1');
    }
  });

  it('makes the other checks where one cannot be made, and lets its age grow', async () => {
    await auditOnce(dependencies());
    await world.rows('revoke select on leads from unsilent_service');
    world.clock.advance(60_000);
    try {
      expect(await auditOnce(dependencies())).toMatchObject({ violations: 0 });
    } finally {
      await world.rows('grant select on leads to unsilent_service');
    }
    expect(logged).toEqual([
      {
        level: 'error',
        fields: {
          invariant: 'INV-4',
          says: 'every lead can be reached',
          scope: 'recent',
          failure: expect.stringContaining('42501'),
        },
      },
    ]);
    const stored = await results();
    const old = stored.filter(({ checkedAt }) => checkedAt !== world.clock.iso);
    expect(old.map(({ says }) => says)).toEqual(['every lead can be reached']);
  });

  it('forgets a check that no longer exists', async () => {
    await auditOnce(dependencies());
    await world.rows(`update audit_results set says = 'of an older version'
      where says = 'every lead can be reached'`);
    world.clock.advance(60_000);
    await auditOnce(dependencies());
    expect((await results()).map(({ says }) => says)).not.toContain('of an older version');
  });
});
