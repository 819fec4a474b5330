import type { PoolClient } from 'pg';
import { runStaffCommand } from '../../../db/commands/run';
import { STAFF_COMMANDS } from '../../../db/commands/contract';
import { ingest } from '../../../db/ingest/ingest';
import { DEMO_BUSINESS } from '../../../dev/demo';
import { answer } from '../../support/answering';
import { prepared, requestOf, smsElement } from '../../support/inbound';
import { SAMPLE_COMMANDS } from '../../support/staff-commands';
import { makeWorld, type World } from '../../support/world';
import { command } from '../races/scene';

const OTHER = 'biz_00000000000070008000000000000002';
const OTHER_NUMBER = '+13125550188';

/** What staff may read, and the column that names the business. */
const SEEN = {
  businesses: 'id',
  send_policies: 'business_id',
  accounts: 'business_id',
  leads: 'business_id',
  addresses: 'business_id',
  staff_commands: 'business_id',
  conversations: 'business_id',
  messages: 'business_id',
  follow_up_plans: 'business_id',
  outbox: 'business_id',
  work_items: 'business_id',
  conversation_transitions: 'business_id',
  send_decisions: 'business_id',
  send_attempts: 'business_id',
  send_outcomes: 'business_id',
  takeover_events: 'business_id',
  transport_traces: 'business_id',
} as const;
const SEEN_BY_CONVERSATION = ['follow_up_steps', 'turn_markers', 'takeover_heads'] as const;
const UNSEEN = [
  'raw_deliveries',
  'webhook_receipts',
  'receipt_duplicates',
  'delivery_jobs',
  'provider_messages',
  'sent_markers',
  'staff_tokens',
] as const;

