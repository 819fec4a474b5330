import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { is } from 'drizzle-orm';
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core';
import { Client } from 'pg';
import { migrateDatabase } from '../../../db/migrate';
import * as schema from '../../../db/schema';

const ROOT = join(__dirname, '..', '..', '..');
const MIGRATIONS = join(ROOT, 'db', 'migrations');
const ROLE_PASSWORD = 'role-password-of-tests';
/** Passwords of roles belong to the whole server: whoever sets them there takes this lock. */
const ROLES_LOCK = 42;

/** The migration that gave work items their levels. */
const LEVELS_SINCE = 4;

interface Journal {
  readonly entries: { readonly idx: number; readonly when: number; readonly tag: string }[];
}

const journalOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'meta', '_journal.json'), 'utf8')) as Journal;

describe('the migrations', () => {
  let admin: Client;
  let client: Client;
  let url: string;
  let name: string;
  let folders: string[];

  beforeEach(async () => {
    folders = [];
    const adminUrl = String(process.env['TEST_DATABASE_URL']);
    admin = new Client({ connectionString: adminUrl });
    await admin.connect();
    await admin.query('select pg_advisory_lock($1)', [ROLES_LOCK]);
    name = `unsilent_migrations_${process.pid}_${Date.now().toString(36)}`;
    await admin.query(`create database ${name}`);
    const changed = new URL(adminUrl);
    changed.pathname = `/${name}`;
    url = changed.toString();
    client = new Client({ connectionString: url });
    await client.connect();
  });
  afterEach(async () => {
    await client.end();
    await admin.query(`drop database ${name} with (force)`);
    await admin.end();
    for (const folder of folders) rmSync(folder, { recursive: true });
  });

  const migrateFrom = (migrationsFolder = MIGRATIONS) =>
    migrateDatabase({ ownerUrl: url, rolePassword: ROLE_PASSWORD, migrationsFolder });
  const applied = async () =>
    (
      await client.query('select created_at from drizzle.__drizzle_migrations order by id')
    ).rows.map((row: { created_at: string }) => Number(row.created_at));

  function copyOfMigrations(): string {
    mkdirSync(join(ROOT, '.tmp'), { recursive: true });
    const folder = mkdtempSync(join(ROOT, '.tmp', 'migrations-'));
    folders.push(folder);
    cpSync(MIGRATIONS, folder, { recursive: true });
    return folder;
  }

  it('are applied once by eight migrators that start at the same time, in the journal’s order', async () => {
    await Promise.all(Array.from({ length: 8 }, () => migrateFrom()));
    expect(await applied()).toEqual(journalOf(MIGRATIONS).entries.map(({ when }) => when));
    const roles = await client.query(
      `select rolname from pg_roles where rolname like 'unsilent_%' order by 1`,
    );
    expect(roles.rows.map((row: { rolname: string }) => row.rolname)).toEqual([
      'unsilent_retention',
      'unsilent_service',
      'unsilent_staff',
    ]);
  });

  it('change nothing where they are applied already', async () => {
    await migrateFrom();
    const before = await applied();
    await migrateFrom();
    expect(await applied()).toEqual(before);
  });

  it('that were merged late, with an older date, are refused instead of being skipped silently', async () => {
    await migrateFrom();
    const folder = copyOfMigrations();
    const journal = journalOf(folder);
    const [first] = journal.entries;
    journal.entries.push({
      idx: 99,
      when: (first?.when ?? 0) - 1,
      tag: '0099_late',
    });
    writeFileSync(join(folder, 'meta', '_journal.json'), JSON.stringify(journal));
    writeFileSync(join(folder, '0099_late.sql'), 'create table late (id text);');
    const count = journal.entries.length;
    await expect(migrateFrom(folder)).rejects.toThrow(
      `the journal lists ${count} migrations, ${count - 1} are applied`,
    );
  });

  it('that fail leave nothing behind, and the next try applies all', async () => {
    const folder = copyOfMigrations();
    const [last] = journalOf(folder).entries.slice(-1);
    const file = join(folder, `${last?.tag ?? ''}.sql`);
    const good = readFileSync(file, 'utf8');
    writeFileSync(file, `${good}\n--> statement-breakpoint\nselect 1 / 0;`);
    await expect(migrateFrom(folder)).rejects.toThrow();
    const tables = await client.query(`select from pg_tables where schemaname = 'public'`);
    expect(tables.rowCount).toBe(0);
    await migrateFrom();
    expect(await applied()).toHaveLength(journalOf(MIGRATIONS).entries.length);
  });

  it('start the clock of items that stood open before there were levels, and of no other [C7] [R2]', async () => {
    const before = copyOfMigrations();
    const journal = journalOf(before);
    const entries = journal.entries.filter(({ idx }) => idx < LEVELS_SINCE);
    writeFileSync(join(before, 'meta', '_journal.json'), JSON.stringify({ ...journal, entries }));
    await migrateFrom(before);
    await client.query(`insert into work_items (id, kind, reason, explanation, opened_at,
        assigned_queue, resolved_at)
      values ('wrk_open', 'handoff', 'r', 'e', '2026-11-01Z', 'front-desk', null),
        ('wrk_system', 'quarantine', 'r', 'e', '2026-11-02Z', 'operators', null),
        ('wrk_done', 'handoff', 'r', 'e', '2026-11-01Z', 'front-desk', '2026-11-03Z')`);
    await migrateFrom();
    const { rows } = await client.query(
      `select id, escalate_at = opened_at as due, next_escalation_at = opened_at as ticks,
         automation_paused_at = opened_at as paused, level from work_items order by id`,
    );
    expect(rows).toEqual([
      { id: 'wrk_done', due: true, ticks: null, paused: null, level: 0 },
      { id: 'wrk_open', due: true, ticks: true, paused: true, level: 0 },
      { id: 'wrk_system', due: true, ticks: true, paused: null, level: 0 },
    ]);
  });

  it('make exactly the columns that the schema declares', async () => {
    await migrateFrom();
    const declared = Object.values<unknown>(schema)
      .filter((value) => is(value, PgTable))
      .flatMap((table) => {
        const { name: tableName, columns } = getTableConfig(table);
        return columns.map(
          (column) => `${tableName}.${column.name} ${column.notNull ? 'not null' : 'null'}`,
        );
      });
    const made = await client.query(
      `select format('%s.%s %s', table_name, column_name,
         case is_nullable when 'YES' then 'null' else 'not null' end) as made
       from information_schema.columns where table_schema = 'public'
         and not (select relispartition from pg_class where oid = table_name::regclass)`,
    );
    expect(made.rows.map((row: { made: string }) => row.made).sort()).toEqual(declared.sort());
  });
});

