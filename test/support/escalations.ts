import type { World } from './world';

/** When the next open item, of one conversation or of all, is due to be escalated. */
export async function nextEscalation(
  world: World,
  conversationId: string | null = null,
): Promise<unknown> {
  const [row] = await world.rows(
    `select min(next_escalation_at) as due from work_items
     where $1::text is null or conversation_id = $1`,
    [conversationId],
  );
  return row?.['due'] ?? null;
}
