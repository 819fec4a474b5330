import type { Pool } from 'pg';
import { openPool } from '../../../db/database';
import { roleUrl } from '../../../db/migrate';
import { failWrites, startCommitProxy, whileHeld } from '../../support/postgres-faults';
import {
  makeWebhookWorld,
  metaBytes,
  pageDelivery,
  pageMessage,
  startWebhooks,
  type Answer,
  type WebhookServer,
  type WebhookWorld,
} from '../../support/webhooks';

const delivery = metaBytes(pageDelivery(pageMessage('m_1', 'My water heater leaks')));

describe('a 2xx', () => {
  let webhooks: WebhookWorld;
  let server: WebhookServer;
  beforeAll(async () => {
    webhooks = await makeWebhookWorld();
    server = webhooks.server;
  });
  afterEach(() => webhooks.reset());
  afterAll(() => webhooks.close());

  const counts = async () => ({
    raw: await webhooks.count('raw_deliveries'),
    messages: await webhooks.count('messages'),
    duplicates: await webhooks.count('receipt_duplicates'),
  });

  it.each(['before-commit', 'in-commit'] as const)(
    'never comes while the transaction stands %s: the answer waits for the commit [IN2] [T1]',
    async (place) => {
      let answered = false;
      const answer = await whileHeld(webhooks.world.database, place, async (held) => {
        const posted = server.postMeta(delivery).finally(() => {
          answered = true;
        });
        await held.waiting();
        // A whole other exchange with the same server: an early answer would have come before it.
        expect((await server.get('/webhooks/nowhere')).status).toBe(404);
        expect(answered).toBe(false);
        expect(await counts()).toMatchObject({ raw: 0, messages: 0 });
        expect(server.woken).toEqual([]);
        await held.release();
        return posted;
      });
      expect(answer).toMatchObject({ status: 200 });
      expect(await counts()).toEqual({ raw: 1, messages: 1, duplicates: 0 });
    },
  );

  it.each(['before-commit', 'in-commit'] as const)(
    'never comes where the connection ends %s: 503, and the retry is stored once [IN2] [IN6]',
    async (place) => {
      const answer = await whileHeld(webhooks.world.database, place, async (held) => {
        const posted = server.postMeta(delivery);
        await held.terminate();
        return posted;
      });
      expect(answer).toMatchObject({ status: 503, body: '' });
      expect(await counts()).toEqual({ raw: 0, messages: 0, duplicates: 0 });
      expect(await server.postMeta(delivery)).toMatchObject({ status: 200 });
      expect(await counts()).toEqual({ raw: 1, messages: 1, duplicates: 0 });
    },
  );

  it.each(['53100', '53300', '25006', '55P03', '57014', '42501', 'XX000', '40001', '57P01'])(
    'never comes where Postgres refuses with %s: 503, and the retry is stored once [IN4] [IN6]',
    async (sqlState) => {
      const { owner } = webhooks.world.database;
      const mend = await failWrites(owner, { table: 'messages', sqlState });
      const refused = await server.postMeta(delivery).finally(mend);
      expect(refused).toMatchObject({ status: 503 });
      expect(await counts()).toEqual({ raw: 0, messages: 0, duplicates: 0 });
      expect(await server.postMeta(delivery)).toMatchObject({ status: 200 });
      expect(await counts()).toEqual({ raw: 1, messages: 1, duplicates: 0 });
    },
  );

  it.each(['40001', '40P01'])(
    'comes after %s too: the whole transaction is run again, unseen by the provider [IN6]',
    async (sqlState) => {
      const { owner } = webhooks.world.database;
      const mend = await failWrites(owner, { table: 'messages', sqlState, times: 3 });
      const answer = await server.postMeta(delivery).finally(mend);
      expect(answer).toMatchObject({ status: 200 });
      expect(await counts()).toEqual({ raw: 1, messages: 1, duplicates: 0 });
      expect(server.logged).toEqual([]);
    },
  );

  it('comes with the bytes kept and a person told, where only the parts cannot be stored [IN4]', async () => {
    const { owner } = webhooks.world.database;
    const mend = await failWrites(owner, { table: 'messages', sqlState: '23514' });
    const answer = await server.postMeta(delivery).finally(mend);
    expect(answer).toMatchObject({ status: 200 });
    expect(await counts()).toEqual({ raw: 1, messages: 0, duplicates: 0 });
    expect(
      await webhooks.world.rows(`select r.quarantine_reason, w.kind, w.reason, d.body
        from webhook_receipts r join work_items w using (raw_id) join raw_deliveries d on d.id = raw_id`),
    ).toEqual([
      {
        quarantine_reason: 'could_not_be_stored_in_parts',
        kind: 'quarantine',
        reason: 'unreadable_element',
        body: delivery,
      },
    ]);
  });

  it('is durable whatever the server is set to: synchronous_commit is on [IN2]', async () => {
    const { owner, ownerUrl, rolePassword } = webhooks.world.database;
    const name = new URL(ownerUrl).pathname.slice(1);
    await owner.query(`alter database ${name} set synchronous_commit = off`);
    const pool = onePool(roleUrl(ownerUrl, 'unsilent_service', rolePassword));
    const shown = await pool.query<{ synchronous_commit: string }>('show synchronous_commit');
    await pool.end();
    await owner.query(`alter database ${name} reset synchronous_commit`);
    expect(shown.rows).toEqual([{ synchronous_commit: 'on' }]);
  });
});

