import { inTransaction } from '../../../db/database';
import { openWorkItem } from '../../../db/work-items';
import { DEMO_ACCOUNTS, DEMO_BUSINESS } from '../../../dev/demo';
import type { WorkItemKind } from '../../../domain/work-items';
import { runUntilIdle } from '../../support/run-until-idle';
import { calledFor } from '../../support/sends';
import { makeWorld, type World } from '../../support/world';
import { act, actOnItem, draftedLead, itemsOf, settlementsOf, takeoversOf } from './scene';

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterEach(() => world.reset());
afterAll(() => world.close());

const CLAIM = { command: 'claim-item' } as const;
const RESOLVE = { command: 'resolve-item', resolution: 'no_answer_needed' } as const;

/** A lead who waits with an open handoff that nobody claimed. */
async function handedOver(): Promise<{ id: string; item: string }> {
  await world.write({ text: 'My sink leaks' });
  const { id } = await world.conversation();
  await act(world, id, { command: 'pause' });
  const [item] = await itemsOf(world);
  return { id, item: String(item?.['id']) };
}

/** An open item of a kind, of the only conversation or of none. */
function openItem(kind: WorkItemKind, conversationId: string | null, subjectId?: string) {
  return inTransaction(world.database.service, (client) =>
    openWorkItem(client, {
      businessId: DEMO_BUSINESS.id,
      conversationId,
      kind,
      reason: 'a_test',
      explanation: 'Something to look at.',
      at: world.clock.iso,
      ...(subjectId === undefined ? {} : { subjectId }),
    }),
  );
}

describe('claiming a work item', () => {
  it('a handoff takes the conversation over and stops its clock [T6] [C7]', async () => {
    const { id, item } = await handedOver();
    expect(await itemsOf(world)).toEqual([expect.objectContaining({ ticking: true })]);
    const result = await actOnItem(world, item, CLAIM, { role: 'manager' });
    expect(result).toMatchObject({
      kind: 'done',
      response: { workItemId: item, conversationId: id, claimedBy: 'shift-supervisor' },
    });
    expect(await itemsOf(world)).toEqual([
      expect.objectContaining({ ticking: false, claimed_by: 'shift-supervisor' }),
    ]);
    expect(await world.conversation()).toMatchObject({ owner: 'person' });
    expect(await takeoversOf(world)).toEqual(['takeover.requested', 'takeover.claimed']);
  });

  it.each<WorkItemKind>(['delivery-failed', 'follow-up-by-hand', 'job-review', 'not-sent'])(
    'an item of the kind %s stops its clock and takes nothing over [C7]',
    async (kind) => {
      await world.write({ text: 'My sink leaks' });
      const { id } = await world.conversation();
      await runUntilIdle(world, id, { forMs: 0 });
      const item = await openItem(kind, id);
      expect(await actOnItem(world, item.id, CLAIM)).toMatchObject({ kind: 'done' });
      expect(await itemsOf(world)).toEqual([
        expect.objectContaining({ ticking: false, claimed_by: 'support-agent' }),
      ]);
      expect(await world.conversation()).toMatchObject({ owner: 'automation', state: 'active' });
      expect(await actOnItem(world, item.id, CLAIM)).toMatchObject({ code: 'not_applicable' });
      expect(await actOnItem(world, item.id, RESOLVE)).toMatchObject({ kind: 'done' });
    },
  );

  it('a handoff in which the lead wrote again can be claimed again, which stops its clock [T6] [C7]', async () => {
    const { item } = await handedOver();
    await actOnItem(world, item, CLAIM);
    expect(await actOnItem(world, item, CLAIM)).toMatchObject({ code: 'not_applicable' });
    await world.write({ text: 'Hello?' });
    expect(await itemsOf(world)).toEqual([expect.objectContaining({ ticking: true })]);
    expect(await actOnItem(world, item, CLAIM)).toMatchObject({ kind: 'done' });
    expect(await itemsOf(world)).toEqual([expect.objectContaining({ ticking: false })]);
  });

  it('two people at once: one of them has it [C7]', async () => {
    const { item } = await handedOver();
    const results = await Promise.all([
      actOnItem(world, item, CLAIM),
      actOnItem(world, item, CLAIM),
    ]);
    const kinds = results.map((result) => (result.kind === 'refused' ? result.code : 'done'));
    expect(kinds.sort()).toEqual(['done', 'not_applicable']);
    expect(await takeoversOf(world)).toEqual(['takeover.requested', 'takeover.claimed']);
  });
});

