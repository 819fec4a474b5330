import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { defineQuery, defineSignal } from '@temporalio/workflow';
import type { Agenda } from '../domain/agenda';

/** The stable names of `contract.md`, "Temporal". */
export const CONVERSATION_WORKFLOW = 'conversation';
export const CONVERSATIONS_QUEUE = 'conversations';
export const UPKEEP_QUEUE = 'upkeep';

/** One workflow per conversation, under this id for ever; runs come and go. */
export function conversationWorkflowId(conversationId: string): string {
  return `conversation/${conversationId}`;
}

/** One workflow per delivery job (IN2). */
export const DELIVERY_JOB_WORKFLOW = 'deliveryJob';

/** The row's id, so that starting a job twice is one run. */
export function deliveryJobWorkflowId(jobId: string): string {
  return `job/${jobId}`;
}

/** Each signal says "look again" and why somebody thinks so; none carries content. */
export const inboundReplySignal = defineSignal('inboundReply');
export const staffActionSignal = defineSignal('staffAction');
export const wakeSignal = defineSignal('wake');

export const agendaQuery = defineQuery<Agenda | null>('agenda');

/** Search attributes, registered at start; few, and never personal (contract.md). */
export const businessKey = keyword('UnsilentBusiness');
export const channelKey = keyword('UnsilentChannel');
export const stateKey = keyword('UnsilentState');
export const ownerKey = keyword('UnsilentOwner');
export const escalatedKey = defineSearchAttributeKey('UnsilentEscalated', SearchAttributeType.BOOL);

function keyword(name: string) {
  return defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);
}

/** The Schedules of retention: their ids, and the workflow that each runs (C11, H2). */
export const RETENTION_SCHEDULES = {
  'raw-body-retention': 'rawBodyRetention',
  'takeover-log-retention': 'takeoverLogRetention',
} as const;
