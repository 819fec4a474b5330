import { applyStateEvent, lockConversation } from '../../../db/conversations';
import { inTransaction } from '../../../db/database';
import type { StateEvent } from '../../../domain/conversation-state';
import { nextEscalation } from '../../support/escalations';
import { failWrites } from '../../support/postgres-faults';
import { runUntilIdle } from '../../support/run-until-idle';
import { makeWorld, type World } from '../../support/world';
import { answeredLead, command, queuedFollowUp, writeOnWhatsApp } from '../races/scene';

const LEAD = '+13125550142';
const HOUR_MS = 3_600_000;

/** Moves a state as a command of a later version would: under the lock, recorded. */
async function move(world: World, conversationId: string, event: StateEvent): Promise<void> {
  const at = world.clock.iso;
  await inTransaction(world.database.service, async (client) => {
    const locked = await lockConversation(client, conversationId, at);
    if (locked === null) throw new Error('there is no such conversation');
    await applyStateEvent(client, locked.conversation, event, {
      cause: 'moved_by_a_test',
      causeRef: null,
      at,
    });
  });
}

/** How a conversation comes into each state before the lead writes once more. */
const INTO: Readonly<Record<string, (world: World) => Promise<string>>> = {
  'active before any contact': async (world) => {
    await world.write({ text: 'My sink leaks' });
    return (await world.conversation()).id;
  },
  'active after an answer': async (world) => (await queuedFollowUp(world)).conversationId,
  replied: async (world) => {
    const id = await answeredLead(world);
    await world.write({ text: 'It is the kitchen' });
    await runUntilIdle(world, id, { forMs: 0 });
    return id;
  },
  booked: async (world) => {
    const id = await answeredLead(world);
    await command(world, id, 'book');
    return id;
  },
  'paused with an open handoff': async (world) => {
    const at = new Date(world.clock.epochMs - 2 * HOUR_MS).toISOString();
    await world.write({ text: 'My sink leaks', at });
    const { id } = await world.conversation();
    await runUntilIdle(world, id, { forMs: 0 });
    return id;
  },
  'paused and owned by a person without an item': async (world) => {
    const id = await answeredLead(world);
    await command(world, id, 'claim');
    return id;
  },
  closed: async (world) => {
    const id = (await queuedFollowUp(world)).conversationId;
    await command(world, id, 'book');
    await move(world, id, 'close');
    return id;
  },
  'opted out': async (world) => {
    const id = await answeredLead(world);
    await world.write({ text: 'STOP', optOut: 'stop' });
    await runUntilIdle(world, id, { forMs: 0 });
    return id;
  },
};

interface Row {
  readonly from: string;
  readonly to: string;
  readonly transition: readonly [from: string, to: string, cause: string, changed: boolean] | null;
  readonly owed: boolean;
  readonly settlement: string | null;
  readonly openHandoffs: number;
}

const TABLE: readonly Row[] = [
  {
    from: 'active before any contact',
    to: 'active',
    transition: null,
    owed: true,
    settlement: null,
    openHandoffs: 0,
  },
  {
    from: 'active after an answer',
    to: 'replied',
    transition: ['active', 'replied', 'lead_replied', true],
    owed: true,
    settlement: null,
    openHandoffs: 0,
  },
  {
    from: 'replied',
    to: 'replied',
    transition: ['replied', 'replied', 'lead_replied', false],
    owed: true,
    settlement: null,
    openHandoffs: 0,
  },
  {
    from: 'booked',
    to: 'booked',
    transition: ['booked', 'booked', 'lead_replied', false],
    owed: true,
    settlement: null,
    openHandoffs: 0,
  },
  {
    from: 'paused with an open handoff',
    to: 'paused',
    transition: ['active', 'paused', 'handover', true],
    owed: false,
    settlement: 'work-item',
    openHandoffs: 1,
  },
  {
    from: 'paused and owned by a person without an item',
    to: 'paused',
    transition: ['paused', 'paused', 'lead_replied', true],
    owed: false,
    settlement: 'work-item',
    openHandoffs: 1,
  },
  {
    from: 'closed',
    to: 'active',
    transition: ['closed', 'active', 'lead_wrote_again', true],
    owed: true,
    settlement: null,
    openHandoffs: 0,
  },
  {
    from: 'opted out',
    to: 'opted_out',
    transition: ['opted_out', 'opted_out', 'lead_replied', false],
    owed: true,
    settlement: null,
    openHandoffs: 0,
  },
];

