import {
  makeWebhookWorld,
  MESSENGER,
  metaBytes,
  pageDelivery,
  pageMessage,
  smsParameters,
  whatsAppDelivery,
  whatsAppText,
  type WebhookServer,
  type WebhookWorld,
} from '../../support/webhooks';

const GRINNING = '😀';
const LION = '🦁';

describe('a strange but authentic webhook', () => {
  let webhooks: WebhookWorld;
  let server: WebhookServer;
  beforeAll(async () => {
    webhooks = await makeWebhookWorld();
    server = webhooks.server;
  });
  afterEach(() => webhooks.reset());
  afterAll(() => webhooks.close());

  const rows = (sql: string) => webhooks.world.rows(sql);
  const items = () =>
    rows('select kind, reason, business_id, conversation_id, resolved_at from work_items');
  const quarantineItem = (reason: string) => ({
    kind: 'quarantine',
    reason,
    business_id: null,
    conversation_id: null,
    resolved_at: null,
  });

  const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
  it.each([
    ['that is no JSON', Buffer.from('{"object":"page","entry":[{')],
    ['that is empty', Buffer.alloc(0)],
    ['that is a list', Buffer.from('[1,2,3]')],
    ['without entries', Buffer.from('{"object":"page"}')],
    ['of an unknown object', Buffer.from('{"object":"fax","entry":[{"id":"1"}]}')],
    ['of an object named like a method', Buffer.from('{"object":"toString","entry":[]}')],
    ['that is nested 10,000 deep', Buffer.from(`{"object":"page","entry":${deep}}`)],
    ['of bytes that are no text', Buffer.from([0xff, 0xfe, 0x00, 0x80])],
  ])('%s is 2xx, kept raw, quarantined and shown to a person [IN4]', async (_name, body) => {
    expect(await server.postMeta(body)).toMatchObject({ status: 200 });
    const [raw] = await rows('select body, element_count from raw_deliveries');
    expect(raw?.['element_count']).toBe(1);
    expect(body.equals(raw?.['body'] as Buffer)).toBe(true);
    expect(
      await rows('select kind, quarantine_reason is null as bare from webhook_receipts'),
    ).toEqual([{ kind: 'quarantined', bare: false }]);
    expect(await items()).toEqual([quarantineItem('unreadable_element')]);
    expect(await webhooks.count('messages')).toBe(0);
    expect(await webhooks.count('delivery_jobs')).toBe(0);
    expect(await server.postMeta(body)).toMatchObject({ status: 200 });
    expect([await webhooks.count('raw_deliveries'), await webhooks.count('work_items')]).toEqual([
      2, 1,
    ]);
  });

  it('with broken elements keeps their neighbours, and each broken one is quarantined alone [IN4] [IN7]', async () => {
    const broken = [{ message: { text: 'nobody said this' } }, 17, null];
    const payload = pageDelivery(
      pageMessage('m_1', 'My sink leaks'),
      ...broken,
      pageMessage('m_2', 'It is the kitchen', { lead: '8000000000000002' }),
    );
    expect(await server.postMeta(payload)).toMatchObject({ status: 200 });
    expect(await rows('select text from messages order by text')).toEqual([
      { text: 'It is the kitchen' },
      { text: 'My sink leaks' },
    ]);
    expect(
      await rows(`select element_path from webhook_receipts where kind = 'quarantined' order by 1`),
    ).toEqual([1, 2, 3].map((n) => ({ element_path: `entry[0].messaging[${n}]` })));
    expect(await items()).toEqual([quarantineItem('unreadable_element')]);
  });

  it('with one malformed status of 50 beside a message loses neither the 49 nor the message [IN4] [INV-16]', async () => {
    const statuses = Array.from({ length: 50 }, (_, index) =>
      index === 16 ? { id: {}, status: 'read' } : { id: `wamid.S${index}`, status: 'delivered' },
    );
    const payload = whatsAppDelivery({ statuses, messages: [whatsAppText('wamid.1', 'Hi there')] });
    expect(await server.postMeta(payload)).toMatchObject({ status: 200 });
    expect(await webhooks.count('messages')).toBe(1);
    expect(await webhooks.count('provider_messages')).toBe(49);
    expect(await items()).toEqual([]);
  });

  it.each([
    [
      'a page',
      (server: WebhookServer) => {
        const message = pageMessage('m_1', 'Hello?', { account: '999' });
        return server.postMeta({ object: 'page', entry: [{ id: '999', messaging: [message] }] });
      },
    ],
    [
      'a WhatsApp number',
      (server: WebhookServer) =>
        server.postMeta(
          whatsAppDelivery({ messages: [whatsAppText('wamid.1', 'Hello?')] }, 'messages', '999'),
        ),
    ],
    [
      'a telephone number',
      (server: WebhookServer) =>
        server.postSms(smsParameters('SM1', 'Hello?', { To: '+13125550199' })),
    ],
  ])(
    'for %s that is not connected is parked with an item, not dropped [IN4]',
    async (_name, post) => {
      expect((await post(server)).status).toBe(200);
      expect(await webhooks.count('messages')).toBe(0);
      expect(await webhooks.count('webhook_receipts')).toBe(1);
      expect(await items()).toEqual([quarantineItem('unknown_account')]);
    },
  );

  it.each([
    ['NUL', 'hi\u0000there', 'hithere'],
    ['a high surrogate alone', 'a\ud83dz', 'a\ufffdz'],
    ['a low surrogate alone', 'a\udc00z', 'a\ufffdz'],
    ['swapped surrogates', '\ude00\ud83d', '\ufffd\ufffd'],
    ['other control characters', 'a\u0001\u001b\tb\r\nc\u007f', 'a\u0001\u001b\tb\r\nc\u007f'],
    ['whole pairs', `${LION}👩‍👩‍👧${GRINNING}`, `${LION}👩‍👩‍👧${GRINNING}`],
  ])(
    'with %s in text and name is stored with what Postgres can hold, its bytes as sent [IN4] [INV-1]',
    async (_name, sent, stored) => {
      const contacts = [{ wa_id: '13125550142', profile: { name: sent } }];
      const payload = metaBytes(
        whatsAppDelivery({ contacts, messages: [whatsAppText('wamid.1', sent)] }),
      );
      expect(await server.postMeta(payload)).toMatchObject({ status: 200 });
      expect(await rows('select text, owes from messages')).toEqual([{ text: stored, owes: true }]);
      expect(await rows('select display_name from leads')).toEqual([{ display_name: stored }]);
      const [raw] = await rows('select body from raw_deliveries');
      expect(payload.equals(raw?.['body'] as Buffer)).toBe(true);
    },
  );

  it('with NUL in a form is stored without it, the bytes as sent [IN4]', async () => {
    expect(await server.postSms(smsParameters('SM1', 'hi\u0000there'))).toMatchObject({
      status: 200,
    });
    expect(await rows('select text from messages')).toEqual([{ text: 'hithere' }]);
    const [raw] = await rows('select body from raw_deliveries');
    expect(String(raw?.['body'])).toContain('hi%00there');
  });

  it('with NUL where no text stands is kept whole and shown to a person [IN4]', async () => {
    const parameters = smsParameters('SM1', 'Hello?', { To: '+1312\u00005550100' });
    expect(await server.postSms(parameters)).toMatchObject({ status: 200 });
    expect(await items()).toEqual([quarantineItem('unreadable_element')]);
    expect(await webhooks.count('raw_deliveries')).toBe(1);
  });

  it.each([
    [239, LION, 239, 241],
    [15_999, GRINNING, 15_999, 15_999],
    [15_998, GRINNING, 15_998, 16_000],
    [15_999, '👩‍👩‍👧‍👦', 15_999, 15_999],
  ])(
    'with an emoji behind %i letters is cut between characters, never inside %s [IN4]',
    async (letters, emoji, _whole, kept) => {
      const body = 'a'.repeat(letters) + emoji;
      expect(await server.postMeta(pageDelivery(pageMessage('m_1', body)))).toMatchObject({
        status: 200,
      });
      const [message] = await rows('select text from messages');
      expect(message?.['text']).toBe(body.slice(0, kept));
      expect(message?.['text']).not.toMatch(/\p{Cs}/u);
    },
  );

  it('with a name of 5,000 characters keeps the first 200, cut between characters [IN4]', async () => {
    const name = 'n'.repeat(199) + GRINNING.repeat(2_400);
    const contacts = [{ wa_id: '13125550142', profile: { name } }];
    const payload = whatsAppDelivery({ contacts, messages: [whatsAppText('wamid.1', 'Hi there')] });
    expect(await server.postMeta(payload)).toMatchObject({ status: 200 });
    expect(await rows('select display_name from leads')).toEqual([
      { display_name: 'n'.repeat(199) },
    ]);
  });

  it.each([
    ['9,000 bytes', 'ab '.repeat(3_000)],
    ['2,001 characters of four bytes', LION.repeat(2_001)],
  ])(
    'with a text of %s is stored whole: nothing announces it by content [IN4]',
    async (_name, body) => {
      expect(await server.postMeta(pageDelivery(pageMessage('m_1', body)))).toMatchObject({
        status: 200,
      });
      expect(await rows('select text from messages')).toEqual([{ text: body }]);
    },
  );
});

