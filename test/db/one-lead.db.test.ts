import { makeWorld, type World } from '../support/world';

describe('one lead, answered', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld({});
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  it('a message owes with its transaction, its turn is sent once and settles it [T1] [T3] [S3]', async () => {
    const { activities } = world;
    await world.write({ text: 'My water heater leaks' });
    const { id } = await world.conversation();
    const afterTurn = await activities.takeTurn({ conversationId: id });
    const step = afterTurn.items[0]?.step;
    expect(step).toMatchObject({ kind: 'deliver' });
    if (step?.kind !== 'deliver') throw new Error('nothing to deliver');
    const delivered = await activities.deliver({ conversationId: id, sendId: step.sendId });
    expect(delivered).toMatchObject({ kind: 'recorded', agenda: { owed: false } });
    expect(world.provider.accepted).toHaveLength(1);
    const [message] = await world.rows(
      "select settlement, settlement_ref from messages where direction = 'in'",
    );
    expect(message).toEqual({ settlement: 'reply', settlement_ref: step.sendId });
    const again = await activities.deliver({ conversationId: id, sendId: step.sendId });
    expect(again).toMatchObject({ kind: 'recorded' });
    expect(world.provider.calls).toHaveLength(1);
  });
});
