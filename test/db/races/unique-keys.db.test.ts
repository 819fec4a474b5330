import { lockConversation } from '../../../db/conversations';
import { inTransaction } from '../../../db/database';
import { queueSend } from '../../../db/outbox';
import { sendStaffReply } from '../../../domain/staff-decisions';
import { ALWAYS_OPEN, storeRules } from '../../support/policies';
import { makeWorld, type World } from '../../support/world';
import { answeredLead } from './scene';

describe('one logical send', () => {
  let world: World;
  let conversationId: string;
  beforeAll(async () => {
    world = await makeWorld();
  });
  beforeEach(async () => {
    conversationId = await answeredLead(world);
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  /** Queues what one event caused, whoever comes; true where this call queued it. */
  async function queue(): Promise<boolean> {
    const sendId = await inTransaction(world.database.service, async (client) => {
      const locked = await lockConversation(client, conversationId, world.clock.iso);
      if (locked === null) throw new Error('the conversation is there');
      return queueSend(client, locked.conversation, {
        purpose: 'staff',
        body: 'A colleague will call you.',
        verdict: null,
        sourceEvent: 'command:of-this-test',
        coversSeq: locked.conversation.lastSeq,
        token: null,
        decision: sendStaffReply(locked.nowMs, 'agent'),
        turn: null,
        at: locked.now,
      });
    });
    return sendId !== null;
  }

  const statesOf = async () => {
    const rows = await world.rows(
      `select state from outbox where source_event = 'command:of-this-test' order by id`,
    );
    return rows.map(({ state }) => state);
  };

  // Raced: ten writers with the send of one event. Must hold: its key lets one row in.
  it('is one row, however many queue it at once [C5] [INV-10]', async () => {
    const queued = await Promise.all(Array.from({ length: 10 }, queue));
    expect(queued.filter(Boolean)).toHaveLength(1);
    expect(await statesOf()).toEqual(['queued']);
  });

  it('that was cancelled is not made anew under the same rules [C5] [INV-10]', async () => {
    await queue();
    await world.rows(`update outbox set state = 'cancelled', end_reason = 'opted_out',
      ended_at = created_at where state = 'queued'`);
    expect(await queue()).toBe(false);
    expect(await statesOf()).toEqual(['cancelled']);
  });

  it('that is alive has no second one under other rules [C5] [INV-10]', async () => {
    await queue();
    world.clock.advance(1000);
    await storeRules(world, ALWAYS_OPEN);
    expect(await queue()).toBe(false);
    expect(await statesOf()).toEqual(['queued']);
  });
});
