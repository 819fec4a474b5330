import {
  makeWebhookWorld,
  metaBytes,
  pageDelivery,
  pageMessage,
  smsParameters,
  whatsAppDelivery,
  whatsAppText,
  type WebhookServer,
  type WebhookWorld,
} from '../../support/webhooks';

const times = <Result>(count: number, make: (index: number) => Result): Result[] =>
  Array.from({ length: count }, (_, index) => make(index));

describe('webhooks at the same time', () => {
  let webhooks: WebhookWorld;
  let server: WebhookServer;
  beforeAll(async () => {
    webhooks = await makeWebhookWorld();
    server = webhooks.server;
  });
  afterEach(() => webhooks.reset());
  afterAll(() => webhooks.close());

  const rows = (sql: string) => webhooks.world.rows(sql);
  const statuses = async (answers: readonly Promise<{ status: number }>[]) =>
    (await Promise.all(answers)).map(({ status }) => status);
  const debts = () =>
    rows(`select owed_since is not null as owed, owed_since = last_token as newest,
      last_seq, last_inbound_seq from conversations`);

  const page = metaBytes(pageDelivery(pageMessage('m_1', 'My water heater leaks')));
  it.each([
    ['delivery of Meta', (server: WebhookServer) => server.postMeta(page)],
    [
      'text from Twilio',
      (server: WebhookServer) => server.postSms(smsParameters('SM1', 'My water heater leaks')),
    ],
  ])(
    'the same %s ten times is one receipt, one message, one debt and nine duplicates [IN6] [INV-2] [INV-3]',
    async (_name, post) => {
      expect(await statuses(times(10, () => post(server)))).toEqual(times(10, () => 200));
      expect(await webhooks.count('raw_deliveries')).toBe(10);
      expect(await webhooks.count('webhook_receipts')).toBe(1);
      expect(await webhooks.count('messages')).toBe(1);
      expect(await rows('select count(*) from receipt_duplicates where not differs')).toEqual([
        { count: 9 },
      ]);
      expect(await rows('select operation from delivery_jobs order by 1')).toEqual([
        { operation: 'audit-export' },
        { operation: 'crm-upsert' },
        { operation: 'initial-response' },
      ]);
      expect(await debts()).toEqual([
        { owed: true, newest: true, last_seq: 1, last_inbound_seq: 1 },
      ]);
      expect(server.woken).toHaveLength(1);
    },
  );

  it('a regrouped redelivery is a duplicate of each element, and no conflict [IN3] [INV-3]', async () => {
    const [first, second] = [pageMessage('m_1', 'My sink leaks'), pageMessage('m_2', 'A lot')];
    await server.postMeta(pageDelivery(first));
    await server.postMeta(pageDelivery(second));
    await server.postMeta(pageDelivery(second, first));
    expect(await rows('select differs, count(*) from receipt_duplicates group by 1')).toEqual([
      { differs: false, count: 2 },
    ]);
    expect(await webhooks.count('messages')).toBe(2);
    expect(await webhooks.count('work_items')).toBe(0);
  });

  it('one message twice in one batch is one message and one duplicate [IN7] [INV-3]', async () => {
    const message = pageMessage('m_1', 'My sink leaks');
    expect(await server.postMeta(pageDelivery(message, message))).toMatchObject({ status: 200 });
    expect(await webhooks.count('messages')).toBe(1);
    expect(await webhooks.count('receipt_duplicates')).toBe(1);
  });

  it.each([
    ['20 first messages of one lead', 20, (index: number) => `Message ${index}`],
    ['10 pictures of one album', 10, () => null],
    [
      'a picture and a voice note',
      2,
      (index: number) => (index === 0 ? null : 'It is the water heater'),
    ],
  ])(
    '%s make one lead, one conversation and one debt, in one order [INV-4] [T2]',
    async (_name, count, text) => {
      const answers = times(count, (index) =>
        server.postMeta(pageDelivery(pageMessage(`m_${index}`, text(index)))),
      );
      expect(await statuses(answers)).toEqual(times(count, () => 200));
      expect(await webhooks.count('leads')).toBe(1);
      expect(await webhooks.count('addresses')).toBe(1);
      expect(await rows('select seq from messages order by seq')).toEqual(
        times(count, (index) => ({ seq: index + 1 })),
      );
      expect(await debts()).toEqual([
        { owed: true, newest: true, last_seq: count, last_inbound_seq: count },
      ]);
      const later = await rows(`select count(*) from messages a join messages b
      on b.seq = a.seq + 1 and b.received_at < a.received_at`);
      expect(later).toEqual([{ count: 0 }]);
      expect(new Set(server.woken.map(({ id }) => id)).size).toBe(1);
    },
  );

  it('messages of two leads in batches of opposite order all come in, without a lost one [INV-4] [IN6]', async () => {
    const [ann, bob] = ['8000000000000001', '8000000000000002'];
    const answers = times(20, (index) => {
      const messages = [
        pageMessage(`a_${index}`, `From Ann ${index}`, { lead: ann }),
        pageMessage(`b_${index}`, `From Bob ${index}`, { lead: bob }),
      ];
      return server.postMeta(pageDelivery(...(index % 2 === 0 ? messages : messages.reverse())));
    });
    expect(await statuses(answers)).toEqual(times(20, () => 200));
    expect(await rows('select last_seq, count(*) over () as homes from conversations')).toEqual(
      times(2, () => ({ last_seq: 20, homes: 2 })),
    );
    expect(server.logged).toEqual([]);
  });

  it('20 first texts of a person on two channels make one lead with two conversations [INV-4]', async () => {
    const answers = times(20, (index) =>
      index % 2 === 0
        ? server.postSms(smsParameters(`SM${index}`, `Text ${index}`))
        : server.postMeta(
            whatsAppDelivery({ messages: [whatsAppText(`wamid.${index}`, `Text ${index}`)] }),
          ),
    );
    expect(await statuses(answers)).toEqual(times(20, () => 200));
    expect(await webhooks.count('leads')).toBe(1);
    expect(await rows('select channel, last_seq from conversations order by 1')).toEqual([
      { channel: 'sms', last_seq: 10 },
      { channel: 'whatsapp', last_seq: 10 },
    ]);
  });
});

