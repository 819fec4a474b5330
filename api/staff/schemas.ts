import { z } from 'zod';
import { CONVERSATION_STATES } from '../../domain/conversation-state';
import { ESCALATION_QUEUES } from '../../domain/escalation';
import { CHANNELS } from '../../domain/inbound';
import { PURPOSES, SEND_STATES } from '../../domain/sending';
import { TIMELINE_KINDS, TIMELINE_TONES } from '../../domain/timeline-facts';
import { WORK_ITEM_KINDS } from '../../domain/work-items';

/**
 * The shapes of the staff API: what requests are parsed with, what handlers must return, and what
 * `/api/openapi.json` and the console's types are made from.
 */
const instant = z.string().meta({
  description: 'ISO 8601 in UTC.',
  example: '2026-11-30T18:00:00.000000Z',
});
const channel = z.enum(CHANNELS).meta({ id: 'Channel' });
const state = z.enum(CONVERSATION_STATES).meta({ id: 'ConversationState' });
const owner = z.enum(['automation', 'person']).meta({ id: 'Owner' });
const author = z
  .enum(['lead', 'automation', 'staff', 'native', 'import'])
  .meta({ id: 'Author', description: "`native`: a person in the provider's own app." });

const flag = z.enum(['true', 'false']).transform((value) => value === 'true');
const cursor = z.string().max(400).optional().meta({ description: 'From `nextCursor`.' });
const limit = z.coerce.number().int().min(1).max(100).default(50);

const nextCursor = z
  .string()
  .nullable()
  .meta({ description: 'Where the next page begins; null on the last one.' });

const conversationRow = z.object({
  id: z.string(),
  channel,
  leadName: z.string().meta({ description: 'A name, else the number, else what is known.' }),
  state,
  owner,
  version: z.number().int(),
  owedSince: instant.nullable().meta({
    description: 'When the oldest unanswered message was written; null if nothing is owed.',
  }),
  owedForMs: z.number().int().nullable(),
  lastActivityAt: instant,
  preview: z
    .object({ author, text: z.string().max(121) })
    .nullable()
    .meta({ description: 'The newest message, at most 120 characters and an ellipsis.' }),
  openWorkItems: z.number().int(),
});

/** A row of the list. */
export const conversationSchema = conversationRow.meta({ id: 'Conversation' });

export const conversationListQuery = z.strictObject({
  state: state.optional(),
  channel: channel.optional(),
  owner: owner.optional(),
  owed: flag.optional().meta({ description: 'Whether an answer is owed.' }),
  needsPerson: flag.optional().meta({ description: 'Whether an open work item waits.' }),
  q: z
    .string()
    .max(200)
    .optional()
    .meta({ description: "Part of the lead's name or number, or a whole conversation id." }),
  cursor,
  limit,
});

export const conversationListSchema = z
  .object({
    now: instant.meta({ description: 'The clock by which ages were reckoned.' }),
    counts: z.object({ owed: z.number().int(), needsPerson: z.number().int() }),
    items: z.array(conversationSchema),
    nextCursor,
  })
  .meta({ id: 'ConversationList' });

const workItem = z
  .object({
    id: z.string(),
    kind: z.enum(WORK_ITEM_KINDS),
    reason: z.string(),
    explanation: z.string(),
    conversationId: z.string().nullable(),
    channel: z.union([channel, z.null()]),
    leadName: z.string().nullable(),
    sendId: z.string().nullable(),
    queue: z.string(),
    newestSeq: z.number().int().nullable(),
    openedAt: instant,
    escalateAt: instant.meta({ description: 'The deadline; it never moves.' }),
    nextEscalationAt: instant.nullable().meta({
      description: 'When it is told again; null once somebody acted.',
    }),
    level: z.number().int(),
    claimedAt: instant.nullable(),
    claimedBy: z.string().nullable().meta({ description: 'A company role, never a person.' }),
    resolvedAt: instant.nullable(),
    resolvedBy: z.string().nullable(),
    resolution: z.string().nullable(),
  })
  .meta({ id: 'WorkItem' });

export const conversationDetailSchema = conversationRow
  .extend({
    now: instant,
    rememberedState: z
      .union([state, z.null()])
      .meta({ description: 'What resuming goes back to while the conversation is paused.' }),
    episode: z.number().int(),
    newestSeq: z
      .number()
      .int()
      .meta({ description: 'The newest message; what `seenSeq` says when all is read.' }),
    phone: z.string().nullable(),
    business: z.object({ name: z.string(), timeZone: z.string() }),
    account: z.object({ externalId: z.string(), pausedReason: z.string().nullable() }),
  })
  .meta({ id: 'ConversationDetail' });

const timelineEntrySchema = z
  .object({
    id: z.string().meta({ description: 'Stable: the same fact keeps its id.' }),
    kind: z.enum(TIMELINE_KINDS),
    at: instant,
    text: z.string().meta({ description: 'A sentence, or what a message says.' }),
    tone: z
      .enum(TIMELINE_TONES)
      .meta({ description: '`quiet` steps are only for whoever looks closely.' }),
    message: z
      .object({
        direction: z.enum(['in', 'out']),
        author,
        seq: z.number().int(),
        media: z.array(z.string()),
        delivery: z.enum(['sent', 'delivered', 'failed', 'unknown']).nullable(),
        edited: z.boolean(),
        deleted: z.boolean(),
      })
      .nullable(),
    quote: z.string().nullable().meta({
      description: 'The wording of a message that did not leave or may not have arrived.',
    }),
    upcoming: z.boolean().meta({ description: 'Planned, and not happened yet.' }),
  })
  .meta({ id: 'TimelineEntry' });

