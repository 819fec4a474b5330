import type { PoolClient } from 'pg';
import type { LockedConversation } from './conversations';
import { run, statement } from './database';
import { newId } from './new-id';

const insertNote = statement(
  'insert-note',
  `insert into notes (id, business_id, conversation_id, role, text, at)
   values ($1, $2, $3, $4, $5, $6)`,
);

/**
 * Keeps what a person wrote for colleagues. It is content: facts that are never erased name the
 * note by its id and do not repeat it. Returns the id.
 */
export async function writeNote(
  client: PoolClient,
  conversation: LockedConversation,
  note: { readonly role: string; readonly text: string; readonly at: string },
): Promise<string> {
  const id = newId('nte');
  const { businessId } = conversation;
  await run(client, insertNote, [id, businessId, conversation.id, note.role, note.text, note.at]);
  return id;
}
