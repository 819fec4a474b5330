import { openPool } from '../../db/database';
import { roleUrl } from '../../db/migrate';
import { conversationWorkflowId } from '../../workflows/contract';
import { startBreakableWay, type BreakableWay } from '../support/postgres-faults';
import { eventually, makeTemporalWorld, type TemporalWorld } from '../support/temporal-world';
import { calledUntilRest } from './races/scene';

describe('an outage of Postgres, through the workflow', () => {
  let temporal: TemporalWorld;
  let way: BreakableWay;
  let closePools: () => Promise<unknown>;
  beforeAll(async () => {
    temporal = await makeTemporalWorld(async (database) => {
      way = await startBreakableWay(database.ownerUrl);
      const pools = ['worker', 'worker-marker'].map((applicationName) =>
        openPool({
          connectionString: roleUrl(way.url, 'unsilent_service', database.rolePassword),
          max: 4,
          applicationName,
          onError: () => undefined,
        }),
      );
      closePools = () => Promise.all(pools.map((pool) => pool.end()));
      const [pool, markerPool] = pools;
      return { ...(pool && { pool }), ...(markerPool && { markerPool }) };
    });
  });
  afterEach(() => temporal.world.reset());
  afterAll(async () => {
    await temporal.close();
    await closePools();
    await way.close();
  });

  // Raced: Postgres that goes away against the acceptance of a send.
  // Order: the provider accepts, every connection of the worker breaks before the sent marker, and
  // the record is tried in vain for a while; then Postgres is back.
  // Must hold: Temporal holds the acceptance (ids only); it is recorded once, and nothing is sent
  // again: not by the workflow, not by the read-back, not by a follow-up turn.
  it('exactly between acceptance and marker is recorded once it is back, and not sent again [T8] [O3] [INV-10]', async () => {
    const { world } = temporal;
    let brokeDown = false;
    world.failpoints['deliver:accepted'] = () => {
      if (brokeDown) return;
      brokeDown = true;
      way.breakDown();
    };
    const id = await temporal.receive({ text: 'My sink leaks', lead: '+13125550191' });
    await eventually(() => way.refusals >= 4, 'the workflow tries to record the acceptance');
    expect(world.provider.calls).toHaveLength(1);
    expect(await world.rows('select from sent_markers')).toEqual([]);
    expect(await world.rows('select from send_outcomes')).toEqual([]);
    expect(await world.rows('select state from outbox')).toEqual([{ state: 'sending' }]);

    way.mend();
    await eventually(async () => {
      // The workflow's own wait is in virtual time, and it may begin it only now.
      await temporal.skip('10 seconds');
      const [send] = await world.rows('select state from outbox');
      return send?.['state'] === 'accepted';
    }, 'the acceptance is recorded');
    expect(await world.rows('select outcome, evidence from send_outcomes')).toEqual([
      { outcome: 'accepted', evidence: 'response' },
    ]);
    expect(await world.rows('select settlement from messages where owes')).toEqual([
      { settlement: 'reply' },
    ]);
    const called = await calledUntilRest(temporal, id);
    expect(called.filter((purpose) => purpose === 'answer')).toEqual(['answer']);
  });

  // Raced: Postgres that goes away against a turn, for longer than the step's own retries.
  // Order: the turn has begun, every connection breaks, the step fails for good; Postgres is back.
  // Must hold: the run outlives the failed step, looks again, and the lead is answered once.
  it('longer than a turn tries does not end the run, and the lead is answered once [T11] [O3] [T4]', async () => {
    const { world } = temporal;
    let brokeDown = false;
    const before = way.refusals;
    world.failpoints['turn:begun'] = () => {
      if (brokeDown) return;
      brokeDown = true;
      way.breakDown();
    };
    const id = await temporal.receive({ text: 'My drain is clogged', lead: '+13125550192' });
    const started = await temporal.client.workflow.getHandle(conversationWorkflowId(id)).describe();
    await eventually(() => way.refusals - before >= 4, 'the turn is tried in vain');
    way.mend();
    await eventually(async () => {
      await temporal.skip('10 seconds');
      return world.provider.accepted.length === 1;
    }, 'the lead is answered');
    const handle = temporal.client.workflow.getHandle(conversationWorkflowId(id));
    const { status, runId } = await handle.describe();
    expect([status.name, runId]).toEqual(['RUNNING', started.runId]);
    const called = await calledUntilRest(temporal, id);
    expect(called.filter((purpose) => purpose === 'answer')).toEqual(['answer']);
  });
});
