import type { PoolClient } from 'pg';
import type { z } from 'zod';
import { countConversations, listConversations } from '../../db/queries/conversation-list';
import { readConversation } from '../../db/queries/conversation-detail';
import { readTimeline, readTimelineHead } from '../../db/queries/conversation-timeline';
import { listDeliveries } from '../../db/queries/deliveries';
import { readStaffClock, type PageMark } from '../../db/queries/staff-reading';
import { listWorkItems } from '../../db/queries/work-items';
import { readEvidence } from '../../db/evidence';
import { cleanText } from '../../domain/text';
import { timelineOf } from '../../domain/timeline';
import { ProblemError } from '../problem';
import { decodeCursor, encodeCursor, NOT_FOUND } from './parsing';
import { presentConversation } from './presenting';
import type {
  conversationDetailSchema,
  conversationListQuery,
  conversationListSchema,
  deliveryListQuery,
  deliveryListSchema,
  escalationListQuery,
  escalationListSchema,
  evidenceSchema,
  timelineSchema,
} from './schemas';

/** One read of a business, inside its transaction. */
export interface Reading {
  readonly client: PoolClient;
  readonly businessId: string;
}

/** Splits a page that was read with one row more than asked for. */
function page<Row extends { readonly id: string }>(
  rows: readonly Row[],
  limit: number,
  at: (row: Row) => string,
): { items: Row[]; nextCursor: string | null } {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { items, nextCursor: more ? encodeCursor(markOf(last.id, at(last))) : null };
}

function markOf(id: string, at: string): PageMark {
  return { id, at };
}

/** `GET /conversations`. */
export async function conversationList(
  { client, businessId }: Reading,
  query: z.output<typeof conversationListQuery>,
): Promise<z.input<typeof conversationListSchema>> {
  const search = cleanText(query.q ?? '').trim();
  const [counts, rows] = await Promise.all([
    countConversations(client, businessId),
    listConversations(client, businessId, {
      state: query.state ?? null,
      channel: query.channel ?? null,
      owner: query.owner ?? null,
      owed: query.owed ?? null,
      needsPerson: query.needsPerson ?? null,
      search: search === '' ? null : search,
      before: decodeCursor(query.cursor),
      limit: query.limit,
    }),
  ]);
  const { now, owed, needsPerson } = counts;
  const { items, nextCursor } = page(rows, query.limit, (row) => row.lastActivityAt);
  return {
    now,
    counts: { owed, needsPerson },
    items: items.map((row) => presentConversation(row, now)),
    nextCursor,
  };
}

/** `GET /conversations/{id}`. */
export async function conversationDetail(
  { client, businessId }: Reading,
  conversationId: string,
): Promise<z.input<typeof conversationDetailSchema>> {
  const row = await readConversation(client, businessId, conversationId);
  if (row === null) throw new ProblemError(NOT_FOUND);
  const { now, rememberedState, episode, newestSeq, phone, business, account } = row;
  return {
    ...presentConversation(row, now),
    now,
    rememberedState,
    episode,
    newestSeq,
    phone,
    business,
    account,
  };
}

/** `GET /conversations/{id}/timeline`. */
export async function conversationTimeline(
  { client, businessId }: Reading,
  conversationId: string,
): Promise<z.input<typeof timelineSchema>> {
  const head = await readTimelineHead(client, businessId, conversationId);
  if (head === null) throw new ProblemError(NOT_FOUND);
  const { facts, olderOmitted } = await readTimeline(client, businessId, conversationId);
  const entries = timelineOf({ channel: head.channel, timeZone: head.timeZone, ...facts });
  return {
    conversationId,
    now: head.now,
    timeZone: head.timeZone,
    newestSeq: facts.messages.at(-1)?.seq ?? 0,
    olderOmitted,
    entries: entries.map((entry) => ({
      ...entry,
      message:
        entry.message === null ? null : { ...entry.message, media: [...entry.message.media] },
    })),
  };
}

/** `GET /conversations/{id}/evidence`. */
export async function conversationEvidence(
  { client, businessId }: Reading,
  conversationId: string,
): Promise<z.input<typeof evidenceSchema>> {
  const packet = await readEvidence(client, businessId, conversationId);
  if (packet === null) throw new ProblemError(NOT_FOUND);
  return packet;
}

/** `GET /escalations`. */
export async function escalationList(
  { client, businessId }: Reading,
  query: z.output<typeof escalationListQuery>,
): Promise<z.input<typeof escalationListSchema>> {
  const [{ now }, rows] = await Promise.all([
    readStaffClock(client),
    listWorkItems(client, businessId, {
      resolved: query.state === 'resolved',
      kind: query.kind ?? null,
      queue: query.queue ?? null,
      after: decodeCursor(query.cursor),
      limit: query.limit,
    }),
  ]);
  return { now, ...page(rows, query.limit, (row) => row.openedAt) };
}

/** `GET /deliveries`. */
export async function deliveryList(
  { client, businessId }: Reading,
  query: z.output<typeof deliveryListQuery>,
): Promise<z.input<typeof deliveryListSchema>> {
  const [{ now }, rows] = await Promise.all([
    readStaffClock(client),
    listDeliveries(client, businessId, {
      state: query.state,
      before: decodeCursor(query.cursor),
      limit: query.limit,
    }),
  ]);
  return { now, ...page(rows, query.limit, (row) => row.createdAt) };
}
