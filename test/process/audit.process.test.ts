import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Client } from 'pg';
import { ROOT, startProgram, startServer, type TestServer } from '../support/processes';

/** The command of `npm run audit`, against a database of its own. */
describe('the audit command', () => {
  let postgres: TestServer;
  let client: Client;
  beforeAll(async () => {
    postgres = await startServer('postgres');
    const env = {
      PATH: process.env['PATH'],
      DATABASE_URL: postgres.address,
      DATABASE_ROLE_PASSWORD: 'role-password-of-tests',
      DEMO_TOKEN: 'token-of-tests',
    };
    const prepare = startProgram('prepare', 'dev/prepare.js', env);
    expect(await prepare.ended).toBe('code 0');
    client = new Client({ connectionString: postgres.address });
    await client.connect();
  }, 120_000);
  afterAll(async () => {
    await client.end();
    await postgres.close();
  });

  function audit(options: readonly string[] = [], databaseUrl = postgres.address) {
    const program = join(ROOT, 'dist', 'cli', 'audit', 'main.js');
    const env = { PATH: process.env['PATH'], DATABASE_URL: databaseUrl };
    return spawnSync(process.execPath, [program, ...options], { env, encoding: 'utf8' });
  }

  it('ends with 0 where every invariant holds, and lists each [INV-6]', () => {
    const { status, stdout } = audit();
    expect([status, stdout]).toEqual([0, expect.stringMatching(/checks: 0 broken, 0 not made\n$/)]);
    expect(stdout).toMatch(/^INV-6 +0 rows +a deliberate no-answer has its reason$/m);
  });

  it('ends with 1 and names the rows where one is broken [INV-4]', async () => {
    await client.query(
      `insert into leads (id, business_id, created_at) select 'led_x', id, now() from businesses`,
    );
    const { status, stdout } = audit();
    await client.query('delete from leads');
    expect(status).toBe(1);
    expect(stdout).toMatch(/^INV-4 +1 rows +every lead can be reached\n +led_x$/m);
  });

  it('ends with 2 where a check cannot be made', async () => {
    await client.query('alter table leads rename to leads_elsewhere');
    const { status, stdout } = audit();
    await client.query('alter table leads_elsewhere rename to leads');
    expect(status).toBe(2);
    expect(stdout).toMatch(/0 broken, [1-9]\d* not made/);
  });

  it.each([
    ['an unknown option', ['--nope'], undefined, "Unknown option '--nope'"],
    ['a bound that is none', ['--bound-seconds', 'x'], undefined, 'takes a whole number'],
    ['no database', [], '', 'DATABASE_URL is not set'],
    ['a database that is away', [], 'postgres://x@127.0.0.1:1/x', 'ECONNREFUSED'],
  ])('ends with 2 and says why on %s', (_what, options, databaseUrl, words) => {
    const { status, stderr } = audit(options, databaseUrl);
    expect([status, stderr]).toEqual([2, expect.stringContaining(words)]);
    expect(stderr).toContain('Usage: npm run audit');
  });

  it('explains itself', () => {
    expect(audit(['--help'])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/Exit code/),
    });
  });
});
