import { Client, DatabaseError } from 'pg';
import { roleUrl, type Role } from '../../../db/migrate';
import { answer } from '../../support/answering';
import { copyOver } from '../../support/copy-over';
import { makeWorld, type World } from '../../support/world';
import { command } from '../races/scene';

/** Append-only tables, with their key and a column that a change could be tried on. */
const TABLES = {
  raw_deliveries: ['id', 'provider'],
  receipt_duplicates: ['id', 'raw_id'],
  conversation_transitions: ['conversation_id, ordinal', 'cause'],
  send_policies: ['business_id, version', 'version'],
  send_decisions: ['id', 'reason'],
  send_attempts: ['id', 'purpose'],
  send_outcomes: ['attempt_id, ordinal', 'outcome'],
  sent_markers: ['attempt_id', 'provider_message_id'],
  takeover_events: ['session_id, seq', 'reason'],
} as const;
type Table = keyof typeof TABLES;
const NAMES = Object.keys(TABLES) as Table[];
const ROLES = ['unsilent_service', 'unsilent_staff', 'unsilent_retention'] as const;

const change = (table: Table) => `update ${table} set ${TABLES[table][1]} = ${TABLES[table][1]}`;

const ACTS: readonly (readonly [act: string, sql: (table: Table) => string])[] = [
  ['UPDATE', change],
  ['DELETE', (table) => `delete from ${table}`],
  ['TRUNCATE', (table) => `truncate ${table}`],
  ['DROP', (table) => `drop table ${table}`],
  ['DISABLE TRIGGER', (table) => `alter table ${table} disable trigger append_only`],
  ['DISABLE TRIGGER ALL', (table) => `alter table ${table} disable trigger all`],
  ['DROP TRIGGER', (table) => `drop trigger append_only on ${table}`],
  ['DISABLE ROW LEVEL SECURITY', (table) => `alter table ${table} disable row level security`],
  ['OWNER TO', (table) => `alter table ${table} owner to current_user`],
  [
    'UPSERT',
    (table) =>
      `insert into ${table} overriding system value select * from ${table}
       on conflict (${TABLES[table][0]}) do update set ${TABLES[table][1]} = 'x'`,
  ],
  [
    'MERGE',
    (table) =>
      `merge into ${table} t using (select 'x' as x) s on t.${TABLES[table][1]} <> s.x
       when matched then delete`,
  ],
];

const WHOLE = [
  'set session_replication_role = replica',
  'set role postgres',
  'reset role; set session authorization postgres',
];

async function sqlStateOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof DatabaseError) return error.code ?? '';
    throw error;
  }
  return 'done';
}