describe('a lead who writes', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const lastTransition = async () => {
    const [row] = await world.rows(
      `select from_state, to_state, cause, changed from conversation_transitions
       order by ordinal desc limit 1`,
    );
    return row === undefined ? null : Object.values(row);
  };

  it.each(TABLE)('to a conversation that is $from leaves it $to [S1] [S2]', async (row) => {
    const conversationId = await INTO[row.from]?.(world);
    world.clock.advance(60_000);
    await world.write({ text: 'One more thing: the drain is slow' });
    const after = await world.conversation();
    expect(after.id).toBe(conversationId);
    expect(after['state']).toBe(row.to);
    expect(await lastTransition()).toEqual(row.transition);
    expect(after['owed_since'] !== null).toBe(row.owed);
    const [newest] = await world.rows(
      `select settlement from messages where author = 'lead' order by seq desc limit 1`,
    );
    expect(newest).toEqual({ settlement: row.settlement });
    expect(
      await world.rows(
        `select newest_seq from work_items where kind = 'handoff' and resolved_at is null`,
      ),
    ).toHaveLength(row.openHandoffs);
    const open = await world.rows(
      `select from outbox where purpose = 'follow-up' and state in ('queued', 'leased')`,
    );
    expect(open).toHaveLength(0);
  });

  it('while a person owns the conversation raises what resume goes back to [S1]', async () => {
    await INTO['paused and owned by a person without an item']?.(world);
    await world.write({ text: 'Are you there?' });
    expect(await world.conversation()).toMatchObject({
      state: 'paused',
      remembered_state: 'replied',
      next_due_at: await nextEscalation(world),
    });
  });

  it('twice while a person owns the conversation joins the one open item [T6]', async () => {
    await INTO['paused and owned by a person without an item']?.(world);
    await world.write({ text: 'Are you there?' });
    await world.write({ text: 'Hello?' }, { text: 'It is urgent' });
    expect(await world.rows(`select kind, newest_seq, count(*) over () from work_items`)).toEqual([
      { kind: 'handoff', newest_seq: 5, count: 1 },
    ]);
  });

  it('into a closed conversation begins an episode: the stop before it counts no more [S1]', async () => {
    await INTO['closed']?.(world);
    await world.write({ text: 'Me again' });
    expect(await world.conversation()).toMatchObject({
      episode: 2,
      contact_started_at: null,
      owner: 'automation',
    });
  });

  it('after opting out goes to a person, never to automation [S1] [INV-13]', async () => {
    const id = await INTO['opted out']?.(world);
    world.clock.advance(60_000);
    await world.write({ text: 'My sink leaks again' });
    await runUntilIdle(world, id ?? '');
    expect(world.provider.calls).toHaveLength(2);
    expect(await world.rows(`select kind from work_items`)).toEqual([{ kind: 'handoff' }]);
  });

  it('and opts in by their own word is active again at every address [S1]', async () => {
    await INTO['opted out']?.(world);
    await world.write({ text: 'START', optOut: 'start' });
    expect(await world.conversation()).toMatchObject({ state: 'active' });
    expect(await lastTransition()).toEqual(['opted_out', 'active', 'lead_opted_in', true]);
    expect(await world.rows('select opted_out_at from addresses')).toEqual([
      { opted_out_at: null },
    ]);
  });

  it('on another channel stops the follow-ups of this one, in the same transaction [S2] [INV-11]', async () => {
    const { conversationId } = await queuedFollowUp(world);
    await writeOnWhatsApp(world, { text: 'I write here now' });
    expect(
      await world.rows('select state, end_reason from outbox where purpose = $1', ['follow-up']),
    ).toEqual([{ state: 'cancelled', end_reason: 'lead_replied' }]);
    expect(
      await world.rows('select state, next_due_at from conversations where id = $1', [
        conversationId,
      ]),
    ).toEqual([{ state: 'active', next_due_at: null }]);
    const [{ transactions } = {}] =
      await world.rows(`select count(distinct x) as transactions from (
      select xmin::text as x from outbox where purpose = 'follow-up'
      union all select xmin::text from messages where text = 'I write here now') t`);
    expect(transactions).toBe(1);
  });
});

