import { conversationWorkflowId } from '../../workflows/contract';
import { eventually, makeTemporalWorld, type TemporalWorld } from '../support/temporal-world';

/** Strings that must never be readable in a history; made up, and easy to find. */
const CANARIES = {
  phone: '+13125550170',
  text: 'canary-text-of-the-lead',
  token: 'canary-token-in-an-error',
};
const PAYLOAD_BYTES_MAX = 64 * 1024;

function collect(value: unknown, found: { texts: string[]; sizes: number[] }): void {
  if (typeof value === 'string') found.texts.push(value);
  if (typeof value !== 'object' || value === null) return;
  if (ArrayBuffer.isView(value)) {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    found.sizes.push(bytes.length);
    found.texts.push(bytes.toString('utf8'));
    return;
  }
  for (const inner of Object.values(value)) collect(inner, found);
}

describe('what crosses Temporal', () => {
  let temporal: TemporalWorld;
  beforeAll(async () => {
    temporal = await makeTemporalWorld();
  });
  afterEach(() => temporal.world.reset());
  afterAll(() => temporal.close());

  const accepted = () => temporal.world.provider.accepted.length;

  /** Every string of the history, payloads decoded as an operator without keys would. */
  async function readable(id: string): Promise<{ text: string; sizes: number[] }> {
    const handle = temporal.client.workflow.getHandle(conversationWorkflowId(id));
    const found = { texts: [] as string[], sizes: [] as number[] };
    collect(await handle.fetchHistory(), found);
    return { text: found.texts.join('\n'), sizes: found.sizes };
  }

  it('histories hold ids and no phone number, text, name or token, failures included [C8]', async () => {
    const { phone, text, token } = CANARIES;
    temporal.world.failpoints['turn:drafted'] = () => {
      delete temporal.world.failpoints['turn:drafted'];
      throw new Error('a failure of the turn');
    };
    temporal.world.provider.next(() => ({
      kind: 'unknown',
      code: 'read_timeout',
    }));
    const id = await temporal.receive({ text: `${text} ${token}`, lead: phone });
    await eventually(() => temporal.world.provider.calls.length === 1, 'the provider is called');
    await temporal.skip('1 minute');
    const { text: history } = await readable(id);
    expect(history).toContain(id);
    for (const canary of Object.values(CANARIES)) expect(history).not.toContain(canary);
  });

  it('a text of 100,000 characters crosses as an id, and no payload reaches 64 kB [C8] [O2]', async () => {
    const id = await temporal.receive({ text: 'a'.repeat(100_000), lead: '+13125550171' });
    await eventually(() => accepted() === 1, 'the lead is answered');
    const { sizes } = await readable(id);
    expect(sizes.length).toBeGreaterThan(0);
    expect(Math.max(...sizes)).toBeLessThan(PAYLOAD_BYTES_MAX);
  });

  it('an acceptance that Postgres refused is held by Temporal and recorded later, with one call [T8]', async () => {
    let refusals = 2;
    temporal.world.failpoints['deliver:marked'] = () => {
      if (refusals > 0) {
        refusals -= 1;
        throw new Error('Postgres is gone for a moment');
      }
    };
    const id = await temporal.receive({ text: 'My pipe drips', lead: '+13125550172' });
    await eventually(async () => {
      const [row] = await temporal.world.rows('select state from outbox');
      return row?.['state'] === 'accepted';
    }, 'the acceptance is recorded');
    expect(temporal.world.provider.calls).toHaveLength(1);
    await temporal.replay(id);
  });
});