export const timelineSchema = z
  .object({
    conversationId: z.string(),
    now: instant,
    timeZone: z.string().meta({ description: "The business's IANA zone." }),
    newestSeq: z.number().int(),
    olderOmitted: z.boolean(),
    entries: z.array(timelineEntrySchema),
  })
  .meta({ id: 'Timeline' });

export const escalationListQuery = z.strictObject({
  state: z.enum(['open', 'resolved']).default('open'),
  kind: z.enum(WORK_ITEM_KINDS).optional(),
  queue: z.string().max(60).optional(),
  cursor,
  limit,
});

export const escalationListSchema = z
  .object({ now: instant, items: z.array(workItem), nextCursor })
  .meta({ id: 'EscalationList' });

export const deliveryListQuery = z.strictObject({
  state: z.enum(SEND_STATES).default('delivery_unknown'),
  cursor,
  limit,
});

const deliverySchema = z
  .object({
    id: z.string(),
    conversationId: z.string(),
    channel,
    leadName: z.string().nullable(),
    purpose: z.enum(PURPOSES),
    state: z.enum(SEND_STATES),
    text: z.string(),
    reason: z.string().nullable(),
    attempts: z.number().int(),
    attemptedAt: instant.nullable(),
    createdAt: instant,
    workItemId: z.string().nullable(),
  })
  .meta({ id: 'Delivery' });

export const deliveryListSchema = z
  .object({ now: instant, items: z.array(deliverySchema), nextCursor })
  .meta({ id: 'DeliveryList' });

export const commandResultSchema = z
  .object({ conversationId: z.string(), state: z.string(), owner: z.string(), version: z.number() })
  .meta({ id: 'CommandResult' });

export const workItemResultSchema = z
  .object({
    workItemId: z.string(),
    conversationId: z.string().nullable(),
    queue: z.string(),
    claimedAt: z.string().nullable(),
    claimedBy: z.string().nullable(),
    resolvedAt: z.string().nullable(),
    resolution: z.string().nullable(),
  })
  .meta({ id: 'WorkItemResult' });

const ids = z.array(z.string());

const evidenceTransition = z.object({
  ordinal: z.number().int(),
  fromState: z.string(),
  toState: z.string(),
  version: z.number().int(),
  cause: z.string(),
  causeRef: z.string().nullable(),
  changed: z.boolean().meta({ description: 'False where it was recorded and changed nothing.' }),
  occurredAt: instant.meta({ description: 'When what caused it happened.' }),
  at: instant.meta({ description: 'When the state changed here.' }),
  cancelledSendIds: ids,
  acceptedAfterStop: ids,
});

const evidenceAttempt = z.object({
  attemptId: z.string(),
  sendId: z.string(),
  number: z.number().int(),
  purpose: z.string(),
  decisionId: z.string(),
  notBefore: instant,
  expiresAt: instant.nullable(),
  conversationVersion: z.number().int(),
  sawSeq: z.number().int(),
  startedAt: instant,
});

const evidenceResponse = z.object({
  attemptId: z.string(),
  sendId: z.string(),
  outcome: z.string(),
  code: z.string().nullable(),
  evidence: z.string(),
  providerMessageSha256: z.string().nullable(),
  acceptedAt: instant.nullable(),
  recordedAt: instant,
});

export const evidenceSchema = z
  .object({
    configVersion: z.string(),
    conversationId: z.string(),
    providerEventIds: ids.meta({
      description: "SHA-256 of the providers' ids: some of those contain a telephone number.",
    }),
    queuedMessageIds: ids,
    transitions: z.array(evidenceTransition),
    attempts: z.array(evidenceAttempt),
    providerResponses: z.array(evidenceResponse),
    facts: z.object({
      stopOccurredAt: instant.nullable(),
      stateChangedAt: instant.nullable(),
      cancelledSendIds: ids,
      acceptedAfterStop: ids,
    }),
  })
  .meta({ id: 'Evidence' });

export const problemSchema = z
  .object({
    type: z.string(),
    status: z.number().int(),
    code: z.string().meta({ description: 'Stable; texts may change.' }),
    title: z.string(),
    detail: z.string(),
    newestSeq: z.number().int().optional(),
    requestId: z.string().optional(),
  })
  .meta({ id: 'Problem' });

const hintSchema = z
  .object({ id: z.string(), version: z.number().int() })
  .meta({ id: 'Hint', description: 'A conversation changed: fetch it again.' });

const noticeHintSchema = z
  .object({ id: z.string(), queue: z.enum(ESCALATION_QUEUES), items: z.number().int() })
  .meta({ id: 'NoticeHint', description: 'So many things wait for a person of that queue.' });

/** What the stream of events holds. */
export const streamHintSchema = z.union([hintSchema, noticeHintSchema]);
