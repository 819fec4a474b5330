import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import { Client } from 'pg';

/** Any number, as long as every migrator of this product uses the same. */
const MIGRATION_LOCK = 7_214_220_815;

const ROLES = ['unsilent_service', 'unsilent_staff', 'unsilent_retention'] as const;
export type Role = (typeof ROLES)[number];

interface Journal {
  readonly entries: readonly { readonly when: number; readonly tag: string }[];
}

/**
 * Brings the schema up to date as the owner and sets the roles' password. An advisory lock lets
 * one migrator work at a time; the others find everything done. Afterwards as many migrations must
 * be applied as the journal lists: drizzle would otherwise skip a late-merged one silently.
 */
export async function migrateDatabase(options: {
  readonly ownerUrl: string;
  readonly rolePassword: string;
  readonly migrationsFolder?: string;
}): Promise<void> {
  const migrationsFolder = options.migrationsFolder ?? join(__dirname, 'migrations');
  const client = new Client({
    connectionString: options.ownerUrl,
    application_name: 'unsilent-migrate',
  });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await migrate(drizzle(client), { migrationsFolder });
    await assertAllApplied(client, migrationsFolder);
    for (const role of ROLES) {
      // A utility statement takes no parameters; the driver's own quoting is used.
      const password = client.escapeLiteral(options.rolePassword);
      await client.query(`alter role ${role} password ${password}`);
    }
  } finally {
    await client.end();
  }
}

async function assertAllApplied(client: Client, migrationsFolder: string): Promise<void> {
  const text = readFileSync(join(migrationsFolder, 'meta', '_journal.json'), 'utf8');
  const { entries } = JSON.parse(text) as Journal;
  const applied = await client.query<{ count: number }>(
    'select count(*)::int as count from drizzle.__drizzle_migrations',
  );
  if (applied.rows[0]?.count !== entries.length) {
    throw new Error(
      `the journal lists ${entries.length} migrations, ${applied.rows[0]?.count ?? 0} are applied`,
    );
  }
}

/** The address of the same database for one of the roles that the product runs as. */
export function roleUrl(ownerUrl: string, role: Role, password: string): string {
  const url = new URL(ownerUrl);
  url.username = role;
  url.password = encodeURIComponent(password);
  return url.toString();
}
