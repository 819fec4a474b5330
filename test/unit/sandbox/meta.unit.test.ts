/** Goal: an adapter that works here works at Meta: shapes, limits, windows, echoes, read-back. */
import {
  at,
  call,
  conversation,
  graphGet,
  graphSend,
  ledgerTexts,
  parsed,
  phone,
  startWorld,
  textAt,
  threadOf,
  type Received,
  type World,
} from './world';

let world: World;

beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const HOUR_MS = 3_600_000;
const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString();
const holds = (part: string) => (request: Received) => request.body.includes(part);

describe('a send on Messenger', () => {
  it('is answered with both ids, echoed with our metadata and app id, and receipted', async () => {
    const { send, address, lead } = await conversation(world, 'messenger');
    const { status, body } = await send('Yes, we do.');
    expect(status).toBe(200);
    const mid = textAt(body, 'message_id');
    expect(body).toEqual({ recipient_id: address, message_id: mid });
    const [echo, receipt] = await world.app.arrived(2, (r) => r.body.includes(mid));
    expect(parsed(echo)).toMatchObject({
      object: 'page',
      entry: [
        {
          id: '100000000000001',
          messaging: [
            {
              sender: { id: '100000000000001' },
              recipient: { id: address },
              message: { is_echo: true, app_id: 900000000000009, metadata: 'att_1', mid },
            },
          ],
        },
      ],
    });
    expect(at(parsed(receipt), 'entry.0.messaging.0.delivery.mids')).toEqual([mid]);
    expect(await threadOf(world, 'messenger', lead)).toEqual([
      'lead: Do you fix water heaters?',
      'business: Yes, we do.',
    ]);
  });

  it('shows typing and answers a sender action without sending anything', async () => {
    const { address } = await conversation(world, 'messenger');
    const action = { recipient: { id: address }, sender_action: 'typing_on' };
    const { status, body } = await graphSend(world, 'messenger', action);
    expect({ status, body }).toEqual({ status: 200, body: { recipient_id: address } });
    expect(await ledgerTexts(world)).toEqual([]);
  });
});

describe('a send on Instagram', () => {
  it('is echoed inside messages, and counts bytes instead of characters', async () => {
    const { send } = await conversation(world, 'instagram');
    expect((await send('é'.repeat(500))).status).toBe(200);
    const refused = await send('é'.repeat(500) + '!');
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 100 } } });
    const [echo] = await world.app.arrived(1, holds('is_echo'));
    expect(at(parsed(echo), 'object')).toBe('instagram');
  });
});

describe('a send on WhatsApp', () => {
  it('is answered with a wamid and followed by sent and delivered with our token', async () => {
    const { send, address } = await conversation(world, 'whatsapp');
    const { status, body } = await send('Yes, we do.');
    expect(status).toBe(200);
    expect(at(body, 'contacts.0')).toMatchObject({ input: address, wa_id: address });
    const id = textAt(body, 'messages.0.id');
    const statuses = await world.app.arrived(2, holds('"statuses"'));
    const path = 'entry.0.changes.0.value.statuses.0';
    const seen = statuses.map((request) => at(parsed(request), path));
    expect(seen).toMatchObject([
      { id, status: 'sent', recipient_id: address, biz_opaque_callback_data: 'att_1' },
      { id, status: 'delivered', recipient_id: address, biz_opaque_callback_data: 'att_1' },
    ]);
    expect(at(seen[0], 'timestamp')).toMatch(/^\d{10}$/);
  });

  it('reaches a username user by the business-scoped id alone', async () => {
    const options = { addressing: 'bsuid-only' };
    await phone(world, 'whatsapp', { lead: 'Avery Quill', text: 'Hi', options });
    const value = at(parsed(world.app.requests[0]), 'entry.0.changes.0.value');
    const recipient = textAt(value, 'messages.0.from_user_id');
    expect(recipient).toMatch(/^US\.\d+$/);
    expect(at(value, 'messages.0.from')).toBeUndefined();
    expect(at(value, 'contacts.0')).toEqual({
      profile: { name: 'Avery Quill', username: 'avery.quill' },
      user_id: recipient,
    });
    const message = { messaging_product: 'whatsapp', recipient, text: { body: 'Hello' } };
    const { status, body } = await graphSend(world, 'whatsapp', message);
    expect(status).toBe(200);
    expect(at(body, 'contacts.0')).toEqual({ input: recipient, user_id: recipient });
    const [first] = await world.app.arrived(1, holds('"statuses"'));
    const sent = at(parsed(first), 'entry.0.changes.0.value.statuses.0');
    expect(sent).toMatchObject({ recipient_user_id: recipient });
    expect(at(sent, 'recipient_id')).toBeUndefined();
  });
});

