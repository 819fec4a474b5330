import { refreshAgenda } from '../db/agenda';
import { lockConversation } from '../db/conversations';
import { inTransaction } from '../db/database';
import { escalate } from '../db/escalations';
import type { Agenda } from '../domain/agenda';
import type { WorkItemRef } from './contract';
import type { ActivityDependencies } from './dependencies';

/** Carries out the deadline of a work item, if it still stands (C7); safe to repeat. */
export async function escalateItem(
  dependencies: ActivityDependencies,
  { conversationId, workItemId }: WorkItemRef,
): Promise<Agenda> {
  const now = await dependencies.clock.now();
  const agenda = await inTransaction(dependencies.pool, async (client) => {
    const locked = await lockConversation(client, conversationId, now);
    if (locked === null) throw new Error('an escalated item has no conversation');
    await escalate(client, locked, workItemId);
    await dependencies.reach('escalate:raised', workItemId);
    return refreshAgenda(client, conversationId, now);
  });
  await dependencies.reach('escalate:committed', workItemId);
  return agenda;
}
