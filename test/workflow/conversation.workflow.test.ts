import { conversationWorkflowId } from '../../workflows/contract';
import { eventually, makeTemporalWorld, type TemporalWorld } from '../support/temporal-world';

describe('the conversation workflow', () => {
  let temporal: TemporalWorld;
  beforeAll(async () => {
    temporal = await makeTemporalWorld();
  });
  afterEach(() => temporal.world.reset());
  afterAll(() => temporal.close());

  const accepted = () => temporal.world.provider.accepted.length;

  it('answers, follows up on days 1, 3 and 7, and completes when nothing is due [O1] [O3]', async () => {
    const id = await temporal.receive({ text: 'My sink leaks', lead: '+13125550150' });
    await eventually(() => accepted() === 1, 'the lead is answered');
    await temporal.skip('25 hours');
    await eventually(() => accepted() === 2, 'the first follow-up left');
    await temporal.skip('2 days');
    await eventually(() => accepted() === 3, 'the second follow-up left');
    await temporal.skip('4 days');
    await eventually(() => accepted() === 4, 'the third follow-up left');
    const handle = temporal.client.workflow.getHandle(conversationWorkflowId(id));
    await eventually(
      async () => (await handle.describe()).status.name === 'COMPLETED',
      'the run completes',
    );
    await temporal.replay(id);
  });

  it('a reply stops the follow-ups and is answered itself [S4] [O3]', async () => {
    const id = await temporal.receive({ text: 'My drain is clogged', lead: '+13125550151' });
    await eventually(() => accepted() === 1, 'the lead is answered');
    await temporal.skip('10 hours');
    await temporal.receive({ text: 'It is the kitchen sink', lead: '+13125550151' });
    await eventually(() => accepted() === 2, 'the reply is answered');
    await temporal.skip('9 days');
    expect(accepted()).toBe(2);
    await temporal.replay(id);
  });
});
