/** Goal: an adapter that works here works at Twilio: sends, callbacks, lists, opt-out keywords. */
import {
  at,
  call,
  conversation,
  ledgerTexts,
  phone,
  smsSend,
  startWorld,
  textAt,
  threadOf,
  twilioHeaders,
  twilioMessages,
  type Received,
  type World,
} from './world';

let world: World;

beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const isCallback = (request: Received) => request.target.includes('/twilio/status');
const field = (request: Received | undefined, name: string) =>
  new URLSearchParams(request?.body).get(name);

async function list(query = ''): Promise<unknown[]> {
  const { body } = await call(`${twilioMessages(world)}${query}`, { headers: twilioHeaders });
  return at(body, 'messages') as unknown[];
}

describe('a send', () => {
  it('is answered with the documented resource and called back queued, sent, delivered', async () => {
    const { send, address, lead } = await conversation(world, 'sms');
    const { status, body } = await send('Yes, today after 2 pm works.');
    expect(status).toBe(201);
    expect(body).toMatchObject({
      from: '+13125550100',
      to: address,
      body: 'Yes, today after 2 pm works.',
      status: 'queued',
      direction: 'outbound-api',
      num_segments: '1',
      error_code: null,
      date_sent: null,
    });
    expect(textAt(body, 'sid')).toMatch(/^SM[0-9a-f]{32}$/);
    expect(textAt(body, 'date_created')).toMatch(/^\w{3}, \d\d \w{3} \d{4} [\d:]{8} \+0000$/);
    const callbacks = await world.app.arrived(3, isCallback);
    const seen = callbacks.map((request) => field(request, 'MessageStatus'));
    expect(seen).toEqual(['queued', 'sent', 'delivered']);
    expect(callbacks[0]?.target).toBe('/webhooks/twilio/status?attempt=att_1');
    expect(field(callbacks[2], 'MessageSid')).toBe(textAt(body, 'sid'));
    expect(await threadOf(world, 'sms', lead)).toHaveLength(2);
  });

  it('counts segments as carriers do', async () => {
    const { address } = await conversation(world, 'sms');
    const segments = async (Body: string) =>
      textAt((await smsSend(world, { To: address, Body })).body, 'num_segments');
    expect(await segments('a'.repeat(160))).toBe('1');
    expect(await segments('a'.repeat(161))).toBe('2');
    expect(await segments('€'.repeat(81))).toBe('2');
    expect(await segments(`${'a'.repeat(69)}😀`)).toBe('2');
  });

  it.each([
    ['no recipient', { To: '' }, 21604],
    ['no sender', { From: '' }, 21603],
    ['no text', { Body: '' }, 21602],
    ['a text of 1601 characters', { Body: 'a'.repeat(1601) }, 21617],
    ['a number that is none', { To: '12' }, 21211],
    ['a sender that is not ours', { From: '+13125550177' }, 21606],
    ['itself', { To: '+13125550100' }, 21266],
    ['a callback that is no address', { StatusCallback: 'nowhere' }, 21609],
  ])('to or with %s is refused', async (_name, change, code) => {
    const form = { To: '+13125550142', Body: 'Hi', ...change };
    const { status, body } = await smsSend(world, form);
    expect({ status, body }).toMatchObject({ status: 400, body: { code, status: 400 } });
    expect(textAt(body, 'more_info')).toContain(String(code));
    expect(await ledgerTexts(world)).toEqual([]);
  });

  it('without the right credentials or account is refused', async () => {
    const headers = { authorization: `Basic ${Buffer.from('AC1:wrong').toString('base64')}` };
    const denied = await smsSend(world, { To: '+13125550142', Body: 'Hi' }, { headers });
    expect(denied).toMatchObject({ status: 401, body: { code: 20003, status: 401 } });
    const elsewhere = twilioMessages(world).replace('0001/', '0002/');
    const missing = await call(elsewhere, { headers: twilioHeaders });
    expect(missing).toMatchObject({ status: 404, body: { code: 20404 } });
  });
});