describe('a word that opts out', () => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.reset());
  afterAll(() => world.close());

  const stop = () => world.write({ text: 'STOP', optOut: 'stop' });

  it('moves the state, marks every address and cancels everything in one transaction [S2] [INV-13]', async () => {
    await writeOnWhatsApp(world, { text: 'My sink leaks' });
    await queuedFollowUp(world);
    world.clock.advance(60_000);
    await stop();
    const [{ transactions } = {}] =
      await world.rows(`select count(distinct x) as transactions from (
      select xmin::text as x from messages where text = 'STOP'
      union all select xmin::text from addresses
      union all select xmin::text from outbox where state = 'cancelled'
      union all select xmin::text from follow_up_plans
      union all select xmin::text from conversation_transitions where to_state = 'opted_out'
      union all select xmin::text from webhook_receipts where id = (
        select receipt_id from messages where text = 'STOP')) t`);
    expect(transactions).toBe(1);
    expect(
      await world.rows(`select state, stopped_at is not null as stopped, opted_out_at is not null as out
      from outbox join follow_up_plans using (conversation_id) cross join addresses
      where purpose = 'follow-up'`),
    ).toEqual([{ state: 'cancelled', stopped: true, out: true }]);
  });

  it.each([
    ['messages', 'insert'],
    ['conversation_transitions', 'insert'],
    ['addresses', 'update'],
    ['outbox', 'update'],
    ['follow_up_plans', 'update'],
    ['delivery_jobs', 'insert'],
    ['conversations', 'update'],
  ])(
    'that fails at %s (%s) changes nothing at all, and counts when it comes again [S2] [IN6]',
    async (table) => {
      await queuedFollowUp(world);
      world.clock.advance(60_000);
      const facts = () =>
        world.rows(`select c.state, c.version, c.owed_since, c.last_seq, d.opted_out_at, o.state as send,
        p.stopped_at, (select count(*) from messages) as messages,
        (select count(*) from raw_deliveries) as raw, (select count(*) from delivery_jobs) as jobs
        from conversations c join addresses d on d.id = c.address_id
        join outbox o on o.conversation_id = c.id and o.purpose = 'follow-up'
        join follow_up_plans p on p.conversation_id = c.id`);
      const before = await facts();
      const mend = await failWrites(world.database.owner, { table, sqlState: '53100' });
      await expect(stop().finally(mend)).rejects.toMatchObject({ sqlState: '53100' });
      expect(await facts()).toEqual(before);
      await stop();
      expect(await facts()).toMatchObject([{ state: 'opted_out', send: 'cancelled' }]);
    },
  );

  it('on one channel leaves nothing due on the other, and both addresses out of reach [S2] [INV-13]', async () => {
    const { conversationId } = await queuedFollowUp(world);
    await writeOnWhatsApp(world, { text: 'STOP', optOut: 'stop' });
    expect(
      await world.rows('select next_due_at from conversations where id = $1', [conversationId]),
    ).toEqual([{ next_due_at: null }]);
    expect(
      await world.rows('select state, end_reason from outbox where purpose = $1', ['follow-up']),
    ).toEqual([{ state: 'cancelled', end_reason: 'opted_out' }]);
  });

  it('moves every state, a closed one too, and keeps the address out of reach [S1] [INV-13]', async () => {
    for (const into of Object.values(INTO)) {
      await into(world);
      world.clock.advance(60_000);
      await stop();
      expect(await world.conversation(LEAD)).toMatchObject({ state: 'opted_out' });
      expect(await world.rows('select from addresses where opted_out_at is null')).toHaveLength(0);
      await world.reset();
    }
  });

  it('leaves nothing that staff could still do by themselves [INV-13]', async () => {
    const id = await INTO['paused and owned by a person without an item']?.(world);
    await stop();
    expect(await command(world, id ?? '', 'book')).toMatchObject({
      kind: 'refused',
      code: 'not_applicable',
    });
  });
});
