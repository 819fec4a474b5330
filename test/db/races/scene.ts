import { runStaffCommand } from '../../../db/commands/run';
import type { PlainCommand, StaffCommandResult } from '../../../db/commands/contract';
import { ingest } from '../../../db/ingest/ingest';
import type { IngestResult } from '../../../db/ingest/request';
import { newId } from '../../../db/new-id';
import { DEMO_BUSINESS } from '../../../dev/demo';
import { prepared, requestOf, type LeadText } from '../../support/inbound';
import { repeatEverything, runUntilIdle } from '../../support/run-until-idle';
import { calledFor } from '../../support/sends';
import type { World } from '../../support/world';

export const LEAD = '+13125550142';

const WHATSAPP_ACCOUNT = '300000000000003';

/** The same person on WhatsApp: the telephone number makes it one lead with two conversations. */
export async function writeOnWhatsApp(
  world: World,
  message: LeadText,
  now = world.clock.iso,
): Promise<IngestResult> {
  const id = message.id ?? `wamid.${newId('msg')}`;
  const element = prepared(
    {
      type: 'message',
      path: 'entry[0]',
      channel: 'whatsapp',
      accountExternalId: WHATSAPP_ACCOUNT,
      eventKey: `message:${id}`,
      stableContent: JSON.stringify([message.lead ?? LEAD, message.text]),
      source: { at: message.at ?? null, precision: 'none' },
      providerMessageId: id,
      from: [{ kind: 'phone', value: message.lead ?? LEAD }],
      profileName: null,
      text: message.text,
      media: [],
      unsupported: false,
      providerOptOut: null,
      providerConfirmsOptOut: false,
    },
    message.optOut ?? null,
  );
  return ingest(world.database.service, requestOf([element], 'meta'), now);
}

/** The one conversation of a channel. */
export async function conversationOn(world: World, channel: string): Promise<string> {
  const rows = await world.rows('select id from conversations where channel = $1', [channel]);
  if (rows.length !== 1) throw new Error(`${rows.length} conversations on ${channel}`);
  return String(rows[0]?.['id']);
}

/** A follow-up of day 1 that is due and waits in the outbox for a worker. */
export interface QueuedFollowUp {
  readonly conversationId: string;
  readonly sendId: string;
}

/** A lead who wrote once and was answered; nothing is due before the first follow-up. */
export async function answeredLead(world: World, lead = LEAD): Promise<string> {
  await world.write({ text: 'My sink leaks', lead });
  const { id } = await world.conversation(lead);
  await runUntilIdle(world, id, { forMs: 0 });
  return id;
}

/** Moves the clock to the due time of the conversation's first open follow-up, plus `lateMs`. */
export async function advanceToFollowUp(
  world: World,
  conversationId: string,
  lateMs = 0,
): Promise<{ readonly planId: string; readonly step: number }> {
  const [row] = await world.rows(
    `select plan_id, step, (extract(epoch from due_at) * 1000)::float8 as due_ms
     from follow_up_steps where conversation_id = $1 and written_at is null order by step limit 1`,
    [conversationId],
  );
  if (row === undefined) throw new Error('no follow-up is planned');
  world.clock.advance(Number(row['due_ms']) + lateMs - world.clock.epochMs);
  return { planId: String(row['plan_id']), step: Number(row['step']) };
}

/** Writes the outbox row of the first follow-up at its due time. */
export async function queueFollowUp(world: World, conversationId: string): Promise<QueuedFollowUp> {
  const due = await advanceToFollowUp(world, conversationId);
  await world.activities.writeFollowUp({ conversationId, ...due });
  return { conversationId, sendId: await openSendOf(world, conversationId, 'follow-up') };
}

/** An answered lead whose first follow-up waits in the outbox. */
export async function queuedFollowUp(world: World, lead = LEAD): Promise<QueuedFollowUp> {
  return queueFollowUp(world, await answeredLead(world, lead));
}

/** A lead who wrote, and whose answer waits in the outbox for a worker. */
export async function queuedAnswer(world: World, lead = LEAD): Promise<QueuedFollowUp> {
  await world.write({ text: 'My sink leaks', lead });
  const { id: conversationId } = await world.conversation(lead);
  await world.activities.takeTurn({ conversationId });
  return { conversationId, sendId: await openSendOf(world, conversationId, 'answer') };
}

/** The id of the conversation's one open send of a purpose. */
export async function openSendOf(
  world: World,
  conversationId: string,
  purpose: string,
): Promise<string> {
  const rows = await world.rows(
    `select id from outbox where conversation_id = $1 and purpose = $2
     and state in ('queued', 'leased', 'sending')`,
    [conversationId, purpose],
  );
  if (rows.length !== 1) throw new Error(`${rows.length} open sends of the purpose ${purpose}`);
  return String(rows[0]?.['id']);
}

/** A command of staff, as the api carries it out. */
export async function command(
  world: World,
  conversationId: string,
  name: PlainCommand,
  seenSeq: number | null = null,
): Promise<StaffCommandResult> {
  return runStaffCommand(
    world.database.staff,
    {
      businessId: DEMO_BUSINESS.id,
      role: 'agent',
      command: name,
      conversationId,
      idempotencyKey: newId('cmd'),
      seenSeq,
    },
    world.clock.iso,
  );
}

/**
 * Lets everything happen that still can: nine days, past every scheduled time, and then each
 * activity once more. Returns what the provider was called for, from the very beginning.
 */
export async function calledUntilRest(
  world: World,
  ...conversations: readonly string[]
): Promise<readonly string[]> {
  await runUntilIdle(world, conversations);
  for (const id of conversations) await repeatEverything(world, id);
  return calledFor(world);
}
