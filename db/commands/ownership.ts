import { stopPlansOfPerson, stopSends } from '../cancellation';
import {
  applyStateEvent,
  setConversationOwner,
  type LockedConversation,
  type StateCause,
} from '../conversations';
import { reopenDebt, settleDebt } from '../debt';
import { withdrawDraft } from '../draft-withdrawal';
import { handOver } from '../handover';
import { appendTakeoverEvent } from '../takeover-log';
import { claimWorkItem, findOpenHandoff, openWorkItem, resolveWorkItems } from '../work-items';
import { refuse, refuseUnseen, type Action } from './action';
import type { Refusal } from './contract';

/** `claim`: takes the conversation over (T6). */
export async function claim(action: Action): Promise<Refusal | null> {
  const { conversation } = action.locked;
  if (conversation.owner === 'person') {
    return refuse('not_applicable', 'A person owns this conversation already.');
  }
  await takeOver(action, 'staff_claim');
  return null;
}

/**
 * Makes a person the owner where nobody is yet: automation stops on every channel of the lead, a
 * draft is withdrawn, and what is owed settles to the one open handoff, whose clock stops because
 * somebody acts on it (T6, C7). Returns that item; null where nobody waits.
 */
export async function takeOver(action: Action, cause: string): Promise<string | null> {
  const { client, locked, commandId, actor } = action;
  const { now: at } = locked;
  const conversation = await withdrawDraft(client, locked.conversation, {
    reason: 'person_owns',
    at,
  });
  if (conversation.owner !== 'person') {
    await becomeOwner(action, conversation, { cause, causeRef: commandId, at });
  }
  const itemId = await settleToHandoff(action, conversation);
  if (itemId !== null) await claimWorkItem(client, itemId, { at, by: actor.ref });
  return itemId;
}

async function becomeOwner(
  { client, commandId, actor }: Action,
  conversation: LockedConversation,
  cause: StateCause,
): Promise<void> {
  const { at } = cause;
  const paused = await applyStateEvent(client, conversation, 'pause', cause);
  await setConversationOwner(client, conversation.id, 'person', at);
  await stopSends(client, {
    conversationId: conversation.id,
    scope: 'automatic',
    reason: 'person_owns',
    at,
  });
  await stopPlansOfPerson(client, conversation, { reason: 'person_owns', at });
  await appendTakeoverEvent(client, paused, {
    type: 'takeover.claimed',
    reason: 'operator_claimed',
    actor,
    correlationId: commandId,
    at,
  });
}

async function settleToHandoff(
  { client, locked: { now: at } }: Action,
  conversation: LockedConversation,
): Promise<string | null> {
  if (conversation.owedSince === null) return findOpenHandoff(client, conversation.id);
  const item = await openWorkItem(client, {
    businessId: conversation.businessId,
    conversationId: conversation.id,
    kind: 'handoff',
    reason: 'operator_claimed',
    explanation: 'A person took the conversation over while the lead waited for an answer.',
    newestSeq: conversation.lastSeq,
    at,
  });
  await settleDebt(client, {
    conversationId: conversation.id,
    throughSeq: conversation.lastSeq,
    token: conversation.owedSince,
    settlement: { kind: 'work-item', ref: item.id, reason: 'operator_claimed', at },
  });
  return item.id;
}

/**
 * `release`: gives the conversation back (T6). A newer message than the person saw refuses it.
 */
export async function release(action: Action): Promise<Refusal | null> {
  const { conversation } = action.locked;
  if (conversation.owner !== 'person' && conversation.state !== 'paused') {
    return refuse('not_applicable', 'Automation owns this conversation already.');
  }
  const unseen = refuseUnseen(action);
  if (unseen !== null) return unseen;
  await giveBack(action, 'staff_release');
  return null;
}

/** `resume`: ends a pause that has no owner (S1); what a person owns is released instead. */
export async function resume(action: Action): Promise<Refusal | null> {
  const { conversation } = action.locked;
  if (conversation.owner === 'person') {
    return refuse('not_applicable', 'A person owns this conversation: release it instead.');
  }
  if (conversation.state !== 'paused') {
    return refuse('not_applicable', 'This conversation is not paused.');
  }
  const unseen = refuseUnseen(action, false);
  if (unseen !== null) return unseen;
  await giveBack(action, 'staff_resume');
  return null;
}

/**
 * The open handoff closes, the state resumes, and what nobody answered owes again under a new
 * token (T6). Ages count from now (T5).
 */
async function giveBack(action: Action, word: string): Promise<void> {
  const { client, locked, commandId, actor } = action;
  const { conversation, now: at } = locked;
  const cause = { cause: word, causeRef: commandId, at };
  const resumed = await applyStateEvent(client, conversation, 'resume', cause);
  const handoff = await findOpenHandoff(client, conversation.id);
  if (conversation.owner === 'person' || handoff !== null) {
    await noteRelease(action, resumed);
  }
  const closed = await resolveWorkItems(client, {
    conversationId: conversation.id,
    kinds: ['handoff'],
    at,
    by: actor.ref,
    resolution: 'given_back',
  });
  await reopenDebt(client, conversation.id, closed, at);
}

/** The conversation is automation's again, and the log says so (INV-15: hand-back is an event). */
export async function noteRelease(
  { client, locked, commandId, actor }: Action,
  conversation: LockedConversation,
): Promise<void> {
  const { now: at } = locked;
  await setConversationOwner(client, conversation.id, 'automation', at);
  await appendTakeoverEvent(client, conversation, {
    type: 'takeover.released',
    reason: 'operator_unavailable',
    actor,
    correlationId: commandId,
    at,
  });
}

/**
 * `pause`: automation stops without anybody taking the conversation (S1). Whoever waits for an
 * answer waits with an open handoff from now on, so that the pause forgets nobody (T6).
 */
export async function pause(action: Action): Promise<Refusal | null> {
  const { client, locked, commandId, actor } = action;
  const { conversation, now: at } = locked;
  if (!['active', 'replied', 'booked'].includes(conversation.state)) {
    return refuse('not_applicable', 'Only an open conversation can be paused.');
  }
  const owing = await withdrawDraft(client, conversation, { reason: 'paused_by_staff', at });
  const cause = { cause: 'staff_pause', causeRef: commandId, at };
  const paused = await applyStateEvent(client, owing, 'pause', cause);
  const stop = { reason: 'paused_by_staff', at } as const;
  await stopSends(client, { conversationId: conversation.id, scope: 'automatic', ...stop });
  await stopPlansOfPerson(client, conversation, stop);
  if (owing.owedSince === null) return null;
  await handOver(client, paused, {
    reason: 'policy_requires_human',
    explanation: 'A person paused the conversation while the lead waited for an answer.',
    actor,
    at,
  });
  return null;
}
