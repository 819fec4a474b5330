import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, type Pool } from 'pg';
import { openPool } from '../../db/database';
import { migrateDatabase, roleUrl } from '../../db/migrate';

const ROLE_PASSWORD = 'role-password-of-tests';
const MIGRATIONS = join(__dirname, '..', '..', 'db', 'migrations');

/** A database of one test file, cloned from a migrated template. */
export interface TestDatabase {
  readonly ownerUrl: string;
  readonly rolePassword: string;
  readonly owner: Pool;
  readonly service: Pool;
  readonly staff: Pool;
  readonly retention: Pool;
  close(): Promise<void>;
}

function adminUrl(): string {
  const url = process.env['TEST_DATABASE_URL'];
  if (url === undefined)
    throw new Error('TEST_DATABASE_URL is set by the global setup of the tier');
  return url;
}

function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.toString();
}

/** The template's name changes with the migrations, so that a stale one is never used. */
function templateName(): string {
  const hash = createHash('sha256');
  for (const file of readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .sort()) {
    hash.update(readFileSync(join(MIGRATIONS, file)));
  }
  return `unsilent_template_${hash.digest('hex').slice(0, 12)}`;
}

async function ensureTemplate(admin: Client): Promise<string> {
  const name = templateName();
  await admin.query('select pg_advisory_lock(42)');
  try {
    const found = await admin.query('select from pg_database where datname = $1', [name]);
    if (found.rowCount === 0) {
      const draft = `${name}_draft`;
      await admin.query(`drop database if exists ${draft} with (force)`);
      await admin.query(`create database ${draft}`);
      await migrateDatabase({
        ownerUrl: withDatabase(adminUrl(), draft),
        rolePassword: ROLE_PASSWORD,
        migrationsFolder: MIGRATIONS,
      });
      await admin.query(`alter database ${draft} rename to ${name}`);
    }
    return name;
  } finally {
    await admin.query('select pg_advisory_unlock(42)');
  }
}

/** Makes a database for one test file. Close it in `afterAll`; leaked connections are cut there. */
export async function makeTestDatabase(): Promise<TestDatabase> {
  const admin = new Client({ connectionString: adminUrl() });
  await admin.connect();
  const name = `unsilent_test_${process.pid}_${Date.now().toString(36)}`;
  try {
    const template = await ensureTemplate(admin);
    await admin.query('select pg_advisory_lock(43)');
    await admin.query(`create database ${name} template ${template}`);
    await admin.query('select pg_advisory_unlock(43)');
  } finally {
    await admin.end();
  }
  const ownerUrl = withDatabase(adminUrl(), name);
  const open = (connectionString: string, max: number): Pool =>
    openPool({ connectionString, max, applicationName: 'test', onError: () => undefined });
  const pools = {
    owner: open(ownerUrl, 3),
    service: open(roleUrl(ownerUrl, 'unsilent_service', ROLE_PASSWORD), 25),
    staff: open(roleUrl(ownerUrl, 'unsilent_staff', ROLE_PASSWORD), 5),
    retention: open(roleUrl(ownerUrl, 'unsilent_retention', ROLE_PASSWORD), 2),
  };
  return {
    ownerUrl,
    rolePassword: ROLE_PASSWORD,
    ...pools,
    close: async () => {
      await Promise.all(Object.values(pools).map((pool) => pool.end()));
      const last = new Client({ connectionString: adminUrl() });
      await last.connect();
      await last.query(`drop database if exists ${name} with (force)`);
      await last.end();
    },
  };
}
