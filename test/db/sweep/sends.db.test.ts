import { makeSweeper, openItems, type Sweeper } from '../../support/sweeping';
import { runUntilIdle } from '../../support/run-until-idle';
import { makeWorld, type World } from '../../support/world';
import { actOnItem, draftedLead, itemsOf } from '../commands/scene';
import { calledUntilRest, queuedAnswer, queuedFollowUp } from '../races/scene';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('the sweep of sends that no debt watches', () => {
  let world: World;
  let sweeper: Sweeper;
  beforeAll(async () => {
    world = await makeWorld();
  });
  beforeEach(() => {
    sweeper = makeSweeper(world);
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const swept = async (milliseconds: number) => {
    const { passed, ...counts } = await sweeper.sweepAfter(milliseconds);
    return Object.entries(counts).flatMap(([did, count]) => (count > 0 ? [`${did} ${count}`] : []));
  };

  it('wakes a follow-up three minutes past its notBefore, and shows it to a person past ten [T4]', async () => {
    const { conversationId } = await queuedFollowUp(world);
    expect(await swept(3 * MINUTE)).toEqual([]);
    expect(await swept(1)).toEqual(['wake 1']);
    expect(sweeper.woken.map(({ id }) => id)).toEqual([conversationId]);
    expect(await swept(7 * MINUTE - 1)).toEqual(['wake 1']);
    expect(await swept(1)).toEqual(['not-sent 1']);
    expect(await openItems(world)).toEqual([{ kind: 'not-sent', reason: 'not_sent' }]);
    expect(await world.conversation()).toMatchObject({ state: 'active', owner: 'automation' });
    expect(await swept(5 * MINUTE)).toEqual([]);
    expect(sweeper.told.map(({ level }) => level)).toEqual(['warn', 'warn', 'error']);
  });

  it('closes that item once the send has left after all [T4]', async () => {
    const { conversationId, sendId } = await queuedFollowUp(world);
    await swept(11 * MINUTE);
    await world.activities.deliver({ conversationId, sendId });
    expect(await openItems(world)).toEqual([]);
    expect(await world.rows("select resolution from work_items where kind = 'not-sent'")).toEqual([
      { resolution: 'sent' },
    ]);
  });

  it('opens no second item for a send that a person was told of and set aside [T4]', async () => {
    await queuedFollowUp(world);
    await swept(11 * MINUTE);
    await world.rows(
      `update work_items set resolved_at = opened_at, resolved_by = 'support-agent',
         resolution = 'seen', next_escalation_at = null`,
    );
    expect(await swept(MINUTE)).toEqual([]);
  });

  it('gives a follow-up in flight that nobody settled to review [T4] [C6] [INV-8]', async () => {
    const { conversationId, sendId } = await queuedFollowUp(world);
    world.provider.next(() => {
      throw new Error('the worker dies inside the call');
    });
    await expect(world.activities.deliver({ conversationId, sendId })).rejects.toThrow('dies');
    expect(await swept(3 * MINUTE + 1)).toEqual(['wake 1']);
    expect(await swept(MINUTE)).toEqual(['review 1']);
    expect(await openItems(world)).toEqual([{ kind: 'delivery-unknown', reason: 'unsettled' }]);
    const called = await calledUntilRest(world, conversationId);
    expect(called.slice(0, 2)).toEqual(['answer', 'follow-up']);
  });

  it('leaves a draft that waits for a person alone, however late it is [T4] [T3]', async () => {
    const { sendId } = await queuedFollowUp(world);
    await world.rows('update outbox set awaiting_approval = true where id = $1', [sendId]);
    expect(await swept(HOUR)).toEqual([]);
  });

  it('gives a draft that somebody claimed and left to a person, a minute past its hour [T4] [C3] [T3]', async () => {
    const { id } = await draftedLead(world);
    const [approval] = await itemsOf(world);
    const claimed = { command: 'claim-item' } as const;
    expect(await actOnItem(world, String(approval?.['id']), claimed)).toMatchObject({
      kind: 'done',
    });
    expect(await swept(HOUR + MINUTE - 1)).toEqual([]);
    expect(await swept(1)).toEqual(['expired 1']);
    expect(await openItems(world)).toEqual([{ kind: 'handoff', reason: 'draft_expired' }]);
    expect(await world.rows('select state, end_reason from outbox')).toEqual([
      { state: 'cancelled', end_reason: 'draft_expired' },
    ]);
    expect(await calledUntilRest(world, id)).toEqual([]);
  });

  it('ends an answer that expired a minute ago without its workflow, and hands it over [T4] [C3]', async () => {
    const { conversationId } = await queuedAnswer(world);
    // An owed answer of a conversation that the ladder cannot judge yet: its own delay moved it.
    await world.rows("update outbox set expires_at = not_before + interval '5 minutes'");
    expect(await swept(6 * MINUTE - 1)).toEqual([]);
    expect(await swept(1)).toEqual(['expired 1']);
    expect(await openItems(world)).toEqual([{ kind: 'handoff', reason: 'reply_overdue' }]);
    expect(await world.rows('select state, end_reason from outbox')).toEqual([
      { state: 'cancelled', end_reason: 'expired' },
    ]);
    expect(await calledUntilRest(world, conversationId)).toEqual([]);
  });

  it('leaves an expired send to the worker that holds it, and ends it behind the lease [T4] [C3]', async () => {
    const { sendId } = await queuedFollowUp(world);
    await world.rows(
      `update outbox set expires_at = not_before + interval '1 minute', state = 'leased',
         lease_owner = 'worker', lease_until = not_before + interval '2 minutes 30 seconds'
       where id = $1`,
      [sendId],
    );
    expect(await swept(2 * MINUTE + 30_000 - 1)).toEqual([]);
    expect(await swept(1)).toEqual(['expired 1']);
    expect(await openItems(world)).toEqual([]);
  });

  it('goes on with the others where one conversation fails [T4]', async () => {
    await world.write(
      { text: 'My sink leaks', lead: '+13125550111' },
      { text: 'My drain is clogged', lead: '+13125550112' },
    );
    sweeper.onWake = async ({ id }) => {
      const first = await world.conversation('+13125550111');
      if (id === first.id) throw new Error('this one fails');
      await runUntilIdle(world, id, { forMs: 0 });
      return true;
    };
    expect(await swept(4 * MINUTE)).toEqual(['replay 2', 'failed 1']);
    expect(world.provider.accepted).toHaveLength(1);
    expect(sweeper.told.filter(({ level }) => level === 'error')).toHaveLength(1);
  });
});
