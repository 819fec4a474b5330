import { conversationWorkflowId } from '../../workflows/contract';
import type { WakeTarget } from '../../db/due';
import { eventually, makeTemporalWorld, type TemporalWorld } from '../support/temporal-world';

/** Signals enough for one roll of the run (design.md: 500), and some more. */
const STORM = 560;
const AT_ONCE = 20;

describe('a conversation that lives long', () => {
  let temporal: TemporalWorld;
  beforeAll(async () => {
    temporal = await makeTemporalWorld();
  });
  afterEach(() => temporal.world.reset());
  afterAll(() => temporal.close());

  const accepted = () => temporal.world.provider.accepted.length;
  const runOf = async (id: string) =>
    (await temporal.client.workflow.getHandle(conversationWorkflowId(id)).describe()).runId;

  /** Wakes a conversation many times, as a burst of webhooks and the relay would. */
  async function storm(target: WakeTarget, count: number, during: () => Promise<void>) {
    for (let sent = 0; sent < count; sent += AT_ONCE) {
      const wakes = Array.from({ length: AT_ONCE }, () => temporal.waker.wake(target, 'relay'));
      if (sent === AT_ONCE * 10) await during();
      await Promise.all(wakes);
    }
  }

  it('a signal storm across continue-as-new leaves no message unanswered [O1]', async () => {
    const lead = '+13125550160';
    const id = await temporal.receive({ text: 'My drain is clogged', lead });
    await eventually(() => accepted() === 1, 'the lead is answered');
    const before = await runOf(id);
    const target = await targetOf(id);
    await storm(target, STORM, async () => {
      await temporal.receive({ text: 'It is the kitchen', lead });
    });
    await eventually(() => accepted() === 2, 'the message within the storm is answered');
    await eventually(async () => (await runOf(id)) !== before, 'the run rolls');
    const [row] = await temporal.world.rows(
      'select count(*)::int as unanswered from messages where owes and settled_at is null',
    );
    expect(row).toEqual({ unanswered: 0 });
  });

  it('a deadline keeps its instant over continue-as-new [O1] [INV-9]', async () => {
    const id = await temporal.receive({ text: 'Slow drain', lead: '+13125550161' });
    await eventually(() => accepted() === 1, 'the lead is answered');
    const before = await runOf(id);
    await temporal.skip('5 hours');
    await storm(await targetOf(id), STORM, () => Promise.resolve());
    await eventually(async () => (await runOf(id)) !== before, 'the run rolls');
    await temporal.skip('20 hours');
    await eventually(() => accepted() === 2, 'the follow-up left');
    const [row] = await temporal.world.rows(
      `select extract(epoch from a.started_at - s.due_at)::float8 as "lateSeconds"
       from send_attempts a join follow_up_steps s on s.conversation_id = a.conversation_id
       where a.purpose = 'follow-up' and s.step = 1`,
    );
    expect(row?.['lateSeconds']).toBeGreaterThanOrEqual(0);
    expect(row?.['lateSeconds']).toBeLessThan(2);
  });

  it('a deadline beyond 2^31 milliseconds is waited for in full [O1] [INV-9]', async () => {
    const lead = '+13125550164';
    const id = await temporal.receive({ text: 'Dripping tap', lead });
    await eventually(
      async () => (await temporal.world.rows('select from follow_up_steps')).length === 3,
      'the lead is answered and the follow-ups are planned',
    );
    await temporal.world.rows(
      `update follow_up_steps set due_at = due_at + interval '29 days' where step = 1`,
    );
    await temporal.world.rows('delete from follow_up_steps where step > 1');
    await temporal.waker.wake(await targetOf(id), 'relay');
    await temporal.skip('29 days');
    expect(accepted()).toBe(1);
    await temporal.skip('25 hours');
    await eventually(() => accepted() === 2, 'the follow-up left after 30 days');
  });

  it('a message after the run has completed starts a new run and is answered once [O1]', async () => {
    const lead = '+13125550162';
    const id = await temporal.receive({ text: 'stop', lead, optOut: 'stop' });
    await eventually(() => accepted() === 1, 'the opt-out is confirmed');
    const handle = temporal.client.workflow.getHandle(conversationWorkflowId(id));
    await eventually(
      async () => (await handle.describe()).status.name === 'COMPLETED',
      'the run completes',
    );
    const before = await runOf(id);
    await temporal.receive({ text: 'start', lead, optOut: 'start' });
    await eventually(() => accepted() === 2, 'the new message is answered');
    expect(await runOf(id)).not.toBe(before);
    await temporal.replay(id);
  });

  it('the first message finds handlers ready although its signal comes with the start [O1]', async () => {
    const id = await temporal.receive({ text: 'Leaking faucet', lead: '+13125550163' });
    await eventually(() => accepted() === 1, 'the first message is answered');
    const handle = temporal.client.workflow.getHandle(conversationWorkflowId(id));
    await eventually(
      async () => !(await handle.query<{ owed: boolean }>('agenda')).owed,
      'the run has read that nothing is owed',
    );
  });

  async function targetOf(id: string): Promise<WakeTarget> {
    const [row] = await temporal.world.rows(
      `select id, business_id as "businessId", channel, state, owner from conversations
       where id = $1`,
      [id],
    );
    return row as unknown as WakeTarget;
  }
});
