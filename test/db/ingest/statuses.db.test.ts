import { answer, answerIntoTheUnknown, attemptOf } from '../../support/answering';
import { blockedOnRow } from '../../support/postgres-faults';
import {
  makeWebhookWorld,
  MESSENGER,
  pageDelivery,
  pageMessage,
  smsParameters,
  SMS,
  whatsAppDelivery,
  whatsAppText,
  type WebhookServer,
  type WebhookWorld,
} from '../../support/webhooks';
import type { World } from '../../support/world';

/** Every order of the given things. */
function ordersOf<Item>(items: readonly Item[]): Item[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, index) =>
    ordersOf([...items.slice(0, index), ...items.slice(index + 1)]).map((rest) => [item, ...rest]),
  );
}

const PROVIDER_ID = 'provider-1';

describe('a delivery status', () => {
  let webhooks: WebhookWorld;
  let server: WebhookServer;
  let world: World;
  beforeAll(async () => {
    webhooks = await makeWebhookWorld();
    ({ server, world } = webhooks);
  });
  afterEach(() => webhooks.reset());
  afterAll(() => webhooks.close());

  const sends = () => world.rows('select state, end_reason from outbox');
  const reported = () =>
    world.rows('select provider_message_id, status, error_code from provider_messages');
  const postStatus = (status: string, attempt?: string) =>
    server.postMeta(
      whatsAppDelivery({
        statuses: [{ id: PROVIDER_ID, status, biz_opaque_callback_data: attempt }],
      }),
    );

  it.each(
    ordersOf(['response', 'sent', 'delivered']).flatMap((order) => [
      { order, by: 'our attempt' },
      { order, by: 'its message id' },
    ]),
  )('ends as delivered in the order $order, found by $by [INV-16]', async ({ order, by }) => {
    await server.postMeta(
      whatsAppDelivery({ messages: [whatsAppText('wamid.1', 'My sink leaks')] }),
    );
    const post = async (status: string) => {
      const [row] = await world.rows('select attempt_id from outbox');
      const attempt = by === 'our attempt' ? String(row?.['attempt_id']) : undefined;
      expect(await postStatus(status, attempt)).toMatchObject({ status: 200 });
    };
    const respondsAt = order.indexOf('response');
    world.provider.next(async (request) => {
      for (const status of order.slice(0, respondsAt)) await post(status);
      return world.provider.accept(request);
    });
    await answer(world);
    for (const status of order.slice(respondsAt + 1)) await post(status);
    expect(await sends()).toEqual([{ state: 'delivered', end_reason: null }]);
    expect(await reported()).toEqual([
      { provider_message_id: PROVIDER_ID, status: 'delivered', error_code: null },
    ]);
    expect(
      await world.rows('select visible_at is not null as visible from transport_traces'),
    ).toEqual([{ visible: true }]);
    expect(await world.conversation()).toMatchObject({ owed_since: null });
  });

  const smsStatus = (status: string, code = '') =>
    attemptOf(world, sendId).then((attempt) =>
      server.postSmsStatus(
        {
          MessageSid: PROVIDER_ID,
          MessageStatus: status,
          From: SMS.externalId,
          To: '+13125550142',
          ErrorCode: code,
        },
        attempt,
      ),
    );
  let sendId = '';

  it.each(ordersOf(['queued', 'sent', 'delivered', 'read']))(
    'never moves down in the order %s, %s, %s, %s [INV-16]',
    async (...order) => {
      await server.postSms(smsParameters('SM1', 'My sink leaks'));
      ({ sendId } = await answer(world));
      for (const status of order) expect(await smsStatus(status)).toMatchObject({ status: 200 });
      expect(await reported()).toEqual([
        { provider_message_id: PROVIDER_ID, status: 'read', error_code: null },
      ]);
      expect(await sends()).toEqual([{ state: 'delivered', end_reason: null }]);
    },
  );

  it.each(ordersOf(['sent', 'failed:30007', 'failed:']))(
    'that failed keeps its code, opens one item and takes the debt in the order %s, %s, %s [INV-16] [T3]',
    async (...order) => {
      await server.postSms(smsParameters('SM1', 'My sink leaks'));
      ({ sendId } = await answer(world));
      for (const entry of order) {
        const [status = '', code] = entry.split(':');
        await smsStatus(status, code);
      }
      expect(await reported()).toEqual([
        { provider_message_id: PROVIDER_ID, status: 'failed', error_code: '30007' },
      ]);
      expect((await sends())[0]).toMatchObject({ state: 'failed' });
      const items = await world.rows('select id, kind, send_id from work_items');
      expect(items).toEqual([{ id: items[0]?.['id'], kind: 'delivery-failed', send_id: sendId }]);
      expect(
        await world.rows('select settlement, settlement_ref from messages where owes'),
      ).toEqual([{ settlement: 'work-item', settlement_ref: items[0]?.['id'] }]);
      await world.activities.takeTurn({ conversationId: (await world.conversation()).id });
      expect(world.provider.calls).toHaveLength(1);
    },
  );

  it('that failed before the response was recorded fails the send once it is [INV-16]', async () => {
    await server.postSms(smsParameters('SM1', 'My sink leaks'));
    world.provider.next(async (request) => {
      const [row] = await world.rows('select id from outbox');
      sendId = String(row?.['id']);
      await smsStatus('failed', '30003');
      return world.provider.accept(request);
    });
    await answer(world);
    expect(await sends()).toEqual([{ state: 'failed', end_reason: '30003' }]);
    expect(await world.rows('select kind, reason from work_items')).toEqual([
      { kind: 'delivery-failed', reason: '30003' },
    ]);
  });

  it('proves an unknown delivery and closes its review [C6] [INV-16]', async () => {
    await server.postSms(smsParameters('SM1', 'My sink leaks'));
    ({ sendId } = await answerIntoTheUnknown(world));
    await smsStatus('delivered');
    expect(await sends()).toMatchObject([{ state: 'delivered' }]);
    expect(await world.rows('select kind, resolution from work_items')).toEqual([
      { kind: 'delivery-unknown', resolution: 'proven_by_status' },
    ]);
    expect(await world.rows('select settlement from messages where owes')).toEqual([
      { settlement: 'reply' },
    ]);
  });

  it('of Messenger without ids counts for what was sent up to its instant [INV-16]', async () => {
    await server.postMeta(pageDelivery(pageMessage('m_1', 'My sink leaks')));
    await answer(world);
    const receipt = (watermark: number) =>
      pageDelivery({
        sender: { id: '8000000000000001' },
        recipient: { id: MESSENGER.externalId },
        delivery: { watermark },
      });
    await server.postMeta(receipt(Date.now() - 60_000));
    expect(await sends()).toEqual([{ state: 'accepted', end_reason: null }]);
    await server.postMeta(receipt(Date.now() + 1_000));
    expect(await sends()).toEqual([{ state: 'delivered', end_reason: null }]);
  });

  it('of somebody else’s message is kept and changes nothing [INV-16]', async () => {
    await postStatus('failed');
    expect(await reported()).toEqual([
      { provider_message_id: PROVIDER_ID, status: 'failed', error_code: null },
    ]);
    expect(await webhooks.count('conversations')).toBe(0);
    expect(await webhooks.count('work_items')).toBe(0);
  });

  it('that names an attempt of another business is kept and proves nothing [INV-16]', async () => {
    await server.postSms(smsParameters('SM1', 'My sink leaks'));
    ({ sendId } = await answerIntoTheUnknown(world));
    const attempt = await attemptOf(world, sendId);
    await world.rows(`insert into businesses (id, name, time_zone, services, policy_version, created_at)
      values ('biz_b', 'Other', 'UTC', '[]', 'p', now()) on conflict do nothing`);
    await world.rows(`insert into accounts (id, business_id, provider, channel, external_id, credentials, created_at)
      values ('acc_b', 'biz_b', 'twilio', 'sms', '+13125550188', '{}', now()) on conflict do nothing`);
    await server.postSmsStatus(
      { MessageSid: 'SM9', MessageStatus: 'delivered', From: '+13125550188', To: '+13125550142' },
      attempt,
    );
    expect(await sends()).toMatchObject([{ state: 'delivery_unknown' }]);
  });

  it('of two conversations in batches of opposite order: the deadlock is retried, both count [IN6] [INV-16]', async () => {
    const leads = ['13125550142', '13125550143'];
    for (const [index, lead] of leads.entries()) {
      const message = whatsAppText(`wamid.${index}`, 'My sink leaks', lead);
      await server.postMeta(whatsAppDelivery({ messages: [message] }));
      const { id: conversationId } = await world.conversation(`+${lead}`);
      await world.activities.takeTurn({ conversationId });
      const [send] = await world.rows('select id from outbox where conversation_id = $1', [
        conversationId,
      ]);
      await world.activities.deliver({ conversationId, sendId: String(send?.['id']) });
    }
    const statuses = (...ids: string[]) => ids.map((id) => ({ id, status: 'delivered' }));
    const reads = (...ids: string[]) => ids.map((id) => ({ id, status: 'read' }));
    const locker = await world.database.owner.connect();
    await locker.query('begin; select from conversations for update');
    const answers = [
      server.postMeta(whatsAppDelivery({ statuses: statuses('provider-1', 'provider-2') })),
      server.postMeta(whatsAppDelivery({ statuses: reads('provider-2', 'provider-1') })),
    ];
    await blockedOnRow(world.database, 2);
    await locker.query('commit');
    locker.release();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200]);
    expect(await world.rows('select status, count(*) from provider_messages group by 1')).toEqual([
      { status: 'read', count: 2 },
    ]);
  });
});
