import { refreshAgenda } from '../../db/agenda';
import { lockConversation } from '../../db/conversations';
import { inTransaction } from '../../db/database';
import type { WakeTarget } from '../../db/due';
import { handOver } from '../../db/handover';
import { storePolicy } from '../../db/policies';
import { claimWorkItem } from '../../db/work-items';
import { DEMO_BUSINESS } from '../../dev/demo';
import { DEFAULT_RULES } from '../../domain/policy-rules';
import { noticesOnce } from '../../upkeep/notices';
import { conversationWorkflowId } from '../../workflows/contract';
import { eventually, makeTemporalWorld, type TemporalWorld } from '../support/temporal-world';
import { answeredLead, nowMs } from './races/scene';

/** Signals enough for one roll of the run (design.md: 500), and some more. */
const STORM = 560;

describe('the deadline of a work item, by the timers of the workflow', () => {
  let temporal: TemporalWorld;
  beforeAll(async () => {
    temporal = await makeTemporalWorld();
  });
  afterEach(() => temporal.world.reset());
  afterAll(() => temporal.close());

  const rows = (sql: string) => temporal.world.rows(sql);
  const clockIso = async () => new Date(await nowMs(temporal)).toISOString();
  const handle = (id: string) => temporal.client.workflow.getHandle(conversationWorkflowId(id));

  const wake = async (id: string): Promise<WakeTarget> => {
    const [target] = (await temporal.world.rows(
      `select id, business_id as "businessId", channel, state, owner from conversations
       where id = $1`,
      [id],
    )) as unknown as WakeTarget[];
    if (target === undefined) throw new Error('the conversation exists');
    await temporal.waker.wake(target, 'relay');
    return target;
  };

  /** Commits with a handover, as the pipeline does, and wakes the conversation. */
  const handOverNow = async (id: string): Promise<string> => {
    const now = await clockIso();
    const item = await inTransaction(temporal.world.database.service, async (client) => {
      const locked = await lockConversation(client, id, now);
      if (locked === null) throw new Error('the conversation exists');
      const opened = await handOver(client, locked.conversation, {
        reason: 'policy_requires_human',
        explanation: 'A person has to look at it.',
        actor: { kind: 'service', ref: 'conversation-router' },
        at: now,
      });
      await refreshAgenda(client, id, now);
      return opened;
    });
    await wake(id);
    return item;
  };

  const noticeRound = async () =>
    noticesOnce({
      pool: temporal.world.database.service,
      clock: { now: clockIso },
      log: temporal.world.dependencies.log,
    });
  /** Every level that was reached: of which queue, due when, and how late by whole seconds. */
  const levels = async () =>
    (
      await rows(
        `select e.queue, (extract(epoch from e.due_at - w.opened_at) / 60)::float8 as due,
           extract(epoch from e.at - e.due_at)::float8 as late
         from escalations e join work_items w on w.id = e.work_item_id order by e.at, e.level`,
      )
    ).map(({ queue, due, late }) => [queue, due, Number(late) >= 0 && Number(late) <= 5]);
  const noticeQueues = async () =>
    (await rows('select queue from notices order by created_at')).map(({ queue }) => queue);
  const reached = (count: number) =>
    eventually(async () => (await levels()).length === count, `level ${count} is reached`);

  it('an unclaimed handoff notifies at 0, 5 and 10 min, each within 5 s of its deadline [C7] [INV-9] [O1] [O3]', async () => {
    const id = await answeredLead(temporal, '+13125550170');
    const itemId = await handOverNow(id);
    await noticeRound();
    for (const [level, minutes] of [
      [2, 5],
      [3, 5],
      [4, 30],
    ] as const) {
      await temporal.skip(`${minutes} minutes`);
      await reached(level);
      await noticeRound();
    }
    expect(await levels()).toEqual([
      ['front-desk', 0, true],
      ['front-desk', 5, true],
      ['shift-lead', 10, true],
      ['owner', 40, true],
    ]);
    expect(await noticeQueues()).toEqual(['front-desk', 'front-desk', 'shift-lead', 'owner']);
    const at = await clockIso();
    await inTransaction(temporal.world.database.service, async (client) => {
      await claimWorkItem(client, itemId, { at, by: 'support-agent' });
      await refreshAgenda(client, id, at);
    });
    await wake(id);
    await eventually(
      async () => (await handle(id).describe()).status.name === 'COMPLETED',
      'the run completes once somebody acted',
    );
    await temporal.replay(id);
  });

  it('the deadline keeps its instant over continue-as-new [INV-9] [O1] [C7]', async () => {
    const id = await answeredLead(temporal, '+13125550171');
    await handOverNow(id);
    const before = (await handle(id).describe()).runId;
    await temporal.skip('2 minutes');
    const target = await wake(id);
    for (let sent = 0; sent < STORM; sent += 20) {
      await Promise.all(Array.from({ length: 20 }, () => temporal.waker.wake(target, 'relay')));
    }
    await eventually(async () => (await handle(id).describe()).runId !== before, 'the run rolls');
    await temporal.skip('3 minutes');
    await reached(2);
    await temporal.skip('5 minutes');
    await reached(3);
    expect(await levels()).toEqual([
      ['front-desk', 0, true],
      ['front-desk', 5, true],
      ['shift-lead', 10, true],
    ]);
    await temporal.replay(id);
  });

  it('a draft that nobody approves notifies at 10 min and is a handoff at 20 min [T3] [C7] [O1]', async () => {
    await storePolicy(
      temporal.world.database.service,
      {
        businessId: DEMO_BUSINESS.id,
        version: 'reviewed',
        channel: null,
        accountId: null,
        rules: { ...DEFAULT_RULES, manualReview: true },
      },
      await clockIso(),
    );
    const calls = temporal.world.provider.accepted.length;
    const id = await temporal.receive({ text: 'My sink leaks', lead: '+13125550172' });
    await eventually(
      async () => (await rows('select from work_items')).length === 1,
      'the draft waits for approval',
    );
    await temporal.skip('10 minutes');
    await reached(1);
    await temporal.skip('10 minutes');
    await eventually(
      async () => (await rows("select from work_items where kind = 'handoff'")).length === 1,
      'the draft is handed over',
    );
    expect(await levels()).toEqual([
      ['front-desk', 10, true],
      ['front-desk', 0, true],
    ]);
    expect(temporal.world.provider.accepted).toHaveLength(calls);
    await temporal.replay(id);
  });
});
