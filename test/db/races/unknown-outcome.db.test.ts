import type { StatusElement } from '../../../domain/inbound';
import { ATTEMPT_LIMIT_MS } from '../../../domain/limits';
import { ingest } from '../../../db/ingest/ingest';
import { nextEscalation } from '../../support/escalations';
import { prepared, requestOf } from '../../support/inbound';
import { runUntilIdle } from '../../support/run-until-idle';
import { calledFor, sendsOf } from '../../support/sends';
import { makeWorld, type World } from '../../support/world';
import { calledUntilRest, queuedAnswer } from './scene';

describe('an attempt whose outcome is unknown', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  /** An answer whose provider call timed out. */
  async function unknownAnswer() {
    const send = await queuedAnswer(world);
    world.provider.next(() => ({ kind: 'unknown', code: 'timeout' }));
    await world.activities.deliver(send);
    return send;
  }

  const settlements = () =>
    world.rows(
      "select settlement, settlement_reason as reason from messages where direction = 'in' order by seq",
    );
  const items = () => world.rows('select kind, resolution from work_items order by opened_at, id');

  /** A delivery status of the one attempt there is. */
  async function status(word: StatusElement['status'], errorCode: string | null = null) {
    const [attempt] = await world.rows('select id from send_attempts');
    const element: StatusElement = {
      type: 'status',
      path: '$[0]',
      channel: 'sms',
      accountExternalId: '+13125550100',
      eventKey: `status:${word}`,
      stableContent: word,
      source: { at: null, precision: 'none' },
      providerMessageId: 'SM-late',
      status: word,
      attemptRef: String(attempt?.['id']),
      errorCode,
      watermark: null,
    };
    return ingest(world.database.service, requestOf([prepared(element)]), world.clock.iso);
  }

  it('is judged by nobody before its limit of 20 s, and then read back once [C6] [INV-10]', async () => {
    const send = await unknownAnswer();
    const readBack = jest.spyOn(world.dependencies.senders.sms, 'readBack');
    const waits = await world.activities.resolve(send);
    expect(waits).toMatchObject({
      agenda: { owed: true, items: [{ step: { kind: 'resolve' }, dueInMs: 20_000 }] },
    });
    world.clock.advance(ATTEMPT_LIMIT_MS - 1);
    await world.activities.resolve(send);
    expect(readBack).not.toHaveBeenCalled();
    expect(await sendsOf(world)).toEqual([expect.objectContaining({ state: 'sending' })]);
    world.clock.advance(1);
    await world.activities.resolve(send);
    expect(readBack).toHaveBeenCalledTimes(1);
    readBack.mockRestore();
    expect(await calledUntilRest(world, send.conversationId)).toEqual(['answer']);
  });

  it('counts as sent where the channel shows it, and settles its debt [C6] [T3]', async () => {
    const { conversationId } = await unknownAnswer();
    world.provider.readBackAnswer = { kind: 'found', providerMessageId: 'SM-found' };
    await runUntilIdle(world, conversationId, { forMs: ATTEMPT_LIMIT_MS });
    expect(await sendsOf(world)).toEqual([expect.objectContaining({ state: 'accepted' })]);
    expect(await settlements()).toEqual([{ settlement: 'reply', reason: 'answer' }]);
    expect(await items()).toEqual([]);
    const outcomes = await world.rows(
      'select outcome, evidence, provider_message_id as id from send_outcomes order by ordinal',
    );
    expect(outcomes).toEqual([
      { outcome: 'unknown', evidence: 'response', id: null },
      { outcome: 'accepted', evidence: 'read-back', id: 'SM-found' },
    ]);
    expect(await calledFor(world)).toEqual(['answer']);
  });

  it.each([
    ['absent', { kind: 'absent' }, 'absent_on_read_back'],
    ['unreadable', { kind: 'unavailable', code: 'read_timeout' }, 'read_timeout'],
  ] as const)(
    'goes to review where the channel’s answer is %s; the debt settles to the item and nothing is resent [C6]',
    async (_name, answer, reason) => {
      const { conversationId } = await unknownAnswer();
      world.provider.readBackAnswer = answer;
      expect(await calledUntilRest(world, conversationId)).toEqual(['answer']);
      expect(await sendsOf(world)).toEqual([
        expect.objectContaining({ state: 'delivery_unknown', reason }),
      ]);
      expect(await items()).toEqual([{ kind: 'delivery-unknown', resolution: null }]);
      expect(await settlements()).toEqual([
        { settlement: 'work-item', reason: 'delivery_unknown' },
      ]);
      expect(await world.conversation()).toMatchObject({
        state: 'active',
        owner: 'automation',
        owed_since: null,
        next_due_at: await nextEscalation(world),
      });
    },
  );

  it('does not silence the lead: a newer message gets its own turn and answer [C6] [T3]', async () => {
    const { conversationId } = await unknownAnswer();
    await runUntilIdle(world, conversationId, { forMs: ATTEMPT_LIMIT_MS });
    await world.write({ text: 'Hello?' });
    expect(await calledUntilRest(world, conversationId)).toEqual(['answer', 'answer']);
    expect(await settlements()).toEqual([
      { settlement: 'work-item', reason: 'delivery_unknown' },
      { settlement: 'reply', reason: 'answer' },
    ]);
  });

  it('is proven by a late status, which closes the item and moves the debt to the reply [C6]', async () => {
    const { conversationId } = await unknownAnswer();
    await runUntilIdle(world, conversationId, { forMs: ATTEMPT_LIMIT_MS });
    await status('delivered');
    expect(await sendsOf(world)).toEqual([expect.objectContaining({ state: 'delivered' })]);
    expect(await items()).toEqual([{ kind: 'delivery-unknown', resolution: 'proven_by_status' }]);
    expect(await settlements()).toEqual([{ settlement: 'reply', reason: 'answer' }]);
    const thread = await world.rows('select direction, author from messages order by seq');
    expect(thread).toEqual([
      { direction: 'in', author: 'lead' },
      { direction: 'out', author: 'automation' },
    ]);
    await calledUntilRest(world, conversationId);
    expect((await calledFor(world)).filter((purpose) => purpose === 'answer')).toHaveLength(1);
  });

  it('is closed by a late failure too: the review ends and the failure has its own item [C6] [INV-16]', async () => {
    const { conversationId } = await unknownAnswer();
    await runUntilIdle(world, conversationId, { forMs: ATTEMPT_LIMIT_MS });
    await status('failed', '30003');
    expect(await sendsOf(world)).toEqual([
      expect.objectContaining({ state: 'failed', reason: '30003' }),
    ]);
    expect(await items()).toEqual([
      expect.objectContaining({ kind: 'delivery-unknown', resolution: expect.any(String) }),
      { kind: 'delivery-failed', resolution: null },
    ]);
    expect(await settlements()).toEqual([{ settlement: 'work-item', reason: 'delivery_failed' }]);
    await calledUntilRest(world, conversationId);
    expect((await calledFor(world)).filter((purpose) => purpose === 'answer')).toHaveLength(1);
  });

  it('is proven by a status that came before its limit, without asking the channel [C6] [INV-10]', async () => {
    const { conversationId } = await unknownAnswer();
    await status('sent');
    const readBack = jest.spyOn(world.dependencies.senders.sms, 'readBack');
    await runUntilIdle(world, conversationId, { forMs: ATTEMPT_LIMIT_MS });
    expect(readBack).not.toHaveBeenCalled();
    readBack.mockRestore();
    expect(await sendsOf(world)).toEqual([expect.objectContaining({ state: 'accepted' })]);
    expect(await settlements()).toEqual([{ settlement: 'reply', reason: 'answer' }]);
    expect(await calledFor(world)).toEqual(['answer']);
  });
});