describe('refusals', () => {
  const text = (length: number) => ({ text: 'a'.repeat(length) });

  it.each([
    ['an unknown token', { authorization: 'Bearer wrong' }, 401, 190],
    ['no token', {}, 401, 190],
  ])('%s is refused with the real error body', async (_name, auth, status, code) => {
    const headers = { 'content-type': 'application/json', ...auth };
    const answer = await graphSend(world, 'messenger', {}, { headers });
    expect(answer).toMatchObject({
      status,
      body: { error: { code, type: 'OAuthException', fbtrace_id: expect.any(String) } },
    });
  });

  it.each([
    ['no recipient', { message: { text: 'Hi' } }, 100, undefined],
    [
      'a stranger',
      { recipient: { id: '7999999999999999' }, message: { text: 'Hi' } },
      100,
      2018001,
    ],
    ['no content', { message: {} }, 100, 2018034],
    ['a long text', { message: text(2001) }, 100, undefined],
    ['a retired tag', { messaging_type: 'MESSAGE_TAG', tag: 'ACCOUNT_UPDATE' }, 100, undefined],
    ['an unknown type', { messaging_type: 'PROMO', message: text(1) }, 100, undefined],
  ])('Messenger refuses %s', async (name, body, code, subcode) => {
    const { address } = await conversation(world, 'messenger');
    const recipient = name === 'no recipient' ? {} : { recipient: { id: address } };
    const answer = await graphSend(world, 'messenger', { ...recipient, ...body });
    expect(answer.status).toBe(400);
    expect(at(answer.body, 'error.code')).toBe(code);
    expect(at(answer.body, 'error.error_subcode')).toBe(subcode);
    expect(await ledgerTexts(world)).toEqual([]);
  });

  it.each([
    ['another product', { messaging_product: 'sms' }, 100],
    ['no body', { text: {} }, 100],
    ['a long text', { text: { body: 'a'.repeat(4097) } }, 100],
    ['a long token', { biz_opaque_callback_data: 'a'.repeat(513) }, 100],
    ['nobody', { to: undefined }, 100],
    ['a stranger', { to: '13125550199' }, 131047],
  ])('WhatsApp refuses %s', async (_name, change, code) => {
    const { address } = await conversation(world, 'whatsapp');
    const body = { messaging_product: 'whatsapp', to: address, text: { body: 'Hi' }, ...change };
    const answer = await graphSend(world, 'whatsapp', body);
    expect(answer).toMatchObject({ status: 400, body: { error: { code } } });
    expect(at(answer.body, 'error.error_data.details')).toEqual(expect.any(String));
  });

  it.each(['messenger', 'whatsapp'] as const)(
    'the longest text that %s allows passes, counted in characters and not in code units',
    async (channel) => {
      const { send } = await conversation(world, channel);
      const limit = channel === 'messenger' ? 2000 : 4096;
      expect((await send('🦁'.repeat(limit))).status).toBe(200);
    },
  );

  it('an object that does not exist is named in the refusal', async () => {
    const answer = await graphGet(world, '123?fields=id');
    const edge = await graphGet(world, '100000000000001/insights');
    expect(edge.status).toBe(400);
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { code: 100, error_subcode: 33 } },
    });
  });
});

