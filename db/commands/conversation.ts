import type { Action } from './action';
import type { ConversationRequest, Refusal } from './contract';
import { assign, note } from './desk';
import { approve, reject } from './drafts';
import { claim, pause, release, resume } from './ownership';
import { postponeSend, reply, sendWaitingNow } from './sending';
import { book, close, optIn, optOutByStaff } from './states';

/** Carries out a command on its locked conversation. The caller refreshes the agenda. */
export function runConversationCommand(
  action: Action,
  request: ConversationRequest,
): Promise<Refusal | null> {
  return saysSomething(request) ? runSpoken(action, request) : PLAIN[request.command](action);
}

const PLAIN = {
  claim,
  release,
  pause,
  resume,
  book,
  close,
  'opt-out': optOutByStaff,
} as const;

type SpokenRequest = Exclude<ConversationRequest, { readonly command: keyof typeof PLAIN }>;

function saysSomething(request: ConversationRequest): request is SpokenRequest {
  return !(request.command in PLAIN);
}

function runSpoken(action: Action, request: SpokenRequest): Promise<Refusal | null> {
  switch (request.command) {
    case 'reply':
      return reply(action, request);
    case 'note':
      return note(action, request);
    case 'approve':
      return approve(action, request);
    case 'reject':
      return reject(action, request);
    case 'send-now':
      return sendWaitingNow(action, request);
    case 'postpone':
      return postponeSend(action, request);
    case 'opt-in':
      return optIn(action, request);
    case 'assign':
      return assign(action, request);
  }
}
