import { ESCALATION_QUEUES } from '../../domain/escalation';
import { cleanText } from '../../domain/text';
import { run, statement } from '../database';
import { writeNote } from '../notes';
import { refuse, type Action, type RequestOf } from './action';
import type { Refusal } from './contract';

/** `note`: keeps what a person wrote for colleagues; nothing is sent. */
export async function note(action: Action, request: RequestOf<'note'>): Promise<Refusal | null> {
  const { client, locked, role } = action;
  const text = cleanText(request.text).trim();
  if (text === '') return refuse('text_does_not_fit', 'Write something, then save it again.');
  await writeNote(client, locked.conversation, { role, text, at: locked.now });
  return null;
}

const assignItems = statement<{ id: string }>(
  'assign-work-items',
  `update work_items set assigned_queue = $2
   where conversation_id = $1 and resolved_at is null returning id`,
);

/** `assign`: what waits for a person here waits in another queue; its clock goes on (C7). */
export async function assign(
  action: Action,
  request: RequestOf<'assign'>,
): Promise<Refusal | null> {
  const { client, locked } = action;
  const queue = ESCALATION_QUEUES.find((known) => known === request.queue);
  if (queue === undefined) {
    const known = ESCALATION_QUEUES.join(', ');
    return refuse('not_applicable', `There is no such queue. The queues are: ${known}.`);
  }
  const assigned = await run(client, assignItems, [locked.conversation.id, queue]);
  if (assigned.length > 0) return null;
  return refuse('not_applicable', 'Nothing waits for a person here.');
}