describe('an append-only table', () => {
  let world: World;
  let clients: Record<Role, Client>;
  let before: string;

  beforeAll(async () => {
    world = await makeWorld();
    const message = { text: 'My sink leaks', id: 'SM1' };
    await world.write(message);
    await world.write(message);
    const { conversationId } = await answer(world);
    await command(world, conversationId, 'claim');
    const { ownerUrl, rolePassword, owner } = world.database;
    const connect = async (role: Role) => {
      const client = new Client({ connectionString: roleUrl(ownerUrl, role, rolePassword) });
      await client.connect();
      const [business] = await world.rows('select id from businesses');
      await client.query(`select set_config('unsilent.business_id', $1, false)`, [
        business?.['id'],
      ]);
      return client;
    };
    clients = {
      unsilent_service: await connect('unsilent_service'),
      unsilent_staff: await connect('unsilent_staff'),
      unsilent_retention: await connect('unsilent_retention'),
    };
    for (const table of NAMES) {
      const { rowCount } = await owner.query(`select from ${table}`);
      expect([table, rowCount === 0]).toEqual([table, false]);
    }
    before = await digest();
  });
  afterAll(async () => {
    await Promise.all(Object.values(clients).map((client) => client.end()));
    await world.reset();
    await world.close();
  });

  async function digest(): Promise<string> {
    const parts = NAMES.map(
      (table) => `(select md5(string_agg(t::text, '|' order by t::text)) from ${table} t)`,
    );
    const [row] = await world.rows(`select concat_ws(' ', ${parts.join(', ')}) as digest`);
    return String(row?.['digest']);
  }

  const cells = ROLES.flatMap((role) =>
    NAMES.flatMap((table) => ACTS.map(([act, sql]) => ({ role, table, act, sql }))),
  );
  it.each(cells)('$table refuses $act to $role [SEC13]', async ({ role, table, sql }) => {
    expect(await sqlStateOf(clients[role].query(sql(table)))).toBe('42501');
  });

  it.each(ROLES.flatMap((role) => WHOLE.map((sql) => ({ role, sql }))))(
    '$role cannot step around it by "$sql" [SEC13]',
    async ({ role, sql }) => {
      expect(await sqlStateOf(clients[role].query(sql))).toBe('42501');
    },
  );

  it.each(ROLES.flatMap((role) => NAMES.map((table) => ({ role, table }))))(
    '$table refuses a COPY over its rows to $role [SEC13]',
    async ({ role, table }) => {
      const rows = await world.rows(`select * from ${table}`);
      const refused = await sqlStateOf(copyOver(clients[role], table, rows));
      // No grant, row-level security, or a key that is taken.
      expect(['42501', '0A000', '23505']).toContain(refused);
    },
  );

  it.each(
    NAMES.flatMap((table) => ['DELETE', 'TRUNCATE', 'UPDATE'].map((act) => ({ table, act }))),
  )(
    '$table refuses $act even to its owner, while its triggers are on [SEC13]',
    async ({ table, act }) => {
      const sql = {
        DELETE: `delete from ${table}`,
        TRUNCATE: `truncate ${table}`,
        UPDATE: change(table),
      }[act];
      expect(await sqlStateOf(world.database.owner.query(sql ?? ''))).toBe('42501');
    },
  );

  it.each(ROLES)(
    'was never granted to %s for a change: triggers are the second lock [SEC13]',
    async (role) => {
      const granted = await world.rows(
        `select distinct x.tgrelid::regclass::text as name, act from pg_trigger x
       join pg_proc f on f.oid = x.tgfoid
       cross join unnest(array['UPDATE', 'DELETE', 'TRUNCATE']) as act
       where f.proname = 'refuse_change' and has_table_privilege($1, x.tgrelid, act)`,
        [role],
      );
      expect(granted).toEqual([]);
    },
  );

  it('stands unchanged after all that was tried [SEC13]', async () => {
    expect(await digest()).toBe(before);
  });
});

describe('retention', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const asRetention = (sql: string) => sqlStateOf(world.database.retention.query(sql));

  it('may empty a raw body and nothing else: its digest and size stay [C11] [INV-1]', async () => {
    await world.write({ text: 'My sink leaks' });
    const facts = () =>
      world.rows('select id, body_sha256, body_bytes, element_count from raw_deliveries');
    const before = await facts();
    expect(await asRetention('update raw_deliveries set body = null')).toBe('done');
    expect(await facts()).toEqual(before);
    expect(await world.rows('select body from raw_deliveries')).toEqual([{ body: null }]);
  });

  it.each([
    [`update raw_deliveries set body = 'other bytes'`],
    [`update raw_deliveries set body_sha256 = 'x'`],
    [`update raw_deliveries set received_at = now()`],
    ['delete from raw_deliveries'],
    ['truncate raw_deliveries'],
    ['insert into raw_deliveries select * from raw_deliveries'],
    ['select from messages'],
    ['select from leads'],
    ['select credentials from accounts'],
    ['update conversations set state = state'],
  ])('is refused "%s" [C11] [SEC13]', async (sql) => {
    await world.write({ text: 'My sink leaks' });
    expect(await asRetention(sql)).toBe('42501');
  });
});
