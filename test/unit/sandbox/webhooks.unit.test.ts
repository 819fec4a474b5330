/** Goal: webhooks are repeated, lost, doubled and turned round as each provider does it. */
import {
  armFault,
  at,
  conversation,
  parsed,
  phone,
  smsSend,
  startReceiver,
  startWorld,
  textAt,
  type Received,
  type World,
} from './world';

let world: World;

beforeEach(async () => {
  world = await startWorld({ metaRetryDelaysMs: [5, 10, 15], reorderHoldMs: 20 });
});
afterEach(() => world.close());

const lead = 'Robin Fields';
const path = 'entry.0.messaging.0.message';
const texts = (requests: readonly Received[]) =>
  requests.map((request) => at(parsed(request), `${path}.text`));

describe('an app that does not answer 200', () => {
  it('hears from Meta again, with the same bytes and signature, until it does', async () => {
    world.app.statuses.push(503, 500);
    const { body } = await phone(world, 'messenger', { lead, text: 'Hi' });
    expect(body).toMatchObject({ webhookStatus: 503 });
    const requests = await world.app.arrived(3);
    expect(new Set(requests.map((request) => request.body)).size).toBe(1);
    expect(new Set(requests.map((r) => r.headers['x-hub-signature-256'])).size).toBe(1);
    expect(world.app.statuses).toEqual([]);
  });

  it('hears from Twilio once only', async () => {
    world.app.statuses.push(503);
    const { body } = await phone(world, 'sms', { lead, text: 'Hi' });
    expect(body).toMatchObject({ webhookStatus: 503 });
    await phone(world, 'sms', { lead, text: 'Anyone?' });
    expect(world.app.requests).toHaveLength(2);
  });

  it('hears from Twilio again where the callback asked for it, with the same token', async () => {
    const { address } = await conversation(world, 'sms');
    const StatusCallback = `${world.app.url}/cb#rc=2&rp=5xx`;
    world.app.statuses.push(500, 502);
    await smsSend(world, { To: address, Body: 'Hi', StatusCallback });
    const tries = await world.app.arrived(3, (r) => r.target === '/cb');
    const tokens = tries.map((request) => request.headers['i-twilio-idempotency-token']);
    expect(new Set(tokens).size).toBe(1);
  });
});

describe('an app that is not there', () => {
  it.each(['messenger', 'sms'])('is reported as 0 on %s', async (channel) => {
    const absent = await startReceiver();
    await absent.close();
    const lonely = await startWorld({ publicUrl: absent.url });
    const { body } = await phone(lonely, channel, { lead, text: 'Hi' });
    expect(body).toMatchObject({ webhookStatus: 0 });
    expect(textAt(body, 'providerMessageId')).not.toBe('');
    await lonely.close();
  });

  it('gets from Meta what it missed once it is back', async () => {
    const absent = await startReceiver();
    const { port } = new URL(absent.url);
    await absent.close();
    const lonely = await startWorld({
      publicUrl: absent.url,
      metaRetryDelaysMs: [5, 5, 5, 5, 5, 5],
    });
    await phone(lonely, 'messenger', { lead, text: 'Hi' });
    const back = await startReceiver(Number(port));
    expect(texts(await back.arrived(1))).toEqual(['Hi']);
    await back.close();
    await lonely.close();
  });
});

