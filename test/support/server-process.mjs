/**
 * A server of its own for a test that stops, kills or restarts it:
 * `node server-process.mjs postgres` or `… temporal PORT`. It prints one line of JSON when ready,
 * obeys the lines `stop`, `start` and `kill` on its standard input, answers each with `done`, and
 * ends with its input.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../../dev/ports.mjs';
import { startPostgres } from '../../dev/postgres.mjs';
import { startTemporal } from '../../dev/temporal.mjs';

const [kind] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), `unsilent-server-${process.pid}-`));
chmodSync(folder, 0o755);
const port = await freePort();
let fresh = true;

async function start() {
  if (kind === 'temporal') {
    return startTemporal({ port, uiPort: null, logFile: join(folder, 'temporal.log') });
  }
  const server = await startPostgres({
    folder: join(folder, 'postgres'),
    port,
    password: 'test',
    logFile: join(folder, 'postgres.log'),
    settings: { synchronous_commit: 'on' },
    fresh: fresh ? { fsync: 'on' } : undefined,
  });
  fresh = false;
  return server;
}

let server = await start();
console.log(JSON.stringify({ address: server.url ?? server.address }));

const COMMANDS = {
  stop: () => server.stop(),
  // The keeper cleans up behind a server that died.
  kill: async () => {
    process.kill(server.pid, kind === 'postgres' ? 'SIGQUIT' : 'SIGKILL');
    await server.ended;
  },
  start: async () => {
    server = await start();
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  await COMMANDS[line.trim()]?.();
  console.log('done');
}
await server.stop().catch(() => undefined);
rmSync(folder, { recursive: true, force: true });
