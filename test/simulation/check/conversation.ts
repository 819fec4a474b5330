import type { World } from '../machine/world';
import {
  at,
  isOpen,
  unsettled,
  type Attempt,
  type Conversation,
  type Message,
  type Send,
} from '../model/facts';
import type { ShadowConversation } from './shadow';

/** What must hold of one conversation at every commit. */
export function checkConversation(world: World, conversation: Conversation): string[] {
  const shadow = at(world.shadow.conversations, conversation.index);
  const broken = [
    ...checkDebt(conversation),
    ...checkProgress(conversation, shadow),
    ...conversation.messages.flatMap((message) => checkSettlement(world, conversation, message)),
    ...conversation.sends.flatMap((send) => checkSend(world, conversation, send)),
    ...checkItems(conversation),
  ];
  shadow.lastToken = conversation.lastToken ?? 0;
  shadow.version = conversation.version;
  shadow.owedSince = conversation.owedSince;
  shadow.oldestOwedAtMs = conversation.oldestOwedAtMs;
  shadow.messages = conversation.messages.length;
  const c = conversation.index;
  return broken.map((words) => `${words} (conversation ${c})`);
}

/** A sentence where something does not hold, nothing where it does. */
function unless(holds: boolean, words: string): string[] {
  return holds ? [] : [words];
}

function checkDebt(conversation: Conversation): string[] {
  const { owedSince, oldestOwedAtMs: oldest, overdueFromMs, marker } = conversation;
  const waiting = unsettled(conversation);
  const owes = owedSince !== null;
  const from = oldest ?? Infinity;
  return [
    ...unless(owes || waiting.length === 0, 'INV-6: a message waits and nothing is owed'),
    ...unless(!owes || waiting.length > 0, 'INV-6: something is owed and no message waits'),
    ...unless(owes === (oldest !== null), 'T2: the debt is not whole'),
    ...unless(
      !owes || waiting.every((one) => one.receivedAtMs >= from),
      'INV-7: the oldest time is later than a message that waits',
    ),
    ...unless(
      !owes || (overdueFromMs !== null && overdueFromMs >= from),
      'T5: ages count from before the oldest message',
    ),
    ...unless(owes || marker === null, 'T4: a turn is marked and nothing owed'),
  ];
}

/** Tokens and versions only rise; the oldest time stays while its message waits. */
function checkProgress(conversation: Conversation, before: ShadowConversation): string[] {
  const { version, transitions } = conversation;
  const last = transitions.at(-1)?.to ?? 'active';
  return [
    ...checkTokens(conversation, before),
    ...unless(
      version === 1 + transitions.length && version >= before.version,
      'S1: the version does not count the changes',
    ),
    ...unless(last === conversation.state, 'S1: the state is not where the last change led'),
    ...checkOldest(conversation, before.oldestOwedAtMs, before.messages),
  ];
}

function checkTokens(conversation: Conversation, before: ShadowConversation): string[] {
  const { lastToken, owedSince, messages } = conversation;
  const wrote = messages.slice(before.messages).some((message) => {
    return message.author === 'lead' && message.settlement === null;
  });
  const same = owedSince !== null && owedSince === before.owedSince;
  return [
    ...unless((lastToken ?? 0) >= before.lastToken, 'T2: the token went back'),
    ...unless(!wrote || !same, 'T2: a newer message has the token of the one before it'),
  ];
}

function checkOldest(conversation: Conversation, oldest: number | null, seen: number): string[] {
  if (oldest === null) return [];
  const stillWaits = conversation.messages.slice(0, seen).some((message) => {
    return message.owes && message.settlement === null && message.receivedAtMs === oldest;
  });
  const moved = (conversation.oldestOwedAtMs ?? oldest) > oldest;
  return unless(!stillWaits || !moved, 'INV-7: the oldest time moved while its message waits');
}

