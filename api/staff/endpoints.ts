import { STAFF_COMMANDS, type StaffCommand } from '../../db/commands/contract';
import { readAuditEndpoint } from './audit';
import { defineEndpoint, type AnyEndpoint } from './endpoint';
import { COMMAND_FORMS, commandBody, resolveBody, settleBody } from './bodies';
import {
  commandResultSchema,
  conversationDetailSchema,
  conversationListQuery,
  conversationListSchema,
  deliveryListQuery,
  deliveryListSchema,
  escalationListQuery,
  escalationListSchema,
  evidenceSchema,
  streamHintSchema,
  timelineSchema,
  workItemResultSchema,
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

export const readEvidenceEndpoint = defineEndpoint({
  method: 'get',
  path: '/conversations/{id}/evidence',
  operationId: 'readEvidence',
  summary: 'What proves how a conversation was treated: ids and instants, nothing personal',
  description:
    'Ids, state changes, attempts and what the provider answered, with four facts about the newest stop that ended `active`: when it occurred, when the state changed, which sends it and later stops cancelled, and which the provider accepted after they should have stopped.',
  answer: evidenceSchema,
  problems: { 404: 'not_found' },
});

export const listEscalationsEndpoint = defineEndpoint({
  method: 'get',
  path: '/escalations',
  operationId: 'listEscalations',
  summary: 'Work items, the longest waiting first; by default the open ones',
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
  summary: 'Server-sent hints that a conversation changed or that things wait for a person',
  description:
    'Each event `conversation` holds an id and a version, each event `notice` an id, a queue and how many items it tells of; never content: fetch again what you show. `Last-Event-ID` replays at most the last 30 s; an event `reset` says that more was missed, so fetch everything again. Hints may repeat.',
  answer: streamHintSchema,
  answerType: 'text/event-stream',
});

const COMMAND_SUMMARIES: Readonly<Record<StaffCommand, string>> = {
  claim: 'Take a conversation over: automation stays silent',
  release: 'Give a conversation back to automation; requires `seenSeq`',
  reply: 'Write to the lead; this takes the conversation over',
  note: 'Keep a note for colleagues; nothing is sent',
  approve: 'Let the waiting draft leave, as it is or changed; requires `seenSeq`',
  reject: 'Keep the waiting draft back and let a person answer; requires `seenSeq`',
  'send-now': 'Let a waiting message leave now; every rule is still checked',
  postpone: 'Let a waiting message wait until then',
  book: 'Mark the job as booked: follow-ups end',
  'opt-out': 'Record that the lead wants no more messages',
  'opt-in': "Record the lead's own consent to hear from us again",
  pause: 'Stop automation without taking the conversation over',
  resume: 'Let automation go on after a pause',
  assign: 'Move what waits for a person here to another queue',
  close: 'End the conversation; requires `seenSeq`',
};

const WRITE_PROBLEMS = {
  400: 'invalid_request, idempotency_key_required, seen_seq_required, text_does_not_fit, wrong_time',
  404: 'not_found',
  409: 'newer_message, not_applicable, opted_out, window_closed, send_not_named, beyond_expiry',
  422: 'key_reused',
} as const;

/** The operation of a command on a conversation. */
export function commandEndpoint(command: StaffCommand) {
  return defineEndpoint({
    method: 'post',
    path: `/conversations/{id}/${command}`,
    operationId: command.replaceAll(/-(\w)/g, (_match, letter: string) => letter.toUpperCase()),
    summary: COMMAND_SUMMARIES[command],
    body: COMMAND_FORMS[command].body,
    keyed: true,
    answer: commandResultSchema,
    problems: WRITE_PROBLEMS,
  });
}

const ITEM_PROBLEMS = {
  400: 'invalid_request, idempotency_key_required, seen_seq_required',
  404: 'not_found',
  409: 'newer_message, not_applicable',
  422: 'key_reused',
} as const;

export const claimItemEndpoint = defineEndpoint({
  method: 'post',
  path: '/escalations/{id}/claim',
  operationId: 'claimEscalation',
  summary: 'Take a work item on: its clock stops; a handoff takes the conversation over',
  body: commandBody,
  keyed: true,
  answer: workItemResultSchema,
  problems: ITEM_PROBLEMS,
});

export const resolveItemEndpoint = defineEndpoint({
  method: 'post',
  path: '/escalations/{id}/resolve',
  operationId: 'resolveEscalation',
  summary: 'Close a work item: the person answered, or nothing needs to be done',
  description:
    'A handoff requires `seenSeq` and leaves the person the owner; giving back is `release`. An unknown delivery is settled, a draft approved or rejected. Refused credentials let their account go on.',
  body: resolveBody,
  keyed: true,
  answer: workItemResultSchema,
  problems: ITEM_PROBLEMS,
});

export const settleEndpoint = defineEndpoint({
  method: 'post',
  path: '/deliveries/{id}/settle',
  operationId: 'settleDelivery',
  summary: 'Say whether a message of unknown outcome arrived',
  description:
    'It did: it counts as sent. It did not: its work item closes and what it should have answered owes an answer again.',
  body: settleBody,
  keyed: true,
  answer: commandResultSchema,
  problems: { ...ITEM_PROBLEMS, 409: 'not_applicable' },
});

/** Every operation, in the order of the documentation. */
export const ENDPOINTS: readonly AnyEndpoint[] = [
  listConversationsEndpoint,
  readConversationEndpoint,
  readTimelineEndpoint,
  readEvidenceEndpoint,
  ...STAFF_COMMANDS.map(commandEndpoint),
  listEscalationsEndpoint,
  claimItemEndpoint,
  resolveItemEndpoint,
  listDeliveriesEndpoint,
  settleEndpoint,
  readAuditEndpoint,
  eventsEndpoint,
];
