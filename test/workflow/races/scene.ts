import { refreshAgenda } from '../../../db/agenda';
import { runStaffCommand } from '../../../db/commands/run';
import type { PlainCommand } from '../../../db/commands/contract';
import { inTransaction } from '../../../db/database';
import type { WakeTarget } from '../../../db/due';
import { newId } from '../../../db/new-id';
import { claimWorkItem } from '../../../db/work-items';
import { DEMO_BUSINESS } from '../../../dev/demo';
import { conversationWorkflowId } from '../../../workflows/contract';
import type { LeadText } from '../../support/inbound';
import { calledFor } from '../../support/sends';
import { eventually, type TemporalWorld } from '../../support/temporal-world';

/** A lead who wrote and was answered; its workflow waits for the first follow-up. */
export async function answeredLead(temporal: TemporalWorld, lead: string): Promise<string> {
  const before = temporal.world.provider.accepted.length;
  const id = await temporal.receive({ text: 'My sink leaks', lead });
  await eventually(
    () => temporal.world.provider.accepted.length === before + 1,
    'the lead is answered',
  );
  await eventually(async () => {
    const planned = await temporal.world.rows(
      'select from follow_up_plans where conversation_id = $1',
      [id],
    );
    return planned.length === 1;
  }, 'the follow-ups are planned');
  return id;
}

/** When the conversation's first open follow-up is due, as epoch milliseconds. */
export async function followUpDueMs(temporal: TemporalWorld, id: string): Promise<number> {
  const [row] = await temporal.world.rows(
    `select (extract(epoch from min(due_at)) * 1000)::float8 as due_ms from follow_up_steps
     where conversation_id = $1 and written_at is null`,
    [id],
  );
  return Number(row?.['due_ms']);
}

/** The environment's time, as epoch milliseconds. */
export async function nowMs({ world }: TemporalWorld): Promise<number> {
  return Date.parse((await world.dependencies.clock.now()) ?? '');
}

/**
 * Jumps to the first follow-up's due time plus `offsetMs`. An activity that a test holds stops
 * the jump, so it ends at the due time and not behind it (temporal.md 2.4).
 */
export async function skipToFollowUp(
  temporal: TemporalWorld,
  id: string,
  offsetMs = 1,
): Promise<void> {
  const waitMs = (await followUpDueMs(temporal, id)) + offsetMs - (await nowMs(temporal));
  await temporal.skip(Math.ceil(waitMs));
}

/** Stores one webhook and wakes whom it names; unlike `receive` it may be a duplicate. */
export async function webhook(temporal: TemporalWorld, message: LeadText): Promise<number> {
  const result = await temporal.world.write(message);
  for (const target of result.wake) await temporal.waker.wake(target, 'inbound');
  return result.stored;
}

/** A command of staff at an instant of the environment's time, with its wake-up. */
export async function command(
  temporal: TemporalWorld,
  conversationId: string,
  name: PlainCommand,
  atMs?: number,
): Promise<void> {
  const at = atMs ?? (await nowMs(temporal));
  const result = await runStaffCommand(
    temporal.world.database.staff,
    {
      businessId: DEMO_BUSINESS.id,
      role: 'agent',
      command: name,
      conversationId,
      idempotencyKey: newId('cmd'),
      seenSeq: null,
    },
    new Date(at).toISOString(),
  );
  if (result.kind === 'refused') throw new Error(result.detail);
  if (result.wake !== null) await temporal.waker.wake(result.wake, 'staff');
}

/** Somebody acts on whatever waits for a person; else its clock would never let a run complete. */
async function actOnItems(temporal: TemporalWorld): Promise<void> {
  const { world, waker } = temporal;
  const items = await world.rows(
    `select w.id as item, c.id, c.business_id as "businessId", c.channel, c.state, c.owner
     from work_items w join conversations c on c.id = w.conversation_id
     where w.next_escalation_at is not null`,
  );
  const at = new Date(await nowMs(temporal)).toISOString();
  for (const { item, ...conversation } of items) {
    const target = conversation as unknown as WakeTarget;
    await inTransaction(world.database.service, async (client) => {
      await claimWorkItem(client, String(item), { at, by: 'support-agent' });
      await refreshAgenda(client, target.id, at);
    });
    await waker.wake(target, 'staff');
  }
}

/**
 * Waits past every time that was ever scheduled, until the runs have completed, and replays their
 * histories; what waits for a person is claimed after an hour. Returns what the provider was called for, from the beginning.
 */
export async function calledUntilRest(
  temporal: TemporalWorld,
  ...conversations: readonly string[]
): Promise<readonly string[]> {
  await temporal.skip('1 hour');
  await actOnItems(temporal);
  await temporal.skip('9 days');
  for (const id of conversations) {
    const handle = temporal.client.workflow.getHandle(conversationWorkflowId(id));
    await eventually(
      async () => (await handle.describe()).status.name === 'COMPLETED',
      'the run completes',
    );
    await temporal.replay(id);
  }
  return calledFor(temporal.world);
}
