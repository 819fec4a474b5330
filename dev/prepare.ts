import { openPool } from '../db/database';
import { migrateDatabase } from '../db/migrate';
import { seedDemo } from './seed';

/** Run by `npm start` before anything else: brings the schema up to date and seeds the demo. */
async function main(): Promise<void> {
  const ownerUrl = process.env['DATABASE_URL'];
  const rolePassword = process.env['DATABASE_ROLE_PASSWORD'];
  const staffToken = process.env['DEMO_TOKEN'];
  if (!ownerUrl || !rolePassword || !staffToken) {
    throw new Error('DATABASE_URL, DATABASE_ROLE_PASSWORD and DEMO_TOKEN are needed');
  }
  await migrateDatabase({ ownerUrl, rolePassword });
  const pool = openPool({
    connectionString: ownerUrl,
    max: 1,
    applicationName: 'unsilent-prepare',
    onError: (error) => {
      throw error;
    },
  });
  await seedDemo(pool, staffToken);
  await pool.end();
}

main().catch((error: unknown) => {
  console.error(`preparing the database failed: ${String(error)}`);
  process.exitCode = 1;
});
