import { parseArgs } from 'node:util';
import { runChecks, type CheckResult } from '../../db/audit/run-checks';
import { openPool } from '../../db/database';

const USAGE = `Usage: npm run audit -- [--bound-seconds N]

Checks every invariant that is visible in Postgres (docs/invariants.md) over the whole database of
DATABASE_URL, or of the embedded one. Reads only, beside whatever runs.

  --bound-seconds N   a reply may be owed so long (default 900)
  --help              this text

Exit code: 0 all hold, 1 something is broken, 2 the audit could not be made.`;

const BROKEN = 1;
const NOT_MADE = 2;

/** A whole pass over a large database takes its time; a statement that hangs does not. */
const STATEMENT_TIMEOUT_MS = 300_000;

/** What the command line asks for; throws one sentence where it makes no sense. */
function readOptions(): { readonly help: boolean; readonly boundMs: number } {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', default: false },
      'bound-seconds': { type: 'string', default: '900' },
    },
  });
  const seconds = Number(values['bound-seconds']);
  if (!Number.isInteger(seconds) || seconds < 1) {
    throw new Error('--bound-seconds takes a whole number of seconds, at least 1.');
  }
  return { help: values.help, boundMs: seconds * 1_000 };
}

async function audit(databaseUrl: string, boundMs: number): Promise<CheckResult[]> {
  const pool = openPool({
    connectionString: databaseUrl,
    max: 1,
    applicationName: 'unsilent-audit-command',
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    onError: (error) => {
      console.error(error.message);
    },
  });
  try {
    const client = await pool.connect();
    try {
      await client.query('set default_transaction_read_only = on');
      return await runChecks(client, { scope: 'full', boundMs, now: null });
    } finally {
      client.release();
    }
  } finally {
    await pool.end();
  }
}

/** One line per check, and under a broken one the rows that break it. */
function describe(results: readonly CheckResult[]): string {
  return results
    .map(({ invariant, says, violations, found, failure }) => {
      const verdict = failure === null ? `${violations} rows` : 'not made';
      const line = `${invariant.padEnd(8)}${verdict.padStart(10)}   ${says}`;
      const details = failure === null ? found.map(({ row }) => row) : [failure];
      return [line, ...details.map((detail) => `${' '.repeat(21)}${detail}`)].join('\n');
    })
    .join('\n');
}

async function main(): Promise<void> {
  const options = readOptions();
  if (options.help) {
    console.log(USAGE);
    return;
  }
  const databaseUrl = process.env['DATABASE_URL'];
  if (databaseUrl === undefined || databaseUrl === '') throw new Error('DATABASE_URL is not set.');
  const results = await audit(databaseUrl, options.boundMs);
  const broken = results.filter(({ violations }) => violations > 0).length;
  const notMade = results.filter(({ failure }) => failure !== null).length;
  console.log(describe(results));
  console.log(`\n${results.length} checks: ${broken} broken, ${notMade} not made`);
  if (broken > 0) process.exitCode = BROKEN;
  else if (notMade > 0) process.exitCode = NOT_MADE;
}

main().catch((error: unknown) => {
  console.error(
    `The audit was not made: ${error instanceof Error ? error.message : String(error)}`,
  );
  console.error(`\n${USAGE}`);
  process.exitCode = NOT_MADE;
});
