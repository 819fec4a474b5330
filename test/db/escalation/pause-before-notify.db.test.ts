import { refreshAgenda } from '../../../db/agenda';
import { lockConversation } from '../../../db/conversations';
import { inTransaction } from '../../../db/database';
import { handOver } from '../../../db/handover';
import { heldAt, pauseAt } from '../../support/barrier';
import { calledFor, sendsOf } from '../../support/sends';
import { makeWorld, type World } from '../../support/world';
import { queuedAnswer, queuedFollowUp } from '../races/scene';
import { notices, round } from './scene';

describe('a handoff pauses before anybody is notified', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  /** A handover that stands right before its commit until it is let go. */
  const handOverHeld = (conversationId: string) => {
    let release = (): void => undefined;
    let arrive = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const reached = new Promise<void>((resolve) => (arrive = resolve));
    const done = inTransaction(world.database.service, async (client) => {
      const locked = await lockConversation(client, conversationId, world.clock.iso);
      if (locked === null) throw new Error('the conversation exists');
      await handOver(client, locked.conversation, {
        reason: 'policy_requires_human',
        explanation: 'A person has to look at it.',
        actor: { kind: 'service', ref: 'conversation-router' },
        at: locked.now,
      });
      await refreshAgenda(client, conversationId, locked.now);
      arrive();
      await released;
    });
    return { done, reached, release: () => release() };
  };

  // Raced: a handover, the loop that writes notices, and a worker that would send.
  // Order: the handover holds its lock; the loop and the worker come; then it commits.
  // Must hold: no notice before the commit, no send after it.
  it.each([
    ['an answer', queuedAnswer],
    ['a follow-up', queuedFollowUp],
  ])(
    'while it is not committed there is no notice; once there is one, %s is gone [C7] [INV-15]',
    async (_name, queue) => {
      const send = await queue(world);
      const before = await calledFor(world);
      const handover = handOverHeld(send.conversationId);
      await handover.reached;
      expect(await round(world)).toEqual({ escalated: 0, written: 0 });
      expect(await notices(world)).toEqual([]);
      const worker = world.activities.deliver(send);
      await round(world);
      expect(await notices(world)).toEqual([]);
      handover.release();
      await handover.done;
      await round(world);
      expect(await notices(world)).toEqual(['front-desk: 1']);
      await worker;
      await world.activities.deliver(send);
      expect(await calledFor(world)).toEqual(before);
      expect((await sendsOf(world)).at(-1)).toMatchObject({ state: 'cancelled' });
    },
  );

  // Raced: a worker that claimed its row, and a handover.
  // Order: the claim; the handover commits and is told; the worker goes on to the gate.
  // Must hold: the gate refuses, though the claim came first.
  it('a claim that came first meets the gate, which refuses [C7] [INV-15]', async () => {
    const send = await queuedAnswer(world);
    const barrier = pauseAt(world, 'deliver:claimed');
    const worker = world.activities.deliver(send);
    await heldAt(barrier, worker);
    const handover = handOverHeld(send.conversationId);
    handover.release();
    await handover.done;
    await round(world);
    expect(await notices(world)).toEqual(['front-desk: 1']);
    barrier.release();
    await worker;
    expect(await calledFor(world)).toEqual([]);
  });

  // Raced: a worker past its gate, and a handover.
  // Order: the gate commits; the handover commits and is told; the provider answers.
  // Must hold: exactly that one send, marked as in flight, and nothing else.
  it('what passed the gate before is in flight and marked; nothing follows it [C7] [S3]', async () => {
    const send = await queuedAnswer(world);
    const barrier = pauseAt(world, 'deliver:permitted');
    const worker = world.activities.deliver(send);
    await heldAt(barrier, worker);
    const handover = handOverHeld(send.conversationId);
    handover.release();
    await handover.done;
    await round(world);
    expect(await notices(world)).toEqual(['front-desk: 1']);
    barrier.release();
    await worker;
    expect(await calledFor(world)).toEqual(['answer']);
    expect(await sendsOf(world)).toEqual([
      expect.objectContaining({ state: 'accepted', stopCause: 'handed_over' }),
    ]);
  });
});
