import { transition, type StateEvent } from '../../../domain/conversation-state';
import type { Conversation } from './facts';

/** `applyStateEvent` of db/conversations: the rule decides, a change raises the version. */
export function applyStateEvent(conversation: Conversation, event: StateEvent): void {
  const before = { state: conversation.state, remembered: conversation.remembered };
  const next = transition(before, event);
  if (!next.changed) return;
  conversation.state = next.state;
  conversation.remembered = next.remembered;
  conversation.version += 1;
  conversation.transitions.push({ from: before.state, to: next.state });
  if (event === 'new-episode') {
    conversation.episode += 1;
    conversation.contactStartedAtMs = null;
  }
  if (next.state === 'opted_out') conversation.optOutConfirmedAtMs = null;
}
