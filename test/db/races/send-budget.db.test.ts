import { newId } from '../../../db/new-id';
import { runUntilIdle } from '../../support/run-until-idle';
import { calledFor, sendsOf } from '../../support/sends';
import { makeWorld, type World } from '../../support/world';
import {
  calledUntilRest,
  conversationOn,
  queuedAnswer,
  queuedFollowUp,
  queueFollowUp,
  writeOnWhatsApp,
} from './scene';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

interface Earlier {
  readonly count: number;
  readonly purpose: string;
  /** How long before the gate the newest of them was permitted, in milliseconds. */
  readonly ageMs: number;
  readonly refused?: boolean;
}

describe('the send breaker', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  /** Attempts to the one address that there is, as if they had passed the gate earlier. */
  async function attemptsBefore({ count, purpose, ageMs, refused = false }: Earlier) {
    for (let index = 0; index < count; index += 1) {
      const attemptId = newId('att');
      const at = new Date(world.clock.epochMs - ageMs).toISOString();
      await world.rows(
        `with attempted as (
           insert into send_attempts (id, business_id, send_id, conversation_id, address_id, purpose,
             number, decision_id, not_before, conversation_version, saw_seq, started_at)
           select $1, business_id, $2, 'earlier', id, $3, 1, $5, $4, 1, 1, $4 from addresses
           returning business_id)
         insert into send_decisions (id, business_id, send_id, not_before, reason, policy_version,
           evaluated_at, inputs, cancel_on_inbound)
         select $5, business_id, $2, $4, 'immediate-first-response', 'earlier', $4, '{}', true
         from attempted`,
        [attemptId, newId('snd'), purpose, at, newId('dec')],
      );
      if (!refused) continue;
      await world.rows(
        `insert into send_outcomes (attempt_id, business_id, send_id, outcome, evidence, recorded_at)
         select id, business_id, send_id, 'not-accepted', 'response', started_at
         from send_attempts where id = $1`,
        [attemptId],
      );
    }
  }

  /** An answer that is delivered one minute after the lead wrote, behind earlier attempts. */
  async function answerBehind(...earlier: readonly Earlier[]): Promise<string> {
    const send = await queuedAnswer(world);
    world.clock.advance(MINUTE_MS);
    for (const attempts of earlier) await attemptsBefore(attempts);
    await world.activities.deliver(send);
    return send.conversationId;
  }

  it.each<[string, 'sent' | 'refused', Earlier]>([
    ['one automatic send since', 'sent', { count: 1, purpose: 'answer', ageMs: SECOND_MS }],
    ['two automatic sends since', 'refused', { count: 2, purpose: 'answer', ageMs: SECOND_MS }],
    ['two, just as it came', 'refused', { count: 2, purpose: 'answer', ageMs: MINUTE_MS }],
    ['two before it came', 'sent', { count: 2, purpose: 'answer', ageMs: MINUTE_MS + 1 }],
    ['two that were refused', 'sent', { count: 2, purpose: 'answer', ageMs: 1, refused: true }],
    ['a follow-up since', 'sent', { count: 1, purpose: 'follow-up', ageMs: SECOND_MS }],
    ['messages of staff since', 'sent', { count: 2, purpose: 'staff', ageMs: SECOND_MS }],
  ])('counts since the last message; an answer behind %s is %s [INV-17b]', async (...row) => {
    const [, fate, earlier] = row;
    await answerBehind(earlier);
    expect(await calledFor(world)).toHaveLength(fate === 'sent' ? 1 : 0);
  });

  it.each<[string, 'sent' | 'refused', Earlier[]]>([
    ['19 in ten minutes', 'sent', [staff(19, 0)]],
    ['20 in ten minutes', 'refused', [staff(20, 10 * MINUTE_MS - 1)]],
    ['20 ten minutes ago', 'sent', [staff(20, 10 * MINUTE_MS)]],
    ['59 in an hour', 'sent', [staff(20, HOUR_MS - 1), staff(39, 30 * MINUTE_MS)]],
    ['60 in an hour', 'refused', [staff(20, HOUR_MS - 1), staff(40, 30 * MINUTE_MS)]],
    ['60, some an hour ago', 'sent', [staff(20, HOUR_MS), staff(40, 30 * MINUTE_MS)]],
    ['119 in a day', 'sent', [staff(60, DAY_MS - 1), staff(59, 12 * HOUR_MS)]],
    ['120 in a day', 'refused', [staff(60, DAY_MS - 1), staff(60, 12 * HOUR_MS)]],
    ['120, some a day ago', 'sent', [staff(60, DAY_MS), staff(60, 12 * HOUR_MS)]],
  ])('trips on sends of any cause: an answer behind %s is %s [INV-17b]', async (...row) => {
    const [, fate, earlier] = row;
    await answerBehind(...earlier);
    expect(await calledFor(world)).toHaveLength(fate === 'sent' ? 1 : 0);
    await forgetEarlier();
  });

  it('gives an owed answer to a person when it trips, in the gate’s transaction [INV-17b] [T6]', async () => {
    const conversationId = await answerBehind(staff(20, 0));
    const together = await world.rows(
      `select o.state, o.end_reason, w.kind, o.xmin::text = w.xmin::text as one_commit
       from outbox o, work_items w`,
    );
    expect(together).toEqual([
      { state: 'cancelled', end_reason: 'send_budget', kind: 'handoff', one_commit: true },
    ]);
    expect(await calledUntilRest(world, conversationId)).toEqual([]);
  });

  // Raced: two sends to one address, on two channels, for the last place in the budget.
  // Order: none; both workers run at once and meet in the address's row.
  // Must hold: one leaves.
  it('lets one of two sends at once have the last place [INV-17b]', async () => {
    await world.write({ text: 'My sink leaks' });
    await writeOnWhatsApp(world, { text: 'My sink leaks' });
    const ids = [await conversationOn(world, 'sms'), await conversationOn(world, 'whatsapp')];
    for (const conversationId of ids) await world.activities.takeTurn({ conversationId });
    await attemptsBefore(staff(19, 0));
    const sends = await world.rows('select id, conversation_id from outbox');
    await Promise.all(
      sends.map((send) =>
        world.activities.deliver({
          conversationId: String(send['conversation_id']),
          sendId: String(send['id']),
        }),
      ),
    );
    expect((await sendsOf(world)).map(({ state }) => state).sort()).toEqual([
      'accepted',
      'cancelled',
    ]);
    expect(world.provider.calls).toHaveLength(1);
  });

  it('lets one follow-up a day reach a person, and a second is for a person to make [INV-17b]', async () => {
    await world.write({ text: 'My sink leaks' });
    await writeOnWhatsApp(world, { text: 'My sink leaks' });
    const ids = [await conversationOn(world, 'sms'), await conversationOn(world, 'whatsapp')];
    await runUntilIdle(world, ids, { forMs: 0 });
    for (const id of ids) await world.activities.deliver(await queueFollowUp(world, id));
    expect(await sendsOf(world, 'follow-up')).toEqual([
      expect.objectContaining({ state: 'accepted' }),
      expect.objectContaining({ state: 'cancelled', reason: 'send_budget' }),
    ]);
    expect(await world.rows('select kind, reason from work_items')).toEqual([
      { kind: 'follow-up-by-hand', reason: 'send_budget' },
    ]);
  });

  it('never stops the three follow-ups of one plan, which are days apart [INV-17b] [INV-11]', async () => {
    const { conversationId } = await queuedFollowUp(world);
    expect(await calledUntilRest(world, conversationId)).toEqual([
      'answer',
      ...Array<string>(3).fill('follow-up'),
    ]);
  });

  /** What a test made up is no state that the product can reach: the invariants need not hold. */
  async function forgetEarlier(): Promise<void> {
    const client = await world.database.owner.connect();
    await client.query("set session_replication_role = 'replica'");
    await client.query("delete from send_attempts where conversation_id = 'earlier'");
    await client.query("set session_replication_role = 'origin'");
    client.release();
  }
});

function staff(count: number, ageMs: number): Earlier {
  return { count, purpose: 'staff', ageMs };
}
