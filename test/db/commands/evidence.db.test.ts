import { inTransaction } from '../../../db/database';
import { readEvidence, type EvidencePacket } from '../../../db/evidence';
import { readAsStaff } from '../../../db/queries/staff-reading';
import { DEMO_BUSINESS } from '../../../dev/demo';
import { heldAt, pauseAt, pauseInProvider } from '../../support/barrier';
import { sha256 } from '../../../db/digest';
import { runUntilIdle } from '../../support/run-until-idle';
import { makeWorld, type World } from '../../support/world';
import { answeredLead, queuedFollowUp } from '../races/scene';
import { act } from './scene';

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterEach(() => world.reset());
afterAll(() => world.close());

/** The packet, read as staff. */
async function packetOf(id: string): Promise<EvidencePacket> {
  const { staff } = world.database;
  const packet = await readAsStaff(staff, DEMO_BUSINESS.id, (client) =>
    readEvidence(client, DEMO_BUSINESS.id, id),
  );
  if (packet === null) throw new Error('there is no packet');
  return packet;
}

/** An instant as the packet writes it. */
const instant = () => world.clock.iso.replace('Z', '000Z');

const STOPS = {
  reply: () => world.write({ text: 'See you on Friday', id: 'SM-reply' }),
  booking: (id: string) => act(world, id, { command: 'book' }),
  'opt-out of the lead': () => world.write({ text: 'STOP', optOut: 'stop' }),
  'opt-out by staff': (id: string) => act(world, id, { command: 'opt-out' }),
  takeover: (id: string) => act(world, id, { command: 'claim' }),
  pause: (id: string) => act(world, id, { command: 'pause' }),
  close: (id: string) => act(world, id, { command: 'close' }, { seenSeq: 1 }),
} as const;

describe('the evidence of a stop', () => {
  it.each(Object.keys(STOPS) as (keyof typeof STOPS)[])(
    'by %s says when it came, when the state changed, and what it cancelled [S5]',
    async (name) => {
      const { conversationId, sendId } = await queuedFollowUp(world);
      await STOPS[name](conversationId);
      const { facts, ...packet } = await packetOf(conversationId);
      expect(facts).toEqual({
        stopOccurredAt: instant(),
        stateChangedAt: instant(),
        cancelledSendIds: [sendId],
        acceptedAfterStop: [],
      });
      expect(packet.configVersion).toBe(DEMO_BUSINESS.policyVersion);
      expect(packet.queuedMessageIds).toContain(sendId);
      await runUntilIdle(world, conversationId, { forMs: 0 });
    },
  );

  it('tells the lead’s own time apart from ours [S5] [L1]', async () => {
    const { conversationId } = await queuedFollowUp(world);
    const writtenAt = new Date(world.clock.epochMs - 90_000).toISOString();
    await world.write({ text: 'See you on Friday', at: writtenAt });
    const { facts } = await packetOf(conversationId);
    expect(facts.stopOccurredAt).toBe(writtenAt.replace('Z', '000Z'));
    expect(facts.stateChangedAt).toBe(instant());
    await runUntilIdle(world, conversationId, { forMs: 0 });
  });

  it('lists what a worker held and the gate refused as cancelled [S3] [S5]', async () => {
    const { conversationId, sendId } = await queuedFollowUp(world);
    const barrier = pauseAt(world, 'deliver:claimed');
    const delivery = world.activities.deliver({ conversationId, sendId });
    await heldAt(barrier, delivery);
    await STOPS.booking(conversationId);
    barrier.release();
    await delivery;
    const { facts } = await packetOf(conversationId);
    expect(facts).toMatchObject({ cancelledSendIds: [sendId], acceptedAfterStop: [] });
  });

  it.each([
    ['after', 1_000, true],
    ['before', -1, false],
  ])(
    'says whether the provider accepted it %s the stop [S3] [S5]',
    async (_name, laterMs, after) => {
      const { conversationId, sendId } = await queuedFollowUp(world);
      const barrier = laterMs > 0 ? pauseInProvider(world) : pauseAt(world, 'deliver:marked');
      const delivery = world.activities.deliver({ conversationId, sendId });
      await heldAt(barrier, delivery);
      world.clock.advance(1_000);
      await STOPS.reply();
      world.clock.advance(1_000);
      barrier.release();
      await delivery;
      const { facts, providerResponses } = await packetOf(conversationId);
      expect(facts.acceptedAfterStop).toEqual(after ? [sendId] : []);
      expect(facts.cancelledSendIds).toEqual([]);
      expect(providerResponses.at(-1)).toMatchObject({ sendId, outcome: 'accepted' });
      await runUntilIdle(world, conversationId, { forMs: 0 });
    },
  );

  it('is empty where nothing stopped the conversation [S5]', async () => {
    const id = await answeredLead(world);
    const { facts, attempts } = await packetOf(id);
    expect(facts).toEqual({
      stopOccurredAt: null,
      stateChangedAt: null,
      cancelledSendIds: [],
      acceptedAfterStop: [],
    });
    expect(attempts).toHaveLength(1);
  });

  it('names events by digests and holds nothing personal [S5] [INV-22]', async () => {
    const canaries = ['My sink leaks', 'Canary Lane 7', 'SM-canary', '13125550142', 'Maria'];
    await world.write({ text: 'My sink leaks at Canary Lane 7', id: 'SM-canary' });
    const { id } = await world.conversation();
    await runUntilIdle(world, id, { forMs: 0 });
    await act(world, id, { command: 'note', text: 'Maria prefers mornings.' });
    await act(world, id, { command: 'reply', text: 'Hello Maria' });
    await runUntilIdle(world, id, { forMs: 0 });
    const packet = await packetOf(id);
    expect(packet.providerEventIds).toEqual([sha256('SM-canary')]);
    const text = JSON.stringify(packet);
    for (const canary of canaries) expect(text).not.toContain(canary);
  });

  it('of another business’s conversation is nobody’s here [SEC1]', async () => {
    const id = await answeredLead(world);
    const read = inTransaction(world.database.service, (client) =>
      readEvidence(client, `biz_${'9'.repeat(32)}`, id),
    );
    expect(await read).toBeNull();
  });
});