/** Characters that no compression shortens, so that an index row would really be too long. */
function randomText(length: number): string {
  let seed = 42;
  return Array.from({ length }, () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return (seed % 36).toString(36);
  }).join('');
}

describe('an id of 3,000 characters', () => {
  let webhooks: WebhookWorld;
  let server: WebhookServer;
  beforeAll(async () => {
    webhooks = await makeWebhookWorld();
    server = webhooks.server;
  });
  afterEach(() => webhooks.reset());
  afterAll(() => webhooks.close());

  const longId = randomText(3_000);
  const neighbour = pageMessage('m_2', 'My sink leaks', { lead: '8000000000000002' });

  it('of a message is stored and finds its repeat [IN1] [INV-2]', async () => {
    const payload = pageDelivery(pageMessage(`m_${longId}`, 'My sink leaks'));
    const answers = [await server.postMeta(payload), await server.postMeta(payload)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(
      await webhooks.world.rows('select provider_message_id = $1 as same from messages', [
        `m_${longId}`,
      ]),
    ).toEqual([{ same: true }]);
    expect(await webhooks.count('receipt_duplicates')).toBe(1);
  });

  it('of a message that a status names is kept too [INV-16]', async () => {
    const statuses = [{ id: `wamid.${longId}`, status: 'delivered' }];
    expect(await server.postMeta(whatsAppDelivery({ statuses }))).toMatchObject({ status: 200 });
    expect(await webhooks.count('provider_messages')).toBe(1);
  });

  it('of a sender parks that element alone, and its neighbour is stored [IN4]', async () => {
    const payload = pageDelivery(pageMessage('m_1', 'Hello?', { lead: longId }), neighbour);
    expect(await server.postMeta(payload)).toMatchObject({ status: 200 });
    expect(await webhooks.world.rows('select text from messages')).toEqual([
      { text: 'My sink leaks' },
    ]);
    expect(await webhooks.world.rows('select kind, reason from work_items')).toEqual([
      { kind: 'quarantine', reason: 'unreadable_element' },
    ]);
  });

  it('of an account parks that element alone, and its neighbour is stored [IN4]', async () => {
    const message = pageMessage('m_1', 'Hello?', { account: longId });
    const payload = {
      object: 'page',
      entry: [
        { id: longId, messaging: [message] },
        { id: MESSENGER.externalId, messaging: [neighbour] },
      ],
    };
    expect(await server.postMeta(payload)).toMatchObject({ status: 200 });
    expect(await webhooks.world.rows('select text from messages')).toEqual([
      { text: 'My sink leaks' },
    ]);
    expect(await webhooks.count('work_items')).toBe(1);
  });

  it('of a person on WhatsApp parks the message with an item [IN4]', async () => {
    const message = { ...whatsAppText('wamid.1', 'Hello?'), from: undefined, from_user_id: longId };
    expect(await server.postMeta(whatsAppDelivery({ messages: [message] }))).toMatchObject({
      status: 200,
    });
    expect(await webhooks.count('work_items')).toBe(1);
  });
});
