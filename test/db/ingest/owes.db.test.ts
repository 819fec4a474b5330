import { answer } from '../../support/answering';
import { failWrites } from '../../support/postgres-faults';
import {
  makeWebhookWorld,
  MESSENGER,
  pageDelivery,
  pageMessage,
  smsParameters,
  whatsAppDelivery,
  whatsAppText,
  type WebhookServer,
  type WebhookWorld,
} from '../../support/webhooks';
import type { World } from '../../support/world';

const file = { id: 'media-1', mime_type: 'x/y', sha256: 'x' };
const whatsApp = (content: object) => (server: WebhookServer) => {
  const { text: _text, ...head } = whatsAppText('wamid.1', '');
  return server.postMeta(whatsAppDelivery({ messages: [{ ...head, ...content }] }));
};
const page = (event: object) => (server: WebhookServer) =>
  server.postMeta(
    pageDelivery({
      sender: { id: '8000000000000001' },
      recipient: { id: MESSENGER.externalId },
      timestamp: Date.now(),
      ...event,
    }),
  );

/** What a lead may send, and whether its turn waits a moment for more (P4b). */
const SENT: readonly (readonly [string, (server: WebhookServer) => Promise<unknown>, boolean])[] = [
  ['a text', (server) => server.postSms(smsParameters('SM1', 'My sink leaks')), false],
  ['a bare opener', (server) => server.postSms(smsParameters('SM1', 'Hi')), true],
  ['a voice note', whatsApp({ type: 'audio', audio: { ...file, voice: true } }), true],
  ['a picture', whatsApp({ type: 'image', image: file }), true],
  [
    'a picture with words',
    whatsApp({ type: 'image', image: { ...file, caption: 'Leaks' } }),
    false,
  ],
  ['a document', whatsApp({ type: 'document', document: file }), true],
  ['a place', whatsApp({ type: 'location', location: { latitude: 41.9, longitude: -87.6 } }), true],
  [
    'what WhatsApp cannot show',
    whatsApp({ type: 'unsupported', errors: [{ code: 131051 }] }),
    false,
  ],
  [
    'a sticker',
    page({ message: { mid: 'm_1', attachments: [{ type: 'image', payload: { sticker_id: 1 } }] } }),
    true,
  ],
  ['an empty message', page({ message: { mid: 'm_1' } }), false],
  ['a tapped question', page({ postback: { mid: 'm_1', title: 'What do you charge?' } }), false],
];

describe('a lead who sent', () => {
  let webhooks: WebhookWorld;
  let server: WebhookServer;
  let world: World;
  beforeAll(async () => {
    webhooks = await makeWebhookWorld();
    ({ server, world } = webhooks);
  });
  afterEach(() => webhooks.reset());
  afterAll(() => webhooks.close());

  it.each(SENT)(
    '%s is owed an answer in the transaction that stored it [T1] [P4b]',
    async (_name, post, waits) => {
      await post(server);
      const [row] = await world.rows(
        `select c.owed_since is not null as owed, c.turn_due_at > c.owed_since as waits,
         c.next_due_at = c.turn_due_at as due, m.owes, c.xmin = m.xmin and m.xmin = r.xmin as one
       from conversations c join messages m on m.conversation_id = c.id
       join webhook_receipts r on r.id = m.receipt_id`,
      );
      expect(row).toEqual({ owed: true, waits, due: true, owes: true, one: true });
    },
  );

  it.each([
    'raw_deliveries',
    'webhook_receipts',
    'addresses',
    'leads',
    'conversations',
    'messages',
    'delivery_jobs',
    'transport_traces',
  ])(
    'a first message while %s cannot be written loses nothing and leaves nothing [IN6] [T1]',
    async (table) => {
      const facts = ['raw_deliveries', 'webhook_receipts', 'addresses', 'leads', 'conversations'];
      const post = () => server.postMeta(pageDelivery(pageMessage('m_1', 'My sink leaks')));
      const mend = await failWrites(world.database.owner, { table, sqlState: '53100' });
      expect(await post().finally(mend)).toMatchObject({ status: 503 });
      for (const fact of facts) expect([fact, await webhooks.count(fact)]).toEqual([fact, 0]);
      expect(await post()).toMatchObject({ status: 200 });
      for (const fact of facts) expect([fact, await webhooks.count(fact)]).toEqual([fact, 1]);
      expect(await webhooks.count('messages')).toBe(1);
    },
  );
});

describe('the transport trace', () => {
  let webhooks: WebhookWorld;
  let server: WebhookServer;
  let world: World;
  beforeAll(async () => {
    webhooks = await makeWebhookWorld();
    ({ server, world } = webhooks);
  });
  afterEach(() => webhooks.reset());
  afterAll(() => webhooks.close());

  it('of an answered message holds its stamps in their order and its durations apart [C1] [L1]', async () => {
    await server.postMeta(pageDelivery(pageMessage('m_1', 'My sink leaks')));
    await answer(world);
    const [trace] = await world.rows(
      `select source_precision, source_event_at <= ingress_accepted_at as t0,
         ingress_accepted_at <= normalized_at as t1, normalized_at <= job_claimed_at as t2,
         job_claimed_at <= decision_ready_at as t3, date_trunc('milliseconds', decision_ready_at) <= send_started_at as sent,
         send_started_at <= provider_acknowledged_at as t4, visible_at,
         normalize_ms >= 0 as normalize, decision_ms >= 0 as decision, send_ms >= 0 as send,
         send_attempts, outcome from transport_traces`,
    );
    expect(trace).toEqual({
      ...{ t0: true, t1: true, t2: true, t3: true, sent: true, t4: true, visible_at: null },
      ...{ normalize: true, decision: true, send: true },
      ...{ source_precision: 'milliseconds', send_attempts: 1, outcome: 'sent' },
    });
  });

  it.each([
    [
      'Twilio, which gives no time',
      (server: WebhookServer) => server.postSms(smsParameters('SM1', 'Leak')),
      'none',
      null,
    ],
    [
      'WhatsApp, which gives whole seconds',
      (server: WebhookServer) =>
        server.postMeta(whatsAppDelivery({ messages: [whatsAppText('wamid.1', 'Leak')] })),
      'seconds',
      true,
    ],
  ])('from %s says how exact it is [C1] [L1]', async (_name, post, precision, whole) => {
    await post(server);
    expect(
      await world.rows(`select source_precision,
        source_event_at = date_trunc('second', source_event_at) as whole from transport_traces`),
    ).toEqual([{ source_precision: precision, whole }]);
  });

  it('is one for a message, however often it is delivered, and one for each of a burst [L1] [IN6]', async () => {
    const first = pageDelivery(pageMessage('m_1', 'My sink leaks'));
    await Promise.all([1, 2, 3].map(() => server.postMeta(first)));
    await server.postMeta(pageDelivery(pageMessage('m_2', 'Hello?')));
    await answer(world);
    expect(
      await world.rows(
        'select outcome, count(*), count(distinct send_id) as sends from transport_traces group by 1',
      ),
    ).toEqual([{ outcome: 'sent', count: 2, sends: 1 }]);
  });
});
