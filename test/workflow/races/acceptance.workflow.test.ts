import { sendsOf } from '../../support/sends';
import { eventually, makeTemporalWorld, type TemporalWorld } from '../../support/temporal-world';
import { calledUntilRest, webhook } from './scene';

describe('an acceptance that could not be recorded, through the workflow', () => {
  let temporal: TemporalWorld;
  beforeAll(async () => {
    temporal = await makeTemporalWorld();
  });
  afterEach(() => temporal.world.reset());
  afterAll(() => temporal.close());

  const answers = () => sendsOf(temporal.world, 'answer');

  // Raced: Postgres that refuses the record against the workflow, and a newer message meanwhile.
  // Order: the right to write is withdrawn between the provider's acceptance and that statement;
  // the record is tried in vain; a message comes; then the right comes back.
  // Must hold: Temporal holds the acceptance. It is recorded before any other step, so the newer
  // message is answered after it, and the first one never again.
  it.each([
    ['the sent marker', 'deliver:accepted', 'sent_markers', '+13125550195'],
    ['the record', 'deliver:marked', 'send_outcomes', '+13125550196'],
  ] as const)('survives in Temporal where Postgres refuses %s [T8] [O3]', async (...row) => {
    const [, point, table, lead] = row;
    const { world } = temporal;
    let refused = 0;
    world.failpoints[point] = async () => {
      refused += 1;
      if (refused === 1) await world.rows(`revoke insert on ${table} from unsilent_service`);
    };
    const id = await temporal.receive({ text: 'My sink leaks', lead });
    await eventually(() => world.provider.calls.length === 1, 'the provider was called');
    await webhook(temporal, { text: 'Hello?', lead });
    await world.rows(`grant insert on ${table} to unsilent_service`);
    await temporal.skip('1 minute');
    await eventually(() => world.provider.calls.length === 2, 'the newer message is answered');
    expect(await calledUntilRest(temporal, id)).toEqual(['answer', 'answer']);
    expect(await answers()).toEqual(Array(2).fill(expect.objectContaining({ state: 'accepted' })));
    const [first] = await world.rows(
      `select r.recorded_at <= o.created_at as before_the_newer from send_outcomes r
       join outbox o on o.covers_seq > 1 order by r.ordinal limit 1`,
    );
    expect(first).toEqual({ before_the_newer: true });
    const inbound = await world.rows("select settlement from messages where direction = 'in'");
    expect(inbound).toEqual([{ settlement: 'reply' }, { settlement: 'reply' }]);
  });

  // Raced: a worker that dies with the provider's answer in its socket against its conversation.
  // Order: the provider accepts, the activity fails; the attempt's limit passes.
  // Must hold: Temporal does not try the activity again; the read-back proves the one call.
  it('is read back, not called again, where the worker died inside the call [T8] [O3] [C6]', async () => {
    const { world } = temporal;
    world.provider.next((request) => {
      world.provider.accept(request);
      throw new Error('the process dies with the answer in its socket');
    });
    world.provider.readBackAnswer = { kind: 'found', providerMessageId: 'provider-1' };
    const id = await temporal.receive({ text: 'My sink leaks', lead: '+13125550197' });
    await eventually(() => world.provider.calls.length === 1, 'the provider was called');
    await temporal.skip('1 minute');
    await eventually(async () => (await answers())[0]?.state === 'accepted', 'it is proven');
    const called = await calledUntilRest(temporal, id);
    expect(called.filter((purpose) => purpose === 'answer')).toEqual(['answer']);
  });
});
