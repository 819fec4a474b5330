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

/** What the retention schedule runs, and under which id. */
export const RETENTION_SCHEDULE = 'raw-body-retention';