describe('two businesses in one database', () => {
  let world: World;
  let theirs: string;

  beforeAll(async () => {
    world = await makeWorld();
    await world.rows(
      `insert into businesses select $1, 'Other Plumbing', time_zone, services, policy_version, true, created_at
       from businesses`,
      [OTHER],
    );
    await world.rows(
      `insert into accounts select 'acc_other', $1, provider, channel, $2, credentials, null, null, created_at
       from accounts where channel = 'sms'`,
      [OTHER, OTHER_NUMBER],
    );
    await world.rows(
      `insert into send_policies (business_id, version, rules, created_at)
       select $1, 'test-theirs', rules, created_at from send_policies where version = 'always-open'`,
      [OTHER],
    );
    // The same person writes to both: two leads, because a lead belongs to one business.
    await world.write({ text: 'My sink leaks', id: 'SM1' });
    const { conversationId: ours } = await answer(world);
    await command(world, ours, 'claim');
    await writeToOther('My drain is clogged');
    const [row] = await world.rows('select id from conversations where business_id = $1', [OTHER]);
    theirs = String(row?.['id']);
    await world.activities.takeTurn({ conversationId: theirs });
    const [send] = await world.rows('select id from outbox where conversation_id = $1', [theirs]);
    await world.activities.deliver({ conversationId: theirs, sendId: String(send?.['id']) });
    await runStaffCommand(world.database.staff, request('claim', OTHER, theirs), world.clock.iso);
    await writeToOther('Hello?');
    await world.rows('insert into turn_markers select id, now(), 1, now() from conversations');
  });
  afterAll(async () => {
    await world.rows('delete from turn_markers');
    await world.reset();
    await world.close();
  });

  async function writeToOther(text: string): Promise<void> {
    const { element } = smsElement({ text });
    const other = prepared({ ...element, accountExternalId: OTHER_NUMBER });
    await ingest(world.database.service, requestOf([other]), world.clock.iso);
  }

  const request = (
    name: (typeof STAFF_COMMANDS)[number],
    businessId: string,
    conversationId: string,
  ) => ({
    businessId,
    role: 'owner' as const,
    ...SAMPLE_COMMANDS[name],
    conversationId,
    idempotencyKey: `${name}-${conversationId}`,
    seenSeq: 99,
  });

  /** Runs as staff of the demo business, in a transaction that is rolled back. */
  async function asStaff<Result>(
    work: (client: PoolClient) => Promise<Result>,
    business: string | null = DEMO_BUSINESS.id,
  ): Promise<Result> {
    const client = await world.database.staff.connect();
    try {
      await client.query('begin');
      if (business !== null) {
        await client.query(`select set_config('unsilent.business_id', $1, true)`, [business]);
      }
      return await work(client);
    } finally {
      await client.query('rollback');
      client.release();
    }
  }

  const countsOf = (table: string, condition: string) => async (client: PoolClient) => {
    const found = await client.query<{ all: number; ours: number }>(
      `select count(*) as all, count(*) filter (where ${condition}) as ours from ${table}`,
    );
    return found.rows[0];
  };

  it.each(Object.entries(SEEN))(
    'staff see only their own rows of %s [SEC1]',
    async (table, column) => {
      const mine = `${column} = '${DEMO_BUSINESS.id}'`;
      const [all] = await world.rows(
        `select count(*) as all, count(*) filter (where ${mine}) as ours from ${table}`,
      );
      expect(Number(all?.['all'])).toBeGreaterThan(Number(all?.['ours']));
      const seen = await asStaff(countsOf(table, mine));
      expect(seen).toEqual({ all: all?.['ours'], ours: all?.['ours'] });
    },
  );

  it.each(SEEN_BY_CONVERSATION)(
    'staff see only the %s of their own conversations [SEC1]',
    async (table) => {
      const found = await asStaff(countsOf(table, `conversation_id <> '${theirs}'`));
      expect(Number(found?.ours)).toBeGreaterThan(0);
      expect(found?.all).toBe(found?.ours);
      const [all] = await world.rows(`select count(*) from ${table}`);
      expect(Number(all?.['count'])).toBeGreaterThan(Number(found?.all));
    },
  );

  it.each([...Object.keys(SEEN), ...SEEN_BY_CONVERSATION])(
    'staff who named no business see nothing of %s [SEC1]',
    async (table) => {
      const count = 'select count(*) as all, 0 as ours';
      expect(await asStaff((client) => client.query(`${count} from ${table}`), null)).toMatchObject(
        {
          rows: [{ all: 0 }],
        },
      );
      // The setting of an earlier transaction on the same connection ends with it.
      const after = await world.database.staff.query(`${count} from ${table}`);
      expect(after.rows).toEqual([{ all: 0, ours: 0 }]);
    },
  );

  it.each(UNSEEN)('staff cannot read %s at all [SEC1]', async (table) => {
    await expect(asStaff((client) => client.query(`select from ${table}`))).rejects.toMatchObject({
      code: '42501',
    });
  });

  it.each(['credentials', '*'])('staff cannot read %s of an account [SEC1]', async (columns) => {
    const query = `select ${columns} from accounts`;
    await expect(asStaff((client) => client.query(query))).rejects.toMatchObject({
      code: '42501',
    });
  });

  it.each(['conversations', 'messages', 'addresses', 'outbox', 'work_items', 'follow_up_plans'])(
    'staff cannot change %s of another business, whatever id they name [SEC1]',
    async (table) => {
      const changed = await asStaff((client) =>
        client.query(`update ${table} set business_id = business_id where business_id = $1`, [
          OTHER,
        ]),
      );
      expect(changed.rowCount).toBe(0);
    },
  );

  it.each([
    ['conversations', `update conversations set business_id = '${OTHER}'`],
    ['messages', `update messages set business_id = '${OTHER}'`],
    [
      'work_items',
      `insert into work_items (id, business_id, kind, reason, explanation, opened_at, assigned_queue)
       values ('wrk_x', '${OTHER}', 'handoff', 'x', 'x', now(), 'x')`,
    ],
    [
      'work_items without a business',
      `insert into work_items (id, kind, reason, explanation, opened_at, assigned_queue)
       values ('wrk_x', 'handoff', 'x', 'x', now(), 'x')`,
    ],
    ['staff_commands', `insert into staff_commands values ('${OTHER}', 'k', 'd', '{}', now())`],
    [
      'conversation_transitions',
      `insert into conversation_transitions (conversation_id, business_id, version, from_state, to_state, cause, changed, at)
       values ('x', '${OTHER}', 1, 'active', 'active', 'x', false, now())`,
    ],
  ])('staff cannot put a row into %s of another business [SEC1]', async (_name, sql) => {
    await expect(asStaff((client) => client.query(sql))).rejects.toMatchObject({ code: '42501' });
  });

  it('staff cannot begin a takeover session of another business’s conversation [SEC1]', async () => {
    const sql = `insert into takeover_heads values (uuidv7(), '${theirs}', 0)`;
    await expect(asStaff((client) => client.query(sql))).rejects.toMatchObject({ code: '42501' });
  });

  it.each(STAFF_COMMANDS)(
    'the command %s on another business’s conversation finds nothing [SEC1]',
    async (name) => {
      const facts = () => world.rows('select * from conversations where id = $1', [theirs]);
      const before = await facts();
      const result = await runStaffCommand(
        world.database.staff,
        request(name, DEMO_BUSINESS.id, theirs),
        world.clock.iso,
      );
      expect(result).toMatchObject({ kind: 'refused', code: 'not_found' });
      expect(await facts()).toEqual(before);
    },
  );

  it('no table that staff can read is without row-level security, forced on its owner too [SEC1]', async () => {
    const open = await world.rows(
      `select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = 'public' and c.relkind in ('r', 'p', 'v')
         and has_any_column_privilege('unsilent_staff', c.oid, 'select')
         and not (c.relrowsecurity and c.relforcerowsecurity)`,
    );
    expect(open).toEqual([]);
  });

  it('no role of the product owns a table, bypasses row-level security or is a superuser [SEC13]', async () => {
    const strong = await world.rows(
      `select r.rolname from pg_roles r where r.rolname like 'unsilent_%' and (r.rolsuper
         or r.rolbypassrls or r.rolcreaterole or r.rolcreatedb or r.rolreplication
         or exists (select from pg_class c where c.relowner = r.oid)
         or has_schema_privilege(r.rolname, 'public', 'create'))`,
    );
    expect(strong).toEqual([]);
  });
});
