/** `npm run audit`: finds the database, starts the embedded one if it does not run, and audits it. */
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { build } from './build.mjs';
import { ROOT, Refusal, checkNode, ensureInstalled, homeFolder, runVisibly } from './machine.mjs';
import { readPort } from './ports.mjs';
import { loadSecrets } from './secrets.mjs';

/** The audit's own code for "could not be made" (`cli/audit/main.ts`). */
const NOT_MADE = 2;

function isListening(port) {
  return new Promise((fulfil) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const end = (listening) => {
      socket.destroy();
      fulfil(listening);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}

/** The database to audit, and how to stop what was started for it. */
async function findDatabase() {
  const given = process.env.DATABASE_URL;
  if (given) return { url: given, stop: async () => undefined };
  const home = homeFolder();
  const folder = join(home, 'postgres');
  if (!existsSync(join(home, 'secrets.json'))) {
    throw new Refusal(
      `There is no database in ${home} yet; run npm start first, or set DATABASE_URL.`,
    );
  }
  const password = loadSecrets(home).POSTGRES_PASSWORD;
  const port = readPort('DATABASE_PORT', 54_329);
  if (await isListening(port)) {
    const url = `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/unsilent`;
    return { url, stop: async () => undefined };
  }
  const { ensureDatabase, startPostgres } = await import('./postgres.mjs');
  const logFile = join(home, 'postgres.log');
  const server = await startPostgres({ folder, port, password, logFile });
  return { url: await ensureDatabase(server.url, 'unsilent'), stop: () => server.stop() };
}

async function main() {
  checkNode();
  await ensureInstalled();
  await build({ web: false });
  const command = [join(ROOT, 'dist', 'cli', 'audit', 'main.js'), ...process.argv.slice(2)];
  if (process.argv.includes('--help')) return runVisibly(process.execPath, command);
  const database = await findDatabase();
  try {
    const env = { ...process.env, DATABASE_URL: database.url };
    return await runVisibly(process.execPath, command, { env });
  } finally {
    await database.stop();
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Refusal ? `\n${error.message}` : error);
  process.exitCode = NOT_MADE;
}
process.exit();