describe('webhook faults', () => {
  it('webhook-lost: the app never hears of it, and the provider does not try again', async () => {
    await armFault(world, { channel: 'messenger', fault: 'webhook-lost' });
    const { body } = await phone(world, 'messenger', { lead, text: 'Lost' });
    expect(body).toMatchObject({ webhookStatus: 0, note: expect.stringContaining('webhook-lost') });
    await phone(world, 'messenger', { lead, text: 'Found' });
    expect(texts(world.app.requests)).toEqual(['Found']);
  });

  it('webhook-duplicate: the same event arrives twice', async () => {
    await armFault(world, { channel: 'messenger', fault: 'webhook-duplicate' });
    await phone(world, 'messenger', { lead, text: 'Twice' });
    expect(texts(world.app.requests)).toEqual(['Twice', 'Twice']);
    const ids = world.app.requests.map((request) => at(parsed(request), `${path}.mid`));
    expect(ids[0]).toBe(ids[1]);
  });

  it('webhook-reordered: the next one overtakes it', async () => {
    world = await reopened({ reorderHoldMs: 60_000 });
    await armFault(world, { channel: 'messenger', fault: 'webhook-reordered', count: 2 });
    for (const text of ['First', 'Second', 'Third'])
      await phone(world, 'messenger', { lead, text });
    expect(texts(world.app.requests)).toEqual(['Third', 'Second', 'First']);
  });

  it('webhook-reordered: without a next one it still arrives', async () => {
    await armFault(world, { channel: 'messenger', fault: 'webhook-reordered' });
    await phone(world, 'messenger', { lead, text: 'Alone' });
    expect(texts(await world.app.arrived(1))).toEqual(['Alone']);
  });

  it.each(['messenger', 'instagram', 'whatsapp', 'sms'])(
    'webhook-altered: on %s the same id comes again with other content and a valid signature',
    async (channel) => {
      await armFault(world, { channel, fault: 'webhook-altered' });
      const { body } = await phone(world, channel, { lead, text: 'My words' });
      const id = textAt(body, 'providerMessageId');
      const plain = world.app.requests.map((request) =>
        decodeURIComponent(request.body.replaceAll('+', ' ')).replaceAll('\\/', '/'),
      );
      expect(plain).toHaveLength(2);
      const unescapedId = decodeURIComponent(id.replaceAll('+', ' '));
      expect(plain.every((text) => text.includes(unescapedId))).toBe(true);
      expect(plain.map((text) => text.includes('My words (altered)'))).toEqual([false, true]);
    },
  );

  it('can wait for one kind of webhook', async () => {
    await armFault(world, { channel: 'messenger', fault: 'webhook-lost', webhook: 'echo' });
    const { send } = await conversation(world, 'messenger');
    await send('Yes');
    const [receipt] = await world.app.arrived(1, (r) => r.body.includes('"delivery"'));
    expect(receipt).toBeDefined();
    expect(world.app.requests.some((request) => request.body.includes('is_echo'))).toBe(false);
  });
});

async function reopened(options: object): Promise<World> {
  await world.close();
  return startWorld(options);
}

describe('options of a phone message', () => {
  it('duplicate delivers so many times at once', async () => {
    let open = 0;
    world.app.onRequest = () => {
      open += 1;
    };
    await phone(world, 'whatsapp', { lead, text: 'Hi', options: { duplicate: 5 } });
    expect(open).toBe(5);
    expect(new Set(world.app.requests.map((request) => request.body)).size).toBe(1);
    await phone(world, 'whatsapp', { lead, text: 'Hi', options: { duplicate: true } });
    expect(open).toBe(7);
  });

  it('occurredAt is the provider time of the event, in its own precision', async () => {
    const options = { occurredAt: '2026-11-02T15:27:11.123Z' };
    await phone(world, 'messenger', { lead, text: 'Hi', options });
    await phone(world, 'whatsapp', { lead, text: 'Hi', options });
    const [messenger, whatsapp] = world.app.requests.map(parsed);
    expect(at(messenger, 'entry.0.messaging.0.timestamp')).toBe(1793633231123);
    expect(at(whatsapp, 'entry.0.changes.0.value.messages.0.timestamp')).toBe('1793633231');
  });

  it('delayMs holds the webhook back, not the time of the event', async () => {
    let arrivedAt = 0;
    world.app.onRequest = () => {
      arrivedAt = Date.now();
    };
    await phone(world, 'messenger', { lead, text: 'Hi', options: { delayMs: 40 } });
    const timestamp = at(parsed(world.app.requests[0]), 'entry.0.messaging.0.timestamp');
    expect(arrivedAt - Number(timestamp)).toBeGreaterThanOrEqual(39);
  });
});
