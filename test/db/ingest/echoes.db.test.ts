import {
  ageAttempts,
  answer,
  answerIntoTheUnknown,
  attemptOf,
  draftAnswer,
} from '../../support/answering';
import {
  APP_ID,
  instagramDelivery,
  instagramEcho,
  instagramMessage,
  makeWebhookWorld,
  pageDelivery,
  pageEcho,
  pageMessage,
  whatsAppDelivery,
  whatsAppText,
  type WebhookServer,
  type WebhookWorld,
} from '../../support/webhooks';
import type { World } from '../../support/world';

const INBOX_APP = '26390203743090';

describe('an echo', () => {
  let webhooks: WebhookWorld;
  let server: WebhookServer;
  let world: World;
  beforeAll(async () => {
    webhooks = await makeWebhookWorld();
    ({ server, world } = webhooks);
  });
  afterEach(() => webhooks.reset());
  afterAll(() => webhooks.close());

  const settlements = () =>
    world.rows(
      `select seq, author, settlement, settlement_reason as reason from messages order by seq`,
    );
  const handoffs = () =>
    world.rows(`select newest_seq, resolved_at is null as open from work_items
      where kind = 'handoff' order by opened_at, id`);

  it.each([
    ['with our attempt in its metadata', true],
    ['by its message id alone', false],
  ])(
    'of our own app confirms our send %s and is no message, no reply and no answer [IN7]',
    async (_name, metadata) => {
      await server.postMeta(pageDelivery(pageMessage('m_1', 'My sink leaks')));
      const { sendId, text } = await answer(world);
      await server.postMeta(pageDelivery(pageMessage('m_2', 'And the drain')));
      const before = await world.conversation();
      const own = pageEcho('provider-1', text, {
        app: APP_ID,
        ...(metadata ? { metadata: await attemptOf(world, sendId) } : {}),
      });
      await server.postMeta(pageDelivery(own));
      await server.postMeta(pageDelivery(own));
      expect(await world.conversation()).toMatchObject({
        owed_since: before['owed_since'],
        oldest_owed_at: before['oldest_owed_at'],
        state: before['state'],
        owner: 'automation',
        last_seq: before['last_seq'],
      });
      expect(
        await world.rows('select send_id, echoed_at is not null as echoed from provider_messages'),
      ).toEqual([{ send_id: sendId, echoed: true }]);
      expect(
        await world.rows(
          'select visible_at is not null as visible from transport_traces where send_id is not null',
        ),
      ).toEqual([{ visible: true }]);
    },
  );

  it.each([
    ['another app', { app: INBOX_APP }],
    ['no app', {}],
  ])(
    'of %s was written by a person: takeover, debt settled, audit, nothing automatic [IN7] [T3] [INV-15]',
    async (_name, by) => {
      await server.postMeta(pageDelivery(pageMessage('m_1', 'My sink leaks')));
      const { sendId, conversationId } = await draftAnswer(world);
      await server.postMeta(pageDelivery(pageEcho('m_e', 'On my way!', by)));
      await world.activities.deliver({ conversationId, sendId });
      expect(world.provider.calls).toEqual([]);
      expect(await world.conversation()).toMatchObject({
        owner: 'person',
        state: 'paused',
        owed_since: null,
        next_due_at: null,
      });
      expect(await settlements()).toEqual([
        { seq: 1, author: 'lead', settlement: 'person', reason: 'answered_in_provider_app' },
        { seq: 2, author: 'native', settlement: null, reason: null },
      ]);
      expect(await world.rows('select state, end_reason from outbox')).toEqual([
        { state: 'cancelled', end_reason: 'person_owns' },
      ]);
      expect(await world.rows('select type, reason from takeover_events order by seq')).toEqual([
        { type: 'session.started', reason: 'operator_claimed' },
        { type: 'takeover.claimed', reason: 'operator_claimed' },
      ]);
    },
  );

  it('of the owner in the phone app of WhatsApp takes over and settles too [IN7]', async () => {
    await server.postMeta(
      whatsAppDelivery({ messages: [whatsAppText('wamid.1', 'My sink leaks')] }),
    );
    const echo = { ...whatsAppText('wamid.2', 'On my way!', '13125550100'), to: '13125550142' };
    await server.postMeta(whatsAppDelivery({ message_echoes: [echo] }, 'smb_message_echoes'));
    expect(await world.conversation()).toMatchObject({ owner: 'person', owed_since: null });
    expect(await webhooks.count('leads')).toBe(1);
  });

  it('that comes twice takes over once [IN7] [INV-2]', async () => {
    await server.postMeta(pageDelivery(pageMessage('m_1', 'My sink leaks')));
    const payload = pageDelivery(pageEcho('m_e', 'On my way!'));
    await Promise.all([1, 2, 3].map(() => server.postMeta(payload)));
    expect(await webhooks.count('takeover_events')).toBe(2);
    expect((await settlements()).map(({ author }) => author)).toEqual(['lead', 'native']);
  });

  describe('on Instagram without an author', () => {
    const lead = () => server.postMeta(instagramDelivery(instagramMessage('m_1', 'My sink leaks')));
    const echo = (text: string) => server.postMeta(instagramDelivery(instagramEcho('m_e', text)));

    it('with the text of a send in flight is a confirmation that waits for its record [IN7]', async () => {
      await lead();
      world.provider.next(async (request) => {
        await echo(request.text);
        return { kind: 'accepted', providerMessageId: 'm_e' };
      });
      const { sendId } = await answer(world);
      expect(await world.conversation()).toMatchObject({ owner: 'automation', owed_since: null });
      expect(await world.rows('select id, state from outbox')).toEqual([
        { id: sendId, state: 'accepted' },
      ]);
      expect(await world.rows('select send_id from provider_messages')).toEqual([
        { send_id: sendId },
      ]);
    });

    it('with the text of a send accepted under a minute ago is a confirmation [IN7]', async () => {
      await lead();
      const { text } = await answer(world);
      await ageAttempts(world, 55);
      await echo(text);
      expect(await world.conversation()).toMatchObject({ owner: 'automation' });
    });

    it('with the text of a send accepted over a minute ago is a person’s [IN7]', async () => {
      await lead();
      const { text } = await answer(world);
      await ageAttempts(world, 61);
      await echo(text);
      expect(await world.conversation()).toMatchObject({ owner: 'person' });
    });

    it('with any other text is a person’s, and the debt is settled [IN7]', async () => {
      await lead();
      await draftAnswer(world);
      await echo('On my way!');
      expect(await world.conversation()).toMatchObject({ owner: 'person', owed_since: null });
      expect((await settlements())[0]).toMatchObject({ settlement: 'person' });
    });

    it('with the text of an unknown delivery proves it: settled, item closed, follow-ups due [IN7] [C6]', async () => {
      await lead();
      const { text, sendId } = await answerIntoTheUnknown(world);
      expect(await world.rows('select state from outbox')).toEqual([{ state: 'delivery_unknown' }]);
      await echo(text);
      expect(await world.rows('select state, provider_message_id from outbox')).toEqual([
        { state: 'accepted', provider_message_id: 'm_e' },
      ]);
      expect((await settlements())[0]).toMatchObject({ settlement: 'reply', reason: 'answer' });
      expect(
        await world.rows('select resolution, send_id = $1 as ours from work_items', [sendId]),
      ).toEqual([{ resolution: 'proven_by_echo', ours: true }]);
      const [first] = await world.rows(
        `select abs(extract(epoch from c.next_due_at - s.due_at)) < 1 as due from conversations c
         join follow_up_steps s on s.conversation_id = c.id where s.step = 1`,
      );
      expect(first).toEqual({ due: true });
      expect(server.woken.at(-1)?.channel).toBe('instagram');
    });
  });

  it('with the id of our own send is ours, whatever app it names [IN7] [INV-2]', async () => {
    await server.postMeta(pageDelivery(pageMessage('m_1', 'My sink leaks')));
    const { text } = await answer(world);
    await server.postMeta(pageDelivery(pageEcho('provider-1', text, { app: INBOX_APP })));
    expect(await world.conversation()).toMatchObject({ owner: 'automation', last_seq: 2 });
    expect(await webhooks.count('work_items')).toBe(0);
  });

  it('that proves an unknown delivery and a message in one batch: both count, in their order [IN7] [C6]', async () => {
    await server.postMeta(instagramDelivery(instagramMessage('m_1', 'My sink leaks')));
    const { text } = await answerIntoTheUnknown(world);
    await server.postMeta(
      instagramDelivery(instagramEcho('m_e', text), instagramMessage('m_2', 'Thanks! When?')),
    );
    expect((await settlements()).map(({ author, settlement }) => [author, settlement])).toEqual([
      ['lead', 'reply'],
      ['automation', null],
      ['lead', null],
    ]);
    expect(await world.conversation()).toMatchObject({ state: 'replied', last_inbound_seq: 3 });
  });

  it('before a message in one batch: the older debt is the person’s answer, the newer message waits in an item [IN7] [INV-6] [T6]', async () => {
    await server.postMeta(pageDelivery(pageMessage('m_1', 'My sink leaks')));
    const payload = pageDelivery(
      pageEcho('m_e', 'On my way!'),
      pageMessage('m_2', 'Please ring the bell twice'),
    );
    await server.postMeta(payload);
    expect((await settlements()).map(({ settlement }) => settlement)).toEqual([
      'person',
      null,
      'work-item',
    ]);
    expect(await handoffs()).toEqual([{ newest_seq: 3, open: true }]);
    const due = await world.rows(
      `select c.owed_since, abs(extract(epoch from c.next_due_at - w.next_escalation_at)) < 1 as due
       from conversations c join work_items w on w.conversation_id = c.id`,
    );
    expect(due).toEqual([{ owed_since: null, due: true }]);
  });

  it('after a message in one batch answers it [IN7] [INV-6]', async () => {
    const payload = pageDelivery(
      pageMessage('m_1', 'My sink leaks'),
      pageEcho('m_e', 'On my way!'),
    );
    await server.postMeta(payload);
    expect((await settlements()).map(({ settlement }) => settlement)).toEqual(['person', null]);
    expect(await world.conversation()).toMatchObject({ owed_since: null, owner: 'person' });
    expect(await handoffs()).toEqual([]);
  });

  it('answers an open handoff, and a message behind it in the batch opens the next [IN7] [T6]', async () => {
    await server.postMeta(pageDelivery(pageMessage('m_1', 'My sink leaks')));
    await server.postMeta(pageDelivery(pageEcho('m_e1', 'On my way!')));
    await server.postMeta(pageDelivery(pageMessage('m_2', 'Ring twice')));
    const payload = pageDelivery(
      pageEcho('m_e2', 'I will'),
      pageMessage('m_3', 'And mind the dog'),
    );
    await server.postMeta(payload);
    expect(await handoffs()).toEqual([
      { newest_seq: 3, open: false },
      { newest_seq: 5, open: true },
    ]);
    const [last] = await world.rows(
      `select w.resolved_at is null as open from messages m
       join work_items w on w.id = m.settlement_ref where m.seq = 5`,
    );
    expect(last).toEqual({ open: true });
  });
});
