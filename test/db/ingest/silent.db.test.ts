import { answer } from '../../support/answering';
import {
  makeWebhookWorld,
  pageDelivery,
  pageMessage,
  smsParameters,
  whatsAppDelivery,
  whatsAppText,
  MESSENGER,
  type WebhookServer,
  type WebhookWorld,
} from '../../support/webhooks';
import type { World } from '../../support/world';

const DAY_SECONDS = 86_400;
const LEAD = '8000000000000001';

/** An imported message of a WhatsApp chat, so many days old. */
function imported(id: string, daysAgo: number, from = '13125550142') {
  const timestamp = String(Math.floor(Date.now() / 1000) - daysAgo * DAY_SECONDS);
  return { ...whatsAppText(id, `Words of ${id}`, from), timestamp, to: '13125550142' };
}

function history(...messages: readonly object[]) {
  const chunk = { metadata: { phase: 0 }, threads: [{ id: '13125550142', messages }] };
  return whatsAppDelivery({ history: [chunk] }, 'history');
}

const fromLead = (event: object) => ({
  sender: { id: LEAD },
  recipient: { id: MESSENGER.externalId },
  timestamp: Date.now(),
  ...event,
});

describe('what is no turn', () => {
  let webhooks: WebhookWorld;
  let server: WebhookServer;
  let world: World;
  beforeAll(async () => {
    webhooks = await makeWebhookWorld();
    ({ server, world } = webhooks);
  });
  afterEach(() => webhooks.reset());
  afterAll(() => webhooks.close());

  it.each([
    ['a reaction', { reaction: { mid: 'm_1', action: 'react', emoji: '👍' } }],
    ['an edit', { message_edit: { mid: 'm_1', text: 'Changed', num_edit: 1 } }],
    ['a deletion', { message: { mid: 'm_1', is_deleted: true } }],
    ['a receipt', { delivery: { mids: ['provider-1'], watermark: Date.now() } }],
    ['a read receipt', { read: { watermark: Date.now() } }],
    ['typing', { typing: 'on' }],
    ['a referral', { referral: { ref: 'x' } }],
  ])('%s owes nothing, stops nothing and starts no trace [IN7] [T1]', async (_name, event) => {
    await server.postMeta(pageDelivery(pageMessage('m_1', 'My sink leaks')));
    await answer(world);
    const before = await world.conversation();
    server.woken.length = 0;
    expect(await server.postMeta(pageDelivery(fromLead(event)))).toMatchObject({ status: 200 });
    expect(await world.conversation()).toMatchObject({
      owed_since: null,
      state: 'active',
      version: before['version'],
      last_inbound_seq: 1,
      last_inbound_at: before['last_inbound_at'],
      next_due_at: before['next_due_at'],
    });
    expect(await world.rows('select stopped_at from follow_up_plans')).toEqual([
      { stopped_at: null },
    ]);
    expect(await webhooks.count('delivery_jobs')).toBe(3);
    expect(await webhooks.count('transport_traces')).toBe(1);
    expect(await webhooks.count('webhook_receipts')).toBe(2);
    expect(server.woken).toEqual([]);
  });

  it('the stand-in of a carrier for a reaction owes nothing [IN7]', async () => {
    await server.postSms(smsParameters('SM1', 'Liked “See you on Friday”'));
    expect(await webhooks.count('messages')).toBe(0);
    expect(await webhooks.count('conversations')).toBe(0);
  });

  const texts = () =>
    world.rows(`select text, owes, edited_at is not null as edited, deleted_at is not null as deleted
      from messages order by seq`);

  it('an edit replaces the words of an owed message, which owes once [IN7]', async () => {
    await server.postMeta(pageDelivery(pageMessage('m_1', 'My sink leaks')));
    const { owed_since: token } = await world.conversation();
    const edit = fromLead({ message_edit: { mid: 'm_1', text: 'My toilet leaks', num_edit: 1 } });
    await server.postMeta(pageDelivery(edit));
    expect(await texts()).toEqual([
      { text: 'My toilet leaks', owes: true, edited: true, deleted: false },
    ]);
    expect(await world.conversation()).toMatchObject({ owed_since: token });
  });

  it('an edit in the batch of its message is not lost [IN7]', async () => {
    const edit = fromLead({ message_edit: { mid: 'm_1', text: 'My toilet leaks', num_edit: 1 } });
    await server.postMeta(pageDelivery(pageMessage('m_1', 'My sink leaks'), edit));
    expect(await texts()).toEqual([
      { text: 'My toilet leaks', owes: true, edited: true, deleted: false },
    ]);
  });

  it('a deletion removes the words and leaves the debt to the turn [IN7]', async () => {
    await server.postMeta(pageDelivery(pageMessage('m_1', 'My sink leaks')));
    const deletion = fromLead({ message: { mid: 'm_1', is_deleted: true } });
    await server.postMeta(pageDelivery(deletion));
    expect(await texts()).toEqual([{ text: null, owes: true, edited: false, deleted: true }]);
  });

  it('an edit by another lead changes nothing of the message it names [IN7]', async () => {
    await server.postMeta(pageDelivery(pageMessage('m_1', 'My sink leaks')));
    const edit = { message_edit: { mid: 'm_1', text: 'Forged', num_edit: 1 } };
    await server.postMeta(pageDelivery({ ...fromLead(edit), sender: { id: '8000000000000002' } }));
    expect((await texts())[0]).toMatchObject({ text: 'My sink leaks' });
  });
});