/** A pool with a single connection: one that leaked would stop everything. */
function onePool(connectionString: string): Pool {
  return openPool({
    connectionString,
    max: 1,
    applicationName: 'test-one',
    onError: () => undefined,
    answerTimeoutMs: 1_000,
  });
}

describe('a webhook over a single connection', () => {
  let webhooks: WebhookWorld;
  let server: WebhookServer;
  let pool: Pool;
  let target: string;
  beforeAll(async () => {
    webhooks = await makeWebhookWorld();
    const { ownerUrl, rolePassword } = webhooks.world.database;
    target = roleUrl(ownerUrl, 'unsilent_service', rolePassword);
  });
  afterEach(async () => {
    await server.close();
    await pool.end();
    await webhooks.reset();
  });
  afterAll(() => webhooks.close());

  async function open(url: string): Promise<void> {
    pool = onePool(url);
    server = await startWebhooks(pool);
  }

  it.each([
    ['is cut off', 'cut'],
    ['never comes, on a connection that stays open', 'silent'],
  ] as const)(
    'whose COMMIT succeeds but the reply %s is 503, and the retry finds everything stored [IN2] [IN6]',
    async (_name, manner) => {
      const proxy = await startCommitProxy(target);
      await open(proxy.url);
      proxy.eatNextReply(manner);
      const answers: Answer[] = [await server.postMeta(delivery)];
      expect(await webhooks.count('messages')).toBe(1);
      expect(server.woken).toEqual([]);
      answers.push(await server.postMeta(delivery));
      expect(answers.map(({ status }) => status)).toEqual([503, 200]);
      expect(await webhooks.count('messages')).toBe(1);
      expect(await webhooks.count('receipt_duplicates')).toBe(1);
      expect(pool.totalCount).toBe(1);
      await proxy.close();
    },
  );

  it.each(['before-commit', 'in-commit'] as const)(
    'that is ended %s leaves the pool usable [IN2]',
    async (place) => {
      await open(target);
      const answer = await whileHeld(webhooks.world.database, place, async (held) => {
        const posted = server.postMeta(delivery);
        await held.terminate();
        return posted;
      });
      expect(answer).toMatchObject({ status: 503 });
      const later = await Promise.all([server.postMeta(delivery), server.postMeta(delivery)]);
      expect(later.map(({ status }) => status)).toEqual([200, 200]);
      expect(pool.totalCount).toBe(1);
      expect(pool.waitingCount).toBe(0);
    },
  );

  it('survives the end of an idle connection [IN2]', async () => {
    await open(target);
    expect(await server.postMeta(delivery)).toMatchObject({ status: 200 });
    const { owner } = webhooks.world.database;
    const lost = new Promise((resolve) => pool.once('remove', resolve));
    await owner.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'test-one'`,
    );
    await lost;
    expect(await server.postMeta(delivery)).toMatchObject({ status: 200 });
    expect(await webhooks.count('receipt_duplicates')).toBe(1);
  });

  it('is 503 while Postgres cannot be reached, and while every connection is taken [IN4]', async () => {
    const nowhere = new URL(target);
    nowhere.port = '1';
    await open(nowhere.toString());
    expect(await server.postMeta(delivery)).toMatchObject({ status: 503 });
    await server.close();
    await pool.end();
    await open(target);
    const taken = await pool.connect();
    const answer = await server.postMeta(delivery);
    taken.release();
    expect(answer).toMatchObject({ status: 503 });
    expect(await server.postMeta(delivery)).toMatchObject({ status: 200 });
    expect(await webhooks.count('messages')).toBe(1);
  });
});
