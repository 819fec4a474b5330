import { createHash } from 'node:crypto';
import { answer } from '../../support/answering';
import { blockedOnRow, whileHeld } from '../../support/postgres-faults';
import {
  makeWebhookWorld,
  pageDelivery,
  pageMessage,
  smsParameters,
  whatsAppDelivery,
  whatsAppText,
  type Answer,
  type WebhookServer,
  type WebhookWorld,
} from '../../support/webhooks';
import type { World } from '../../support/world';

const BSUID = 'US.1000200030004000';
const USER = { kind: 'whatsapp-user', value: BSUID };
const PHONE = { kind: 'phone', value: '+13125550142' };

/** How one person appears in the payload: by username alone, by number alone, or with both. */
const BY = {
  username: (id: string, body = `Words of ${id}`) =>
    whatsAppDelivery({
      contacts: [{ user_id: BSUID, profile: { name: 'Robin', username: 'robin.t' } }],
      messages: [{ ...whatsAppText(id, body), from: undefined, from_user_id: BSUID }],
    }),
  number: (id: string, body = `Words of ${id}`) =>
    whatsAppDelivery({
      contacts: [{ wa_id: '13125550142', profile: { name: 'Robin' } }],
      messages: [whatsAppText(id, body)],
    }),
  both: (id: string, body = `Words of ${id}`) =>
    whatsAppDelivery({
      contacts: [{ wa_id: '13125550142', user_id: BSUID, profile: { name: 'Robin' } }],
      messages: [{ ...whatsAppText(id, body), from_user_id: BSUID }],
    }),
} as const;
type Way = keyof typeof BY;

describe('a person on WhatsApp', () => {
  let webhooks: WebhookWorld;
  let server: WebhookServer;
  let world: World;
  beforeAll(async () => {
    webhooks = await makeWebhookWorld();
    ({ server, world } = webhooks);
  });
  afterEach(() => webhooks.reset());
  afterAll(() => webhooks.close());

  const homes = async () => ({
    leads: await webhooks.count('leads'),
    addresses: await webhooks.count('addresses'),
    conversations: await webhooks.count('conversations'),
    messages: await webhooks.count('messages'),
  });

  /** The second request meets the rows of the first, which is just about to commit. */
  const behindEachOther = (first: unknown, second: unknown): Promise<Answer[]> =>
    whileHeld(world.database, 'in-commit', async (held) => {
      const ahead = server.postMeta(first);
      await held.waiting();
      const behind = server.postMeta(second);
      await blockedOnRow(world.database);
      await held.release();
      return Promise.all([ahead, behind]);
    });

  it('known by username only is stored, owed and answered at the scoped id, verbatim [INV-4] [T1]', async () => {
    expect(await server.postMeta(BY.username('wamid.1'))).toMatchObject({ status: 200 });
    await answer(world);
    expect(world.provider.calls[0]?.to).toEqual([USER]);
    expect(await world.conversation()).toMatchObject({ owed_since: null });
  });

  it('who comes again with the number is the same lead with a second address, in the same conversation [INV-4]', async () => {
    await server.postMeta(BY.username('wamid.1'));
    await server.postMeta(BY.both('wamid.2'));
    expect(await homes()).toEqual({ leads: 1, addresses: 2, conversations: 1, messages: 2 });
    await answer(world);
    expect(world.provider.calls[0]?.to).toEqual([USER, PHONE]);
    await server.postMeta(BY.number('wamid.3'));
    await server.postSms(smsParameters('SM1', 'And by text'));
    expect(await homes()).toEqual({ leads: 1, addresses: 2, conversations: 2, messages: 5 });
  });

  it.each<[Way, Way]>([
    ['username', 'both'],
    ['both', 'username'],
    ['number', 'both'],
    ['both', 'number'],
    ['both', 'both'],
  ])(
    'who appears by %s and by %s at the same time is one lead with two addresses [INV-4]',
    async (first, second) => {
      const answers = await behindEachOther(BY[first]('wamid.1'), BY[second]('wamid.2'));
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect(await homes()).toEqual({ leads: 1, addresses: 2, conversations: 1, messages: 2 });
    },
  );

  it.each<[Way]>([['username'], ['number']])(
    'who appears by %s and with both in twelve requests at once is one lead with one conversation [INV-4]',
    async (way) => {
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          server.postMeta(BY[index % 2 === 0 ? 'both' : way](`wamid.${index}`)),
        ),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect(await homes()).toEqual({ leads: 1, addresses: 2, conversations: 1, messages: 12 });
    },
  );

  it('who appears by number and with both in one batch is one lead with one conversation [INV-4]', async () => {
    const entry = [BY.number('wamid.1'), BY.both('wamid.2'), BY.username('wamid.3')].flatMap(
      (payload) => payload['entry'] as unknown[],
    );
    await server.postMeta({ object: 'whatsapp_business_account', entry });
    expect(await homes()).toEqual({ leads: 1, addresses: 2, conversations: 1, messages: 3 });
  });

  it('whose two addresses are two leads already is never merged by a message [IN7] [INV-4]', async () => {
    await server.postSms(smsParameters('SM1', 'By text'));
    await server.postMeta(BY.username('wamid.1'));
    await server.postMeta(BY.both('wamid.2'));
    expect(await homes()).toEqual({ leads: 2, addresses: 2, conversations: 2, messages: 3 });
    expect(
      await world.rows('select channel, last_seq from conversations order by channel'),
    ).toEqual([
      { channel: 'sms', last_seq: 1 },
      { channel: 'whatsapp', last_seq: 2 },
    ]);
  });

  it('who opted out stays so at an address that is added later [INV-13] [S2]', async () => {
    await server.postMeta(BY.username('wamid.1', 'STOP'));
    await server.postMeta(BY.both('wamid.2'));
    expect(
      await world.rows('select kind, opted_out_at is not null as out from addresses order by 1'),
    ).toEqual([
      { kind: 'phone', out: true },
      { kind: 'whatsapp-user', out: true },
    ]);
  });

  it('who opts out while another message adds the number is opted out at both addresses [INV-13]', async () => {
    await behindEachOther(BY.username('wamid.1', 'STOP'), BY.both('wamid.2'));
    expect(await world.rows('select count(*), count(opted_out_at) as out from addresses')).toEqual([
      { count: 2, out: 2 },
    ]);
  });
});