function checkSettlement(world: World, conversation: Conversation, message: Message): string[] {
  const { settlement, settledBy, seq } = message;
  if (settlement === null) return [];
  if (!message.owes) return [`INV-6: message ${seq} owes nothing and was settled`];
  switch (settlement) {
    case 'reply':
      return unless(
        isAnsweredBy(world, conversation, message),
        `INV-6: no accepted reply covers message ${seq}`,
      );
    case 'person':
      return unless(
        conversation.messages.some((one) => {
          return String(one.seq) === settledBy && one.author === 'native' && one.seq > seq;
        }),
        `INV-6: no person wrote after message ${seq}`,
      );
    case 'work-item':
      return unless(
        conversation.items.some(({ id }) => id === settledBy),
        `INV-6: message ${seq} is settled to an item that does not exist`,
      );
    case 'no-answer':
      return unless(message.reason !== null, `INV-6: message ${seq} has no reason`);
  }
}

/** By the provider's own ledger, not by ours. */
function isAnsweredBy(world: World, conversation: Conversation, message: Message): boolean {
  const send = conversation.sends.find(({ id }) => id === message.settledBy);
  if (send === undefined || send.coversSeq < message.seq) return false;
  if (send.state !== 'accepted' && send.state !== 'delivered') return false;
  return world.accepted.some(({ sendId }) => sendId === send.id);
}

function checkSend(world: World, conversation: Conversation, send: Send): string[] {
  const { id, state } = send;
  const attempts = world.facts.attempts.filter(({ sendId }) => sendId === id);
  const accepted = attempts.some(({ outcomes }) => {
    return outcomes.some(({ outcome, filed }) => outcome === 'accepted' && filed);
  });
  const shows = state === 'accepted' || state === 'delivered';
  return [
    ...unless(attempts.length === send.attempts, `S3: attempts of ${id} are miscounted`),
    ...unless(!shows || accepted, `S3: ${id} is accepted and nobody accepted it`),
    ...unless(!accepted || shows || state === 'failed', `S3: ${id} was accepted and is ${state}`),
    ...(state === 'delivery_unknown' ? checkReview(conversation, send, attempts) : []),
    ...checkStatus(world, conversation, send),
  ];
}

function checkStatus(world: World, conversation: Conversation, send: Send): string[] {
  const { id, state } = send;
  const { status } = statusOf(world, conversation, send);
  const shows = state === 'accepted' || state === 'delivered';
  const arrived = status === 'delivered' || status === 'read';
  return [
    ...unless(status !== 'failed' || !shows, `INV-16: ${id} failed and is ${state}`),
    ...unless(!arrived || state !== 'accepted', `INV-16: ${id} was delivered and is accepted`),
  ];
}

function checkReview(
  conversation: Conversation,
  send: Send,
  attempts: readonly Attempt[],
): string[] {
  const review = conversation.items.find(({ kind, sendId }) => {
    return kind === 'delivery-unknown' && sendId === send.id;
  });
  if (review === undefined) return [`C6: ${send.id} is unknown and nobody reviews it`];
  const marker = attempts.find(({ id }) => id === send.attemptId)?.marker ?? null;
  return marker !== null && marker.commit < review.commit
    ? [`T8: ${send.id} is in review although its marker proved it`]
    : [];
}

function statusOf(world: World, conversation: Conversation, send: Send) {
  const key = `${conversation.account}/${send.providerMessageId ?? ''}`;
  return world.facts.providerMessages[key] ?? { status: null };
}

function checkItems(conversation: Conversation): string[] {
  const broken: string[] = [];
  const open = conversation.items.filter(({ kind, resolution }) => {
    return kind === 'handoff' && resolution === null;
  });
  if (open.length > 1) broken.push('T6: two handoffs are open');
  const running = conversation.plans.some(({ stopReason }) => stopReason === null);
  if (running && (conversation.state !== 'active' || conversation.owner !== 'automation')) {
    broken.push('S2: follow-ups are planned in a conversation that does not allow them');
  }
  const held = conversation.takeover.findLast(({ type }) => type !== 'takeover.requested');
  if ((conversation.owner === 'person') !== (held?.type === 'takeover.claimed')) {
    broken.push('INV-15: the owner is not who claimed last');
  }
  const due = conversation.owedSince !== null || conversation.sends.some(isOpen);
  if (due && conversation.nextDueAtMs === null)
    broken.push('O1: something is due and nobody looks');
  return broken;
}