describe('the 24 hour window', () => {
  it.each([
    ['messenger', { code: 10, error_subcode: 2018278 }],
    ['instagram', { code: 10, error_subcode: 2018278 }],
    ['whatsapp', { code: 131047 }],
  ] as const)('is closed on %s for a lead who wrote 25 hours ago', async (channel, error) => {
    const old = { lead: 'Robin Fields', text: 'Hi', options: { occurredAt: hoursAgo(25) } };
    const fresh = await conversation(world, channel, 'Marta Okafor');
    await phone(world, channel, old);
    const { send } = await late(channel);
    expect(await send()).toMatchObject({ status: 400, body: { error } });
    expect((await fresh.send('In time')).status).toBe(200);
    await phone(world, channel, { ...old, options: { occurredAt: hoursAgo(23) } });
    expect((await send()).status).toBe(200);
  });

  async function late(channel: 'messenger' | 'instagram' | 'whatsapp') {
    const request = world.app.requests.at(-1);
    const body = parsed(request);
    const message = { text: 'Late' };
    if (channel !== 'whatsapp') {
      const id = textAt(body, 'entry.0.messaging.0.sender.id');
      return { send: () => graphSend(world, channel, { recipient: { id }, message }) };
    }
    const to = textAt(body, 'entry.0.changes.0.value.messages.0.from');
    const text = { body: 'Late' };
    const order = { messaging_product: 'whatsapp', to, text };
    return Promise.resolve({ send: () => graphSend(world, channel, order) });
  }

  it('a human agent may write for seven days, a template at any time', async () => {
    const options = { occurredAt: hoursAgo(100) };
    await phone(world, 'messenger', { lead: 'Robin Fields', text: 'Hi', options });
    const id = textAt(parsed(world.app.requests[0]), 'entry.0.messaging.0.sender.id');
    const tagged = { messaging_type: 'MESSAGE_TAG', tag: 'HUMAN_AGENT', message: { text: 'Hi' } };
    const answer = await graphSend(world, 'messenger', { recipient: { id }, ...tagged });
    expect(answer.status).toBe(200);
    await phone(world, 'whatsapp', { lead: 'Robin Fields', text: 'Hi', options });
    const [inbound] = await world.app.arrived(1, holds('whatsapp_business_account'));
    const to = textAt(parsed(inbound), 'entry.0.changes.0.value.messages.0.from');
    const template = { type: 'template', template: { name: 'appointment_reminder' } };
    const sent = await graphSend(world, 'whatsapp', {
      messaging_product: 'whatsapp',
      to,
      ...template,
    });
    expect(sent.status).toBe(200);
  });
});

describe('reading back', () => {
  it.each([
    ['messenger', '100000000000001'],
    ['instagram', '17840000000000001'],
    ['instagram', '100000000000001'],
  ] as const)('shows the newest 20 messages of a %s thread, in seconds', async (channel, path) => {
    const { send, address } = await conversation(world, channel);
    for (let index = 1; index <= 21; index += 1) await send(`Answer ${index}`);
    const query = `platform=${channel}&user_id=${address}`;
    const list = await graphGet(world, `${path}/conversations?${query}`);
    const id = textAt(list.body, 'data.0.id');
    const fields = encodeURIComponent('messages{id,created_time,from,to,message}');
    const { body } = await graphGet(world, `${id}?fields=${fields}`);
    const messages = at(body, 'messages.data') as unknown[];
    expect(messages).toHaveLength(20);
    expect(messages[0]).toMatchObject({ message: 'Answer 21', to: { data: [{ id: address }] } });
    expect(messages[19]).toMatchObject({ message: 'Answer 2' });
    expect(at(messages[0], 'created_time')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/);
    const nested = await graphGet(world, `${path}/conversations?${query}&fields=${fields}`);
    expect(at(nested.body, 'data.0.messages.data')).toEqual(messages);
  });

  it('lists nothing for somebody who never wrote, and WhatsApp has no such list at all', async () => {
    const query = 'platform=messenger&user_id=7999999999999999';
    const list = await graphGet(world, `100000000000001/conversations?${query}`);
    expect(list).toMatchObject({ status: 200, body: { data: [] } });
    const none = await graphGet(world, '300000000000003/conversations?platform=messenger');
    expect(none.status).toBe(400);
  });

  it('gives a media id its address and the address its bytes', async () => {
    const media = [{ kind: 'image' }];
    await phone(world, 'whatsapp', { lead: 'Robin Fields', text: 'Look', media });
    const value = at(parsed(world.app.requests[0]), 'entry.0.changes.0.value');
    expect(at(value, 'messages.0.image.caption')).toBe('Look');
    const found = await graphGet(world, textAt(value, 'messages.0.image.id'));
    expect(found.body).toMatchObject({ mime_type: 'image/png' });
    const picture = await fetch(textAt(found.body, 'url'));
    expect(picture.headers.get('content-type')).toBe('image/png');
    await picture.arrayBuffer();
  });
});

it('other accounts can be passed, each with its own ids', async () => {
  const accounts = [
    { channel: 'messenger', externalId: '111', accountId: '111', name: 'First' },
    { channel: 'messenger', externalId: '222', accountId: '222', name: 'Second' },
  ] as const;
  const other = await startWorld({ accounts });
  await phone(other, 'messenger', { lead: 'Robin Fields', text: 'Hi', account: '222' });
  expect(at(parsed(other.app.requests[0]), 'entry.0.id')).toBe('222');
  const listed = await call(`${other.sandbox.url}/accounts`);
  expect(listed.body).toMatchObject([{ externalId: '111' }, { externalId: '222', healthy: true }]);
  await other.close();
});