describe('one event id with two contents', () => {
  let webhooks: WebhookWorld;
  let server: WebhookServer;
  let world: World;
  beforeAll(async () => {
    webhooks = await makeWebhookWorld();
    ({ server, world } = webhooks);
  });
  afterEach(() => webhooks.reset());
  afterAll(() => webhooks.close());

  const digests = () =>
    world.rows(`select r.id as "receiptId", r.content_sha256 as "keptSha256",
      d.content_sha256 as "cameSha256"
      from receipt_duplicates d join webhook_receipts r on r.id = d.receipt_id where d.differs`);

  it('keeps the first and alerts with both digests, in the log and behind the work item [IN3]', async () => {
    await server.postMeta(pageDelivery(pageMessage('m_1', 'My sink leaks')));
    const altered = pageDelivery(pageMessage('m_1', 'My sink is fine'));
    expect(await server.postMeta(altered)).toMatchObject({ status: 200 });
    expect(await world.rows('select text from messages')).toEqual([{ text: 'My sink leaks' }]);
    const [conflict] = await digests();
    expect(conflict?.['keptSha256']).not.toBe(conflict?.['cameSha256']);
    const [raw] = await world.rows(
      'select id from raw_deliveries order by received_at desc limit 1',
    );
    expect(server.logged).toEqual([
      {
        level: 'error',
        fields: { rawId: raw?.['id'], conflicts: [conflict] },
        message: 'one event id came with two contents',
      },
    ]);
    const items = () =>
      world.rows('select kind, reason, raw_id, subject_id, explanation from work_items');
    expect(await items()).toEqual([
      {
        kind: 'content-conflict',
        reason: 'one_event_two_contents',
        raw_id: raw?.['id'],
        subject_id: conflict?.['receiptId'],
        explanation: expect.stringMatching(
          new RegExp(`${String(conflict?.['keptSha256'])}.*${String(conflict?.['cameSha256'])}`),
        ),
      },
    ]);
    // Brought again and again it stays one alert for a person, and a row for each delivery.
    await server.postMeta(altered);
    expect(await items()).toHaveLength(1);
    expect(await digests()).toHaveLength(2);
  });

  it('of two senders is one message; the second is an alert, not a second conversation [IN3] [INV-4]', async () => {
    await server.postMeta(whatsAppDelivery({ messages: [whatsAppText('wamid.1', 'Hello there')] }));
    const forged = whatsAppText('wamid.1', 'Hello there', '13125550143');
    await server.postMeta(whatsAppDelivery({ messages: [forged] }));
    expect(await webhooks.count('messages')).toBe(1);
    expect(await webhooks.count('conversations')).toBe(1);
    expect(await webhooks.count('leads')).toBe(1);
    expect(await world.rows('select kind from work_items')).toEqual([{ kind: 'content-conflict' }]);
  });

  it('of two senders at the same time is one message and one alert [IN3] [IN6]', async () => {
    const answers = await Promise.all(
      ['13125550142', '13125550143'].map((from) =>
        server.postMeta(whatsAppDelivery({ messages: [whatsAppText('wamid.1', 'Hello', from)] })),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await webhooks.count('messages')).toBe(1);
    expect(await webhooks.count('conversations')).toBe(1);
    expect(await digests()).toHaveLength(1);
    expect(await webhooks.count('work_items')).toBe(1);
  });

  it('holds under the account: the same id on two accounts is two messages [IN1]', async () => {
    await server.postMeta(pageDelivery(pageMessage('same-id', 'My sink leaks')));
    await server.postMeta(
      whatsAppDelivery({ messages: [whatsAppText('same-id', 'My sink leaks')] }),
    );
    expect(await webhooks.count('messages')).toBe(2);
    expect(await webhooks.count('receipt_duplicates')).toBe(0);
  });

  it('is told by digests that hold no word of the lead [IN3] [C8]', async () => {
    await server.postMeta(pageDelivery(pageMessage('m_1', 'My sink leaks')));
    await server.postMeta(pageDelivery(pageMessage('m_1', 'My drain leaks')));
    const [conflict] = await digests();
    const plain = createHash('sha256').update('My drain leaks').digest('hex');
    expect(conflict?.['cameSha256']).toMatch(/^[0-9a-f]{64}$/);
    expect(conflict?.['cameSha256']).not.toBe(plain);
    expect(JSON.stringify(server.logged)).not.toContain('leaks');
  });
});