describe('imported history', () => {
  let webhooks: WebhookWorld;
  let server: WebhookServer;
  let world: World;
  beforeAll(async () => {
    webhooks = await makeWebhookWorld();
    ({ server, world } = webhooks);
  });
  afterEach(() => webhooks.reset());
  afterAll(() => webhooks.close());

  const live = (id: string) =>
    server.postMeta(whatsAppDelivery({ messages: [whatsAppText(id, `Words of ${id}`)] }));
  const authors = () =>
    world.rows('select author, owes, count(*) from messages group by 1, 2 order by 1');

  it('of 300 messages is silent with its own times, and a live one after it owes [IN7] [L1]', async () => {
    const messages = Array.from({ length: 300 }, (_, index) =>
      imported(`wamid.H${index}`, 180 - index / 2, index % 3 === 0 ? '13125550100' : undefined),
    );
    expect(await server.postMeta(history(...messages))).toMatchObject({ status: 200 });
    expect(await world.conversation()).toMatchObject({
      owed_since: null,
      last_inbound_at: null,
      last_inbound_seq: 0,
      last_seq: 300,
      next_due_at: null,
    });
    expect(await webhooks.count('transport_traces')).toBe(0);
    expect(await webhooks.count('delivery_jobs')).toBe(0);
    expect(server.woken).toEqual([]);
    const oldest = `select direction, source_at < now() - interval '179 days' as old
      from messages where seq = 1`;
    expect(await world.rows(oldest)).toEqual([{ direction: 'out', old: true }]);
    await live('wamid.L1');
    expect(await world.conversation()).toMatchObject({ last_seq: 301, last_inbound_seq: 301 });
    expect(await authors()).toEqual([
      { author: 'import', owes: false, count: 300 },
      { author: 'lead', owes: true, count: 1 },
    ]);
  });

  it('that replays live messages and our own answer keeps one row of each and imports the rest [IN7] [INV-2]', async () => {
    await live('wamid.1');
    await answer(world);
    await live('wamid.2');
    const { owed_since: token } = await world.conversation();
    const ours = imported('provider-1', 0, '13125550100');
    const payload = history(
      imported('wamid.0', 3),
      imported('wamid.1', 0),
      ours,
      imported('wamid.2', 0),
    );
    expect(await server.postMeta(payload)).toMatchObject({ status: 200 });
    expect(await authors()).toEqual([
      { author: 'automation', owes: false, count: 1 },
      { author: 'import', owes: false, count: 1 },
      { author: 'lead', owes: true, count: 2 },
    ]);
    expect(await world.conversation()).toMatchObject({ owed_since: token });
    expect(await webhooks.count('work_items')).toBe(0);
  });

  it('that holds a message before it comes live does not swallow it: the live one owes [IN7] [INV-2]', async () => {
    await server.postMeta(history(imported('wamid.0', 3), imported('wamid.1', 0)));
    expect(await live('wamid.1')).toMatchObject({ status: 200 });
    expect(
      await world.rows(
        'select provider_message_id as id, author, owes, seq from messages order by seq',
      ),
    ).toEqual([
      { id: 'wamid.0', author: 'import', owes: false, seq: 1 },
      { id: 'wamid.1', author: 'lead', owes: true, seq: 3 },
    ]);
    expect(await world.conversation()).toMatchObject({ last_inbound_seq: 3 });
    expect(await webhooks.count('transport_traces')).toBe(1);
  });

  it('in one batch with the live message is that one message, owed [IN7] [INV-2]', async () => {
    const entry = [
      history(imported('wamid.1', 0)),
      whatsAppDelivery({ messages: [whatsAppText('wamid.1', 'Words')] }),
    ].flatMap((payload) => payload['entry'] as unknown[]);
    const payload = { object: 'whatsapp_business_account', entry };
    expect(await server.postMeta(payload)).toMatchObject({ status: 200 });
    expect(await authors()).toEqual([{ author: 'lead', owes: true, count: 1 }]);
  });
});
