import { STAFF_COMMANDS, type StaffCommand } from '../../db/commands/contract';
import { defineEndpoint, type AnyEndpoint } from './endpoint';
import {
  commandBody,
  commandResultSchema,
  conversationDetailSchema,
  conversationListQuery,
  conversationListSchema,
  deliveryListQuery,
  deliveryListSchema,
  escalationListQuery,
  escalationListSchema,
  hintSchema,
  timelineSchema,
} from './schemas';

export const listConversationsEndpoint = defineEndpoint({
  method: 'get',
  path: '/conversations',
  operationId: 'listConversations',
  summary: 'Conversations, the newest activity first',
  query: conversationListQuery,
  answer: conversationListSchema,
  problems: { 400: 'invalid_request' },
});

export const readConversationEndpoint = defineEndpoint({
  method: 'get',
  path: '/conversations/{id}',
  operationId: 'readConversation',
  summary: 'One conversation',
  answer: conversationDetailSchema,
  problems: { 404: 'not_found' },
});

export const readTimelineEndpoint = defineEndpoint({
  method: 'get',
  path: '/conversations/{id}/timeline',
  operationId: 'readTimeline',
  summary: 'The story of a conversation in plain words, oldest first',
  description:
    'Messages both ways, what was decided, sent and not sent and why, who holds the conversation, and what is planned.',
  answer: timelineSchema,
  problems: { 404: 'not_found' },
});

export const listEscalationsEndpoint = defineEndpoint({
  method: 'get',
  path: '/escalations',
  operationId: 'listEscalations',
  summary: 'Open work items, the longest waiting first',
  query: escalationListQuery,
  answer: escalationListSchema,
  problems: { 400: 'invalid_request' },
});

export const listDeliveriesEndpoint = defineEndpoint({
  method: 'get',
  path: '/deliveries',
  operationId: 'listDeliveries',
  summary: 'Sends in one state; by default those whose outcome is unknown',
  query: deliveryListQuery,
  answer: deliveryListSchema,
  problems: { 400: 'invalid_request' },
});

export const eventsEndpoint = defineEndpoint({
  method: 'get',
  path: '/events',
  operationId: 'streamEvents',
  summary: 'Server-sent hints that a conversation changed',
  description:
    'Each event `conversation` holds an id and a version, never content: fetch again what you show. `Last-Event-ID` replays at most the last 30 s; an event `reset` says that more was missed, so fetch everything again. Hints may repeat.',
  answer: hintSchema,
  answerType: 'text/event-stream',
});

const COMMAND_SUMMARIES: Readonly<Record<StaffCommand, string>> = {
  claim: 'Take a conversation over: automation stays silent',
  release: 'Give a conversation back to automation; requires `seenSeq`',
  book: 'Mark the job as booked: follow-ups end',
  'opt-out': 'Record that the lead wants no more messages',
};

/** The operation of a command. */
export function commandEndpoint(command: StaffCommand) {
  return defineEndpoint({
    method: 'post',
    path: `/conversations/{id}/${command}`,
    operationId: command === 'opt-out' ? 'optOut' : command,
    summary: COMMAND_SUMMARIES[command],
    body: commandBody,
    keyed: true,
    answer: commandResultSchema,
    problems: {
      400: 'invalid_request, idempotency_key_required, seen_seq_required',
      404: 'not_found',
      409: 'newer_message, not_applicable',
      422: 'key_reused',
    },
  });
}

/** Every operation, in the order of the documentation. */
export const ENDPOINTS: readonly AnyEndpoint[] = [
  listConversationsEndpoint,
  readConversationEndpoint,
  readTimelineEndpoint,
  ...STAFF_COMMANDS.map(commandEndpoint),
  listEscalationsEndpoint,
  listDeliveriesEndpoint,
  eventsEndpoint,
];
