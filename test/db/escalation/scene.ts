import { refreshAgenda } from '../../../db/agenda';
import { lockConversation } from '../../../db/conversations';
import { inTransaction } from '../../../db/database';
import { handOver } from '../../../db/handover';
import { newId } from '../../../db/new-id';
import {
  claimWorkItem,
  openWorkItem,
  resolveWorkItems,
  type NewWorkItem,
} from '../../../db/work-items';
import { DEMO_BUSINESS } from '../../../dev/demo';
import { noticesOnce, type NoticeDependencies } from '../../../upkeep/notices';
import type { World } from '../../support/world';

export const MINUTE_MS = 60_000;

/** Hands a conversation over, as the sweeper and the pipeline do. */
async function handOverNow(
  world: World,
  conversationId: string,
  noticeDelayMs = 0,
): Promise<string> {
  return inTransaction(world.database.service, async (client) => {
    const locked = await lockConversation(client, conversationId, world.clock.iso);
    if (locked === null) throw new Error('the conversation exists');
    const item = await handOver(client, locked.conversation, {
      reason: 'reply_overdue',
      explanation: 'The answer is late.',
      actor: { kind: 'system', ref: 'sweeper' },
      noticeDelayMs,
      at: locked.now,
    });
    await refreshAgenda(client, conversationId, locked.now);
    return item;
  });
}

/** A lead who wrote and whose conversation waits for a person. */
export async function handedOver(
  world: World,
  lead: string,
  noticeDelayMs = 0,
): Promise<{ readonly conversationId: string; readonly itemId: string }> {
  await world.write({ text: 'My sink leaks', lead });
  const { id: conversationId } = await world.conversation(lead);
  return { conversationId, itemId: await handOverNow(world, conversationId, noticeDelayMs) };
}

/** Opens an item of any kind, without a conversation unless one is named. */
export async function openItem(
  world: World,
  item: Partial<NewWorkItem> & Pick<NewWorkItem, 'kind'>,
): Promise<string> {
  const { id } = await inTransaction(world.database.service, (client) =>
    openWorkItem(client, {
      businessId: DEMO_BUSINESS.id,
      conversationId: null,
      reason: 'of_a_test',
      explanation: 'An item of a test.',
      at: world.clock.iso,
      ...item,
    }),
  );
  return id;
}

/** Somebody acts on the handoff of a conversation. */
export async function act(
  world: World,
  how: 'claims' | 'resolves',
  { conversationId, itemId }: { readonly conversationId: string; readonly itemId: string },
): Promise<void> {
  const at = world.clock.iso;
  const by = 'support-agent';
  await inTransaction(world.database.service, async (client) => {
    if (how === 'claims') await claimWorkItem(client, itemId, { at, by });
    else {
      const closing = { kinds: ['handoff'], by, resolution: 'done' } as const;
      await resolveWorkItems(client, { conversationId, at, ...closing });
    }
    await refreshAgenda(client, conversationId, at);
  });
}

/** One round of the loop that carries out deadlines and writes notices. */
export function round(
  world: World,
  log: NoticeDependencies['log'] = world.dependencies.log,
): Promise<{ escalated: number; written: number }> {
  return noticesOnce({ pool: world.database.service, clock: world.clock, log });
}

/** The levels that were reached: which, of which queue, and how many minutes after the opening. */
export async function levels(world: World): Promise<string[]> {
  const rows = await world.rows(
    `select e.level, e.queue, (extract(epoch from e.due_at - w.opened_at) / 60)::float8 as minutes
     from escalations e join work_items w on w.id = e.work_item_id order by w.id, e.level`,
  );
  return rows.map(
    (row) => `${String(row['level'])} ${String(row['queue'])} ${String(row['minutes'])} min`,
  );
}

/** The notices, each as its queue and how many escalations it tells, the oldest first. */
export async function notices(world: World): Promise<string[]> {
  const rows = await world.rows(
    `select n.queue, count(i.*)::int as items from notices n
     left join notice_items i on i.notice_id = n.id group by n.id order by n.created_at, n.queue`,
  );
  return rows.map((row) => `${String(row['queue'])}: ${String(row['items'])}`);
}

/** Connects an integration that carries notices. */
export async function connect(
  world: World,
  integration: {
    readonly kind: string;
    readonly settings: unknown;
    readonly secret?: string;
    readonly businessId?: string | null;
  },
): Promise<string> {
  const id = newId('int');
  await world.rows(
    `insert into integrations (id, business_id, kind, settings, secret, created_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [
      id,
      integration.businessId === undefined ? DEMO_BUSINESS.id : integration.businessId,
      integration.kind,
      JSON.stringify(integration.settings),
      integration.secret ?? null,
      world.clock.iso,
    ],
  );
  return id;
}
