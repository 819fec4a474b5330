import { claimSend } from '../../../db/outbox';
import { inTransaction } from '../../../db/database';
import { lockConversation } from '../../../db/conversations';
import { expireDraft } from '../../../db/drafts';
import { runUntilIdle } from '../../support/run-until-idle';
import { calledFor, sendsOf } from '../../support/sends';
import { makeWorld, type World } from '../../support/world';
import { calledUntilRest } from '../races/scene';
import { act, draftedLead, draftFor, itemsOf, settlementsOf } from './scene';

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterEach(() => world.reset());
afterAll(() => world.close());

const APPROVE = { command: 'approve', text: null } as const;
const REJECT = { command: 'reject', reason: 'Wrong service.' } as const;

/** The debt of the only conversation, as text so that microseconds count. */
async function debt() {
  const [row] = await world.rows(
    `select owed_since::text as token, last_token::text as "lastToken",
       oldest_owed_at::text as oldest, overdue_from::text as "overdueFrom" from conversations`,
  );
  return row as Record<'token' | 'lastToken' | 'oldest' | 'overdueFrom', string | null>;
}

describe('a draft that waits for approval', () => {
  it('settles the debt with its item and cannot be claimed by any worker [T3] [C4]', async () => {
    const { id, sendId } = await draftedLead(world);
    expect(await settlementsOf(world)).toEqual(['work-item']);
    expect(await itemsOf(world)).toEqual([
      expect.objectContaining({ kind: 'approval', resolution: null }),
    ]);
    const wanted = { sendId: `snd_${sendId.slice(4)}`, leaseOwner: 'w', leaseMs: 1_000 } as const;
    expect(await claimSend(world.database.service, { ...wanted, now: world.clock.iso })).toBeNull();
    await world.activities.deliver({ conversationId: id, sendId });
    expect(await calledFor(world)).toEqual([]);
    expect(await world.conversation()).toMatchObject({ state: 'active', owed_since: null });
  });

  it('leaves when a person approves it: a new token with the same oldest time, settled by the acceptance [T3] [T2]', async () => {
    await world.write({ text: 'My sink leaks' });
    const { id } = await world.conversation();
    const before = await debt();
    await draftFor(world, id);
    world.clock.advance(60_000);
    const result = await act(world, id, APPROVE, { seenSeq: 1, role: 'manager' });
    expect(result).toMatchObject({ kind: 'done', response: { owner: 'automation' } });
    const after = await debt();
    expect(after).toMatchObject({ oldest: before.oldest, overdueFrom: before.overdueFrom });
    expect(String(after.token) > String(before.token)).toBe(true);
    const [decision] = await world.rows(
      `select d.rule, d.inputs, d.supersedes_id is not null as supersedes, o.token::text as token
       from outbox o join send_decisions d on d.id = o.decision_id`,
    );
    expect(decision).toEqual({
      rule: 'staff-approved',
      inputs: { role: 'manager', edited: false },
      supersedes: true,
      token: after.token,
    });
    await runUntilIdle(world, id, { forMs: 0 });
    expect(await calledFor(world)).toEqual(['answer']);
    expect(await settlementsOf(world)).toEqual(['reply']);
    expect(await itemsOf(world)).toEqual([
      expect.objectContaining({ resolution: 'approved', resolved_by: 'shift-supervisor' }),
    ]);
  });

  it('leaves with the wording that the person gave it [T3]', async () => {
    const { id } = await draftedLead(world);
    await act(world, id, { command: 'approve', text: ' We come on Friday. ' }, { seenSeq: 1 });
    await runUntilIdle(world, id, { forMs: 0 });
    expect(world.provider.accepted.map(({ text }) => text)).toEqual(['We come on Friday.']);
  });

  it('is withdrawn by a newer message, and all owes together from the same oldest time [T3] [INV-7]', async () => {
    await world.write({ text: 'My sink leaks' });
    const { id } = await world.conversation();
    const before = await debt();
    await draftFor(world, id);
    world.clock.advance(60_000);
    await world.write({ text: 'Hello?' });
    expect(await settlementsOf(world)).toEqual([null, null]);
    const after = await debt();
    expect(after).toMatchObject({ oldest: before.oldest, overdueFrom: before.overdueFrom });
    expect(await itemsOf(world)).toEqual([expect.objectContaining({ resolution: 'withdrawn' })]);
    expect(await sendsOf(world)).toEqual([
      expect.objectContaining({ state: 'cancelled', reason: 'newer_inbound' }),
    ]);
    await runUntilIdle(world, id, { forMs: 0 });
    expect(await calledFor(world)).toEqual(['answer']);
    expect(await settlementsOf(world)).toEqual(['reply', 'reply']);
  });

  it('cannot be approved over a message that the person did not see: 409 with that message [T3] [T6]', async () => {
    const { id } = await draftedLead(world);
    await world.write({ text: 'Hello?' });
    const refused = { kind: 'refused', code: 'newer_message', newestSeq: 2 };
    expect(await act(world, id, APPROVE, { seenSeq: 1 })).toMatchObject(refused);
    expect(await act(world, id, REJECT, { seenSeq: 1 })).toMatchObject(refused);
    expect(await act(world, id, APPROVE, { seenSeq: 2 })).toMatchObject({
      code: 'not_applicable',
    });
    expect(await act(world, id, APPROVE)).toMatchObject({ code: 'seen_seq_required' });
  });

  it('that a person rejects never leaves; what it should have answered waits for a person [T3] [INV-6]', async () => {
    const { id } = await draftedLead(world);
    await act(world, id, REJECT, { seenSeq: 1 });
    expect(await calledUntilRest(world, id)).toEqual([]);
    expect(await settlementsOf(world)).toEqual(['work-item']);
    expect(await itemsOf(world)).toEqual([
      expect.objectContaining({ kind: 'approval', resolution: 'rejected' }),
      expect.objectContaining({ kind: 'handoff', resolution: null }),
    ]);
    const notes = await world.rows('select role, text from notes');
    expect(notes).toEqual([{ role: 'agent', text: 'Wrong service.' }]);
    expect(await act(world, id, APPROVE, { seenSeq: 1 })).toMatchObject({ code: 'not_applicable' });
  });

  it('that nobody approved becomes a handoff once, however often it is told [T3] [C7]', async () => {
    const { id } = await draftedLead(world);
    const [item] = await itemsOf(world);
    world.clock.advance(20 * 60_000);
    const expire = () =>
      inTransaction(world.database.service, async (client) => {
        const locked = await lockConversation(client, id, world.clock.iso);
        if (locked !== null) await expireDraft(client, locked, String(item?.['id']));
      });
    await expire();
    await expire();
    expect(await itemsOf(world)).toEqual([
      expect.objectContaining({ kind: 'approval', resolution: 'draft_expired' }),
      expect.objectContaining({ kind: 'handoff', resolution: null, reason: 'draft_expired' }),
    ]);
    expect(await settlementsOf(world)).toEqual(['work-item']);
    expect(await calledUntilRest(world, id)).toEqual([]);
  });

  it.each([
    ['claim', 'work-item', 'person_owns'],
    ['pause', 'work-item', 'paused_by_staff'],
    ['close', 'no-answer', 'closed_by_staff'],
    ['opt-out', 'no-answer', 'opted_out'],
  ] as const)(
    'is withdrawn by %s, which takes what it had settled [INV-6] [INV-15]',
    async (command, settlement, reason) => {
      const { id } = await draftedLead(world);
      await act(world, id, { command }, { seenSeq: 1 });
      expect(await settlementsOf(world)).toEqual([settlement]);
      expect(await sendsOf(world)).toEqual([
        expect.objectContaining({ state: 'cancelled', reason }),
      ]);
      const [approval] = await itemsOf(world);
      expect(approval).toMatchObject({ kind: 'approval', resolution: 'withdrawn' });
      expect(await calledUntilRest(world, id)).toEqual([]);
    },
  );

  it('stays through a booking, because an answer may leave then too [S1]', async () => {
    const { id } = await draftedLead(world);
    await act(world, id, { command: 'book' });
    await act(world, id, APPROVE, { seenSeq: 1 });
    await runUntilIdle(world, id, { forMs: 0 });
    expect(await calledFor(world)).toEqual(['answer']);
  });
});