describe('the journal of the migrations', () => {
  const { entries } = journalOf(MIGRATIONS);

  it('lists every file once, numbered without a gap, each later than the one before', () => {
    const files = readdirSync(MIGRATIONS).filter((file) => file.endsWith('.sql'));
    expect(files.sort()).toEqual(entries.map(({ tag }) => `${tag}.sql`));
    expect(entries.map(({ idx, tag }) => [idx, tag.slice(0, 4)])).toEqual(
      entries.map((_entry, index) => [index, String(index).padStart(4, '0')]),
    );
    for (const [index, { when }] of entries.entries()) {
      expect(when).toBeGreaterThan(entries[index - 1]?.when ?? 0);
    }
  });

  it('and the schema agree: generating again yields no migration', async () => {
    mkdirSync(join(ROOT, '.tmp'), { recursive: true });
    const folder = mkdtempSync(join(ROOT, '.tmp', 'generated-'));
    cpSync(MIGRATIONS, folder, { recursive: true });
    const tool = join(ROOT, 'node_modules', 'drizzle-kit', 'bin.cjs');
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [
        tool,
        'generate',
        '--dialect=postgresql',
        '--schema=./db/schema/index.ts',
        `--out=${relative(ROOT, folder)}`,
      ],
      { cwd: ROOT },
    );
    const files = readdirSync(folder);
    rmSync(folder, { recursive: true });
    expect(stdout).toContain('No schema changes');
    expect(files.sort()).toEqual(readdirSync(MIGRATIONS).sort());
  });
});
