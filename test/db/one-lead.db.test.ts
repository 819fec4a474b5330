import { keyedHash } from '../../db/digest';
import { findOverdueAttempt } from '../../db/attempts';
import { ATTEMPT_LIMIT_MS } from '../../domain/limits';
import { makeWorld, type World } from '../support/world';

describe('one lead, answered', () => {
  let world: World;
  const logged: Readonly<Record<string, unknown>>[] = [];
  beforeAll(async () => {
    const log = {
      info: (fields: Readonly<Record<string, unknown>>) => void logged.push(fields),
      warn: () => undefined,
      error: () => undefined,
    };
    world = await makeWorld({ log });
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  it('a message owes with its transaction, its turn is sent once and settles it [T1] [T3] [S3]', async () => {
    const { activities } = world;
    await world.write({ text: 'My water heater leaks' });
    const { id } = await world.conversation();
    const afterTurn = await activities.takeTurn({ conversationId: id });
    const step = afterTurn.items[0]?.step;
    expect(step).toMatchObject({ kind: 'deliver' });
    if (step?.kind !== 'deliver') throw new Error('nothing to deliver');
    const delivered = await activities.deliver({ conversationId: id, sendId: step.sendId });
    expect(delivered).toMatchObject({ kind: 'recorded', agenda: { owed: false } });
    expect(world.provider.accepted).toHaveLength(1);
    const [message] = await world.rows(
      "select settlement, settlement_ref from messages where direction = 'in'",
    );
    expect(message).toEqual({ settlement: 'reply', settlement_ref: step.sendId });
    const again = await activities.deliver({ conversationId: id, sendId: step.sendId });
    expect(again).toMatchObject({ kind: 'recorded' });
    expect(world.provider.calls).toHaveLength(1);
  });

  it('the intent, its key and its decision are committed before the provider is called [O2] [C5] [L1]', async () => {
    const { activities } = world;
    await world.write({ text: 'My drain is slow' });
    const { id } = await world.conversation();
    const { items } = await activities.takeTurn({ conversationId: id });
    const step = items[0]?.step;
    if (step?.kind !== 'deliver') throw new Error('nothing to deliver');
    let seen: unknown;
    world.provider.next(async (request) => {
      [seen] = await world.rows(
        `select o.state, length(o.idempotency_key) as key, d.reason, a.number, a.id
         from outbox o join send_decisions d on d.id = o.decision_id
         join send_attempts a on a.id = o.attempt_id`,
      );
      return world.provider.accept(request);
    });
    await activities.deliver({ conversationId: id, sendId: step.sendId });
    expect(seen).toEqual({
      state: 'sending',
      key: 64,
      reason: 'immediate-first-response',
      number: 1,
      id: world.provider.calls[0]?.attemptId,
    });
    const [trace] = await world.rows(
      `select outcome, job_claimed_at <= decision_ready_at as ordered,
         decision_ready_at <= provider_acknowledged_at as acknowledged from transport_traces`,
    );
    expect(trace).toEqual({ outcome: 'sent', ordered: true, acknowledged: true });
  });

  it('an answered message leaves one structured latency record, with ids and durations only [L1] [C8]', async () => {
    logged.length = 0;
    const { activities } = world;
    await world.write({ text: 'My canary drain', lead: '+13125550188' });
    const { id } = await world.conversation();
    const { items } = await activities.takeTurn({ conversationId: id });
    const step = items[0]?.step;
    if (step?.kind !== 'deliver') throw new Error('nothing to deliver');
    await activities.deliver({ conversationId: id, sendId: step.sendId });
    expect(logged).toEqual([
      {
        trace_id: expect.stringMatching(/^rcp_/),
        source: 'sms',
        source_event_id_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        received_at: expect.any(String),
        normalize_ms: 1,
        decision_ms: expect.any(Number),
        send_ms: expect.any(Number),
        internal_total_ms: expect.any(Number),
        send_attempts: 1,
        outcome: 'sent',
        send_id: step.sendId,
        duplicate: false,
      },
    ]);
    expect(JSON.stringify(logged)).not.toMatch(/canary|5550188/);
    const [receipt] = await world.rows('select key_sha256 from webhook_receipts where id = $1', [
      logged[0]?.['trace_id'],
    ]);
    const digest = String(receipt?.['key_sha256']);
    expect(logged[0]?.['source_event_id_hash']).toBe(keyedHash('hash-key-of-tests', digest));
    expect(JSON.stringify(logged)).not.toContain(digest);
  });

  it('a read-back asks for the addresses that the gate sent to, and for no other of the person [C6]', async () => {
    const { activities, clock, database, provider } = world;
    await world.write({ text: 'My tap drips', lead: '+13125550189' });
    const { id } = await world.conversation();
    await world.rows(
      `insert into addresses (id, business_id, lead_id, kind, value, created_at)
       select 'adr_of_another_page', business_id, lead_id, 'messenger', '999/7', created_at
       from addresses where value = '+13125550189'`,
    );
    const { items } = await activities.takeTurn({ conversationId: id });
    const step = items[0]?.step;
    if (step?.kind !== 'deliver') throw new Error('nothing to deliver');
    provider.next(() => ({ kind: 'unknown', code: 'read_timeout' }));
    await activities.deliver({ conversationId: id, sendId: step.sendId });
    clock.advance(ATTEMPT_LIMIT_MS);
    const attempt = await findOverdueAttempt(database.service, step.sendId, clock.iso);
    expect(attempt?.to).toEqual([{ kind: 'phone', value: '+13125550189' }]);
    expect(attempt?.to).toEqual(provider.calls[0]?.to);
  });
});