describe('an approval in a race', () => {
  // Raced: an approval against a newer message of the lead.
  // Order: both at once; whichever commits first.
  // Must hold: the newer message is answered by a text that saw it. Where the approval was refused
  // that is the only answer. Where it came first, the draft may leave before it, because the oldest
  // message has waited for more than 5 s and the newer one is younger than 2 s (P4b case 4).
  it('with a newer message leaves that message answered by a text that saw it [T3] [INV-12]', async () => {
    const { id } = await draftedLead(world);
    world.clock.advance(60_000);
    const [approved] = await Promise.all([
      act(world, id, APPROVE, { seenSeq: 1 }),
      world.write({ text: 'Hello?' }),
    ]);
    expect(approved.kind === 'done' || approved.code === 'newer_message').toBe(true);
    await runUntilIdle(world, id, { forMs: 0 });
    const texts = world.provider.accepted.map(({ text }) => text);
    expect(texts.at(-1)).toContain('message 2');
    expect(texts.length).toBeLessThanOrEqual(approved.kind === 'done' ? 2 : 1);
    expect(await settlementsOf(world)).toEqual(['reply', 'reply']);
  });

  it.each([
    ['two approvals', APPROVE],
    ['an approval and a rejection', REJECT],
  ] as const)('%s act once [T3]', async (_name, other) => {
    const { id } = await draftedLead(world);
    const results = await Promise.all([
      act(world, id, APPROVE, { seenSeq: 1 }),
      act(world, id, other, { seenSeq: 1 }),
    ]);
    expect(results.filter(({ kind }) => kind === 'done')).toHaveLength(1);
    const called = await calledUntilRest(world, id);
    expect(called.filter((purpose) => purpose === 'answer').length).toBeLessThanOrEqual(1);
    expect(await settlementsOf(world)).not.toContain(null);
  });
});
