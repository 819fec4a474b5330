import type { World } from '../../support/world';

/**
 * Gives this test's own database a clock that the test sets: its `clock_timestamp()` hides the
 * server's. So everything runs as in production, where nobody passes an instant and each
 * transaction reads the database's clock behind its locks.
 */
export async function installDatabaseClock(world: World): Promise<void> {
  const { owner } = world.database;
  await owner.query(`
    create schema simulated;
    create table simulated.clock (now timestamptz not null);
    insert into simulated.clock values ('2026-01-01T00:00:00Z');
    create function simulated.clock_timestamp() returns timestamptz language sql volatile
      as 'select now from simulated.clock';
    grant usage on schema simulated to public;
    grant select on simulated.clock to public`);
  const use = 'set search_path = simulated, public, pg_catalog';
  for (const pool of [world.database.service, world.database.staff]) {
    pool.on('connect', (client) => void client.query(use));
    // The one connection that the set-up of the world opened.
    await pool.query(use);
  }
}

export async function setDatabaseClock(world: World, nowMs: number): Promise<void> {
  await world.database.owner.query('update simulated.clock set now = $1', [
    new Date(nowMs).toISOString(),
  ]);
}