describe('a batch', () => {
  let webhooks: WebhookWorld;
  let server: WebhookServer;
  beforeAll(async () => {
    webhooks = await makeWebhookWorld();
    server = webhooks.server;
  });
  afterEach(() => webhooks.reset());
  afterAll(() => webhooks.close());

  it('of 2 entries × 2 changes × 3 messages gives 12 receipts, six of them parked with one item [IN7] [INV-3]', async () => {
    const change = (entry: number, number: number) => {
      const messages = times(3, (index) =>
        whatsAppText(`wamid.${entry}${number}${index}`, `Message ${index}`, `1312555014${entry}`),
      );
      const numberId = number === 0 ? undefined : '300000000000999';
      const {
        entry: [made],
      } = whatsAppDelivery({ messages }, 'messages', numberId) as {
        entry: [{ changes: unknown[] }];
      };
      return made.changes[0];
    };
    const payload = {
      object: 'whatsapp_business_account',
      entry: times(2, (entry) => ({
        id: `20${entry}`,
        changes: [change(entry, 0), change(entry, 1)],
      })),
    };
    expect(await server.postMeta(payload)).toMatchObject({ status: 200 });
    expect(await webhooks.world.rows('select element_count from raw_deliveries')).toEqual([
      { element_count: 12 },
    ]);
    expect(await webhooks.count('webhook_receipts')).toBe(12);
    expect(
      await webhooks.world.rows(
        'select last_seq, owed_since is not null as owed from conversations',
      ),
    ).toEqual(times(2, () => ({ last_seq: 3, owed: true })));
    expect(await webhooks.world.rows('select kind, reason from work_items')).toEqual([
      { kind: 'quarantine', reason: 'unknown_account' },
    ]);
    expect(new Set(server.woken.map(({ id }) => id)).size).toBe(2);
  });

  it('of 2 Messenger entries with two leads each wakes every lead’s conversation once [IN7]', async () => {
    const entry = (prefix: string) => {
      const [first] = (pageDelivery(
        pageMessage(`${prefix}1`, 'My sink leaks', { lead: '71' }),
        pageMessage(`${prefix}2`, 'My drain is clogged', { lead: '72' }),
      )['entry'] ?? []) as unknown[];
      return first;
    };
    const payload = { object: 'page', entry: [entry('m'), entry('n')] };
    expect(await server.postMeta(payload)).toMatchObject({ status: 200 });
    expect(await webhooks.world.rows('select last_seq from conversations')).toEqual([
      { last_seq: 2 },
      { last_seq: 2 },
    ]);
    expect(server.woken).toHaveLength(2);
    expect(new Set(server.woken.map(({ id }) => id)).size).toBe(2);
  });

  it('with a status of an unknown message keeps the status, and the message beside it owes [IN7] [INV-16]', async () => {
    const payload = whatsAppDelivery({
      statuses: [{ id: 'wamid.UNKNOWN', status: 'read' }],
      messages: [whatsAppText('wamid.1', 'My sink leaks')],
    });
    expect(await server.postMeta(payload)).toMatchObject({ status: 200 });
    expect(
      await webhooks.world.rows('select provider_message_id, status from provider_messages'),
    ).toEqual([{ provider_message_id: 'wamid.UNKNOWN', status: 'read' }]);
    expect(await webhooks.world.conversation()).toMatchObject({ last_inbound_seq: 1 });
    expect(server.woken).toHaveLength(1);
  });
});