describe('opt-out keywords', () => {
  const lead = 'Robin Fields';
  const say = (text: string) => phone(world, 'sms', { lead, text });

  it.each(['STOP', ' stop ', 'Unsubscribe', 'CANCEL', 'revoke'])(
    'after "%s" the phone gets the confirmation of Twilio, and sends are refused until START',
    async (word) => {
      const { send } = await conversation(world, 'sms', lead);
      expect((await say(word)).body).toMatchObject({ webhookStatus: 200 });
      expect(field(world.app.requests.at(-1), 'Body')).toBe(word);
      expect((await threadOf(world, 'sms', lead)).at(-1)).toMatch(/^business: You have success/);
      expect(await send('Still there?')).toMatchObject({ status: 400, body: { code: 21610 } });
      await say('START');
      expect((await threadOf(world, 'sms', lead)).at(-1)).toMatch(/re-subscribed/);
      expect((await send('Welcome back.')).status).toBe(201);
    },
  );

  it('only a whole message is a keyword, and YES is a plain answer of whoever is not blocked', async () => {
    const { send } = await conversation(world, 'sms', lead);
    await say('please stop texting me');
    await say('YES');
    expect((await threadOf(world, 'sms', lead)).filter((m) => m.startsWith('business'))).toEqual(
      [],
    );
    expect((await send('Fine.')).status).toBe(201);
  });

  it('the provider answers HELP itself, and its answers are no sends of ours', async () => {
    await say('HELP');
    expect((await threadOf(world, 'sms', lead)).at(-1)).toMatch(/^business: Reply STOP/);
    expect(await ledgerTexts(world)).toEqual([]);
    expect(await list('?From=%2B13125550100')).toEqual([]);
  });
});

describe('the message list', () => {
  it('shows both directions, the newest first, filtered by sender, recipient and day', async () => {
    const { send, address } = await conversation(world, 'sms');
    await send('Yes, we do.');
    await world.app.arrived(3, isCallback);
    const directions = (messages: unknown[]) => messages.map((m) => at(m, 'direction'));
    expect(directions(await list())).toEqual(['outbound-api', 'inbound']);
    const to = encodeURIComponent(address);
    expect(directions(await list(`?To=${to}`))).toEqual(['outbound-api']);
    expect(directions(await list(`?From=${to}`))).toEqual(['inbound']);
    const today = new Date().toISOString().slice(0, 10);
    expect(await list(`?DateSent%3E=${today}`)).toHaveLength(2);
    expect(await list('?DateSent%3E=2099-01-01')).toEqual([]);
    expect(await list('?DateSent%3C=2001-01-01')).toEqual([]);
    expect((await list())[0]).toMatchObject({ status: 'delivered', body: 'Yes, we do.' });
  });

  it('comes in pages that name the next one', async () => {
    for (const text of ['One', 'Two', 'Three']) {
      await phone(world, 'sms', { lead: 'Robin Fields', text });
    }
    const first = await call(`${twilioMessages(world)}?PageSize=2`, { headers: twilioHeaders });
    expect(at(first.body, 'messages')).toHaveLength(2);
    const next = `${world.sandbox.url}/twilio${textAt(first.body, 'next_page_uri')}`;
    const second = await call(next, { headers: twilioHeaders });
    expect(second.body).toMatchObject({ messages: [{ body: 'One' }], next_page_uri: null });
  });

  it('holds what staff sent elsewhere, of which no webhook tells', async () => {
    const message = { lead: 'Robin Fields', text: 'From my desk', kind: 'echo-native' };
    const answer = await phone(world, 'sms', message);
    expect(answer.body).toMatchObject({ webhookStatus: 0, note: expect.any(String) });
    expect(world.app.requests).toEqual([]);
    expect(await list()).toMatchObject([{ direction: 'outbound-api', body: 'From my desk' }]);
  });

  it('keeps the true time of a message that was late', async () => {
    const occurredAt = '2026-11-02T15:27:11Z';
    await phone(world, 'sms', { lead: 'Robin Fields', text: 'Hi', options: { occurredAt } });
    const [message] = await list();
    expect(at(message, 'date_created')).toBe('Mon, 02 Nov 2026 15:27:11 +0000');
    expect(at(message, 'sid')).toBe(field(world.app.requests[0], 'MessageSid'));
  });
});
