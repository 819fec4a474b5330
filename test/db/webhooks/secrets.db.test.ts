import { inspect } from 'node:util';
import { run, statement } from '../../../db/database';
import { CommitUnknownError, StatementError } from '../../../db/errors';
import { FACT_TABLES } from '../../support/facts';
import { failWrites, whileHeld } from '../../support/postgres-faults';
import { answer } from '../../support/answering';
import {
  makeWebhookWorld,
  metaBytes,
  smsParameters,
  whatsAppDelivery,
  whatsAppText,
  type WebhookServer,
  type WebhookWorld,
} from '../../support/webhooks';
import type { World } from '../../support/world';

const PHONE = '13125550142';
const NAME = 'Robin Canarino';
const WORDS = 'my canary-yellow water heater leaks';
const TOKEN = 'sandbox-token';
const CANARIES = [PHONE, NAME, WORDS, 'canary', 'Canarino', TOKEN];

const delivery = metaBytes(
  whatsAppDelivery({
    contacts: [{ wa_id: PHONE, profile: { name: NAME } }],
    messages: [whatsAppText('wamid.1', WORDS)],
  }),
);

/** Everything that a value shows, hidden properties, causes and stacks included. */
function everythingOf(value: unknown): string {
  return inspect(value, { depth: null, showHidden: true, maxStringLength: null });
}

const leaksIn = (text: string) => CANARIES.filter((canary) => text.includes(canary));

describe('an error of a statement', () => {
  let webhooks: WebhookWorld;
  let world: World;
  beforeAll(async () => {
    webhooks = await makeWebhookWorld();
    ({ world } = webhooks);
  });
  afterEach(() => webhooks.reset());
  afterAll(() => webhooks.close());

  const insertLead = `insert into leads (id, business_id, display_name, created_at)`;
  it.each([
    ['23505', `${insertLead} select $1, id, $1, now() from businesses, generate_series(1, 2)`],
    ['23503', `${insertLead} values ($1, $1, $1, now())`],
    ['23502', `${insertLead} values ($1, null, $1, now())`],
    ['22P02', 'select $1::uuid'],
    ['22007', 'select $1::timestamptz'],
    ['22003', 'select (length($1) * 10000000000)::int'],
    ['42P01', 'select $1 from nowhere'],
    ['P0001', `do $$ begin raise exception '${WORDS} of ${NAME}'; end $$`],
  ])(
    'with SQLSTATE %s names statement and state, and never a parameter [C8]',
    async (sqlState, sql) => {
      const query = statement('a-statement', sql);
      const failing = run(
        world.database.service,
        query,
        sql.includes('$1') ? [`${NAME} ${WORDS}`] : [],
      );
      const error: unknown = await failing.catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(StatementError);
      expect(error).toMatchObject({
        message: `statement a-statement failed with SQLSTATE ${sqlState}`,
        sqlState,
      });
      expect(leaksIn(everythingOf(error))).toEqual([]);
    },
  );

  it('of an unknown COMMIT says nothing but that [C8]', () => {
    expect(leaksIn(everythingOf(new CommitUnknownError()))).toEqual([]);
  });
});

describe('the log of the webhooks', () => {
  let webhooks: WebhookWorld;
  let server: WebhookServer;
  let world: World;
  beforeAll(async () => {
    webhooks = await makeWebhookWorld();
    ({ server, world } = webhooks);
  });
  afterEach(() => webhooks.reset());
  afterAll(() => webhooks.close());

  /** Says how many lines were written; none of them shows anything of a person. */
  function cleanLines(): number {
    expect(leaksIn(everythingOf(server.logged))).toEqual([]);
    return server.logged.length;
  }

  it.each(['53100', '23505', '23514', '22P02', '40001', 'P0001'])(
    'holds nothing of a person where Postgres refuses with %s and quotes the row [C8]',
    async (sqlState) => {
      const mend = await failWrites(world.database.owner, { table: 'messages', sqlState });
      await server.postMeta(delivery).finally(mend);
      expect(cleanLines()).toBeGreaterThan(0);
    },
  );

  it('holds nothing of a person where a unique key or a border of the data is broken for real [C8]', async () => {
    await world.rows(
      `alter table messages add constraint no_colours check (text not like '%canary%')`,
    );
    await server.postMeta(delivery);
    await world.rows('alter table messages drop constraint no_colours');
    expect(cleanLines()).toBe(2);
  });

  it('holds nothing of a person where the connection ends in the commit [C8]', async () => {
    await whileHeld(world.database, 'in-commit', async (held) => {
      const posted = server.postMeta(delivery);
      await held.terminate();
      await posted;
    });
    expect(cleanLines()).toBe(1);
  });

  it('holds nothing of a person where a request is forged, altered, broken or too large [C8]', async () => {
    await server.post('/webhooks/meta', delivery, {});
    await server.post(`/webhooks/twilio/status?attempt=${NAME.replace(' ', '+')}`, delivery, {});
    await server.postMeta(delivery);
    await server.postMeta(
      whatsAppDelivery({ messages: [whatsAppText('wamid.1', `${WORDS} a lot`)] }),
    );
    await server.postMeta(`{"object":"page","entry":[{"${WORDS}`);
    await server.post('/webhooks/meta', Buffer.alloc(3_000_000, WORDS), {});
    await server.postSms(smsParameters('SM1', WORDS, { To: '+13125550199' }));
    expect(cleanLines()).toBe(6);
  });

  it('and the tables beside people and messages hold no name, number or word [C8]', async () => {
    await server.postMeta(delivery);
    await answer(world);
    await server.postMeta(
      whatsAppDelivery({ messages: [whatsAppText('wamid.1', `${WORDS} a lot`)] }),
    );
    await server.postMeta(
      whatsAppDelivery({ messages: [whatsAppText('wamid.2', WORDS)] }, 'messages', '999'),
    );
    const homes = ['raw_deliveries', 'messages', 'addresses', 'leads', 'outbox', 'conversations'];
    const others = FACT_TABLES.filter((table) => !homes.includes(table));
    for (const table of others) {
      const rows = await world.rows(`select * from ${table}`);
      expect([table, leaksIn(everythingOf(rows))]).toEqual([table, []]);
    }
    expect(await webhooks.count('work_items')).toBe(2);
    expect(await webhooks.count('transport_traces')).toBe(1);
  });
});