describe('resolving a work item', () => {
  it('a handoff needs the newest message, closes with the reason and leaves the person the owner [T6] [INV-6]', async () => {
    const { id, item } = await handedOver();
    expect(await actOnItem(world, item, RESOLVE)).toMatchObject({ code: 'seen_seq_required' });
    await world.write({ text: 'Hello?' });
    expect(await actOnItem(world, item, RESOLVE, { seenSeq: 1 })).toMatchObject({
      code: 'newer_message',
      newestSeq: 2,
    });
    expect(await actOnItem(world, item, RESOLVE, { seenSeq: 2 })).toMatchObject({
      kind: 'done',
      response: { resolution: 'no_answer_needed' },
    });
    expect(await world.conversation()).toMatchObject({ owner: 'person', owed_since: null });
    expect(await settlementsOf(world)).toEqual(['work-item', 'work-item']);
    await act(world, id, { command: 'release' }, { seenSeq: 2 });
    // What a person dealt with stays dealt with.
    await runUntilIdle(world, id, { forMs: 0 });
    expect(await calledFor(world)).toEqual([]);
  });

  it('a new message after it waits with an item of its own [T6]', async () => {
    const { id, item } = await handedOver();
    await actOnItem(world, item, RESOLVE, { seenSeq: 1 });
    await world.write({ text: 'Hello?' });
    expect(await itemsOf(world)).toEqual([
      expect.objectContaining({ kind: 'handoff', resolution: 'no_answer_needed' }),
      expect.objectContaining({ kind: 'handoff', resolution: null, ticking: true }),
    ]);
    await runUntilIdle(world, id, { forMs: 0 });
    expect(await calledFor(world)).toEqual([]);
  });

  it('what a person says in their own words is kept as a note, not in the item [C8]', async () => {
    const { item } = await handedOver();
    const resolution = 'Called Maria at home, all is well.';
    await actOnItem(world, item, { command: 'resolve-item', resolution }, { seenSeq: 1 });
    expect(await itemsOf(world)).toEqual([
      expect.objectContaining({ resolution: 'explained_in_note' }),
    ]);
    expect(await world.rows('select text from notes')).toEqual([{ text: resolution }]);
  });

  it('a draft is approved or rejected, not resolved [T3]', async () => {
    const { id } = await draftedLead(world);
    const [item] = await itemsOf(world);
    const result = await actOnItem(world, String(item?.['id']), RESOLVE, { seenSeq: 1 });
    expect(result).toMatchObject({ kind: 'refused', code: 'not_applicable' });
    await act(world, id, { command: 'approve', text: null }, { seenSeq: 1 });
    await runUntilIdle(world, id, { forMs: 0 });
  });

  it('refused credentials let the account go on, and what waited leaves [IN4]', async () => {
    const account = DEMO_ACCOUNTS.find(({ channel }) => channel === 'sms')?.id;
    await world.write({ text: 'My sink leaks' });
    const { id } = await world.conversation();
    await world.rows(`update accounts set paused_at = $2, paused_reason = 'auth' where id = $1`, [
      account,
      world.clock.iso,
    ]);
    const item = await openItem('credentials', null, account);
    await runUntilIdle(world, id, { forMs: 0 });
    expect(await calledFor(world)).toEqual([]);
    expect(await actOnItem(world, item.id, RESOLVE)).toMatchObject({ kind: 'done' });
    const paused = await world.rows('select from accounts where paused_at is not null');
    expect(paused).toEqual([]);
    await runUntilIdle(world, id, { forMs: 0 });
    expect(await calledFor(world)).toEqual(['answer']);
  });

  it('twice is refused, under one key it is the same answer [T6]', async () => {
    const { item } = await handedOver();
    const how = { seenSeq: 1, key: 'key-1' };
    const [one, two] = await Promise.all([
      actOnItem(world, item, RESOLVE, how),
      actOnItem(world, item, RESOLVE, how),
    ]);
    expect({ ...one, wake: null }).toEqual({ ...two, wake: null });
    expect(await actOnItem(world, item, RESOLVE, { seenSeq: 1 })).toMatchObject({
      code: 'not_applicable',
    });
  });

  // Raced: a person resolves the handoff while the lead writes again.
  // Order: both at once.
  // Must hold: the resolution is refused, or the new message waits with an open item.
  it('in a race with a new message never closes over it [T6] [INV-6]', async () => {
    const { item } = await handedOver();
    world.clock.advance(1_000);
    const [result] = await Promise.all([
      actOnItem(world, item, RESOLVE, { seenSeq: 1 }),
      world.write({ text: 'Hello?' }),
    ]);
    const open = (await itemsOf(world)).filter(({ resolution }) => resolution === null);
    expect(open).toHaveLength(1);
    const waits = await world.rows('select from messages where seq = 2 and settlement_ref = $1', [
      open[0]?.['id'],
    ]);
    expect(waits).toHaveLength(1);
    if (result.kind === 'refused') expect(result.code).toBe('newer_message');
  });
});

describe('assigning', () => {
  it('moves what waits to another queue and lets its clock go on [C7]', async () => {
    const { id } = await handedOver();
    await act(world, id, { command: 'assign', queue: 'owner' });
    expect(await itemsOf(world)).toEqual([
      expect.objectContaining({ queue: 'owner', ticking: true }),
    ]);
  });

  it.each([
    ['a queue that does not exist', 'front-dekc'],
    ['where nothing waits', 'owner'],
  ])('to %s is refused', async (_name, queue) => {
    await world.write({ text: 'My sink leaks' });
    const { id } = await world.conversation();
    const result = await act(world, id, { command: 'assign', queue });
    expect(result).toMatchObject({ kind: 'refused', code: 'not_applicable' });
  });
});
