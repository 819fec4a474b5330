import { at, type Conversation, type Message } from '../model/facts';
import type { World } from '../machine/world';

/** How the debts of a simulated business ended. */
export interface Endings {
  answered: number;
  handedOver: number;
  /** Of those handed over, the ones that a fault brought to a person. */
  handedOverByFault: number;
  unknown: number;
  noAnswer: number;
}

/** What must hold once the faults are off and the bound has passed (INV-1, INV-6, INV-8). */
export function checkRest(world: World): string[] {
  return [
    ...world.facts.conversations.flatMap((conversation) => checkSettled(conversation)),
    ...checkNothingLost(world),
    ...checkLedgers(world),
  ];
}

function checkSettled(conversation: Conversation): string[] {
  const { index: c, owedSince, sends } = conversation;
  const broken: string[] = [];
  if (owedSince !== null) broken.push(`INV-8: conversation ${c} still owes an answer`);
  for (const { id, state } of sends) {
    if (state === 'leased' || state === 'sending') broken.push(`INV-8: ${id} is still ${state}`);
  }
  return broken;
}

/** INV-1: what was answered with success is stored, and once (INV-2). */
function checkNothingLost(world: World): string[] {
  return world.written.flatMap(({ conversation: c, element, acknowledged }) => {
    const { messages } = at(world.facts.conversations, c);
    const stored = messages.filter(({ author, providerMessageId }) => {
      return (author === 'lead' || author === 'native') && providerMessageId === element.id;
    });
    if (stored.length > 1) return [`INV-2: ${element.id} is stored ${stored.length} times`];
    const shown = element.type === 'native' && element.author === 'unknown';
    if (stored.length === 1 || shown) return [];
    return [acknowledged ? `INV-1: ${element.id} is lost` : `INV-1: ${element.id} never arrived`];
  });
}

/** What the provider accepted is known, or a person looks at it (INV-10). */
function checkLedgers(world: World): string[] {
  return world.accepted.flatMap(({ sendId, conversation: c }) => {
    const conversation = at(world.facts.conversations, c);
    const send = conversation.sends.find(({ id }) => id === sendId);
    const known = ['accepted', 'delivered', 'failed', 'delivery_unknown'];
    if (send !== undefined && known.includes(send.state)) return [];
    return [`INV-10: the provider accepted ${sendId}, which is ${send?.state ?? 'unknown to us'}`];
  });
}

const BY_FAULT = ['reply_overdue', 'replays_exhausted', 'sent_not_recorded'];

/** Counts the endings; a handover that no fault explains is a violation. */
export function countEndings(world: World): { endings: Endings; unexplained: string[] } {
  const endings: Endings = {
    answered: 0,
    handedOver: 0,
    handedOverByFault: 0,
    unknown: 0,
    noAnswer: 0,
  };
  const unexplained: string[] = [];
  const faulty = Object.keys(world.faults).length > 0;
  for (const conversation of world.facts.conversations) {
    for (const message of conversation.messages) {
      const byFault = count(endings, conversation, message);
      if (byFault && !faulty) {
        unexplained.push(`T6: message ${message.seq} was handed over and no fault explains it`);
      }
    }
  }
  return { endings, unexplained };
}

function count(endings: Endings, conversation: Conversation, message: Message): boolean {
  switch (message.settlement) {
    case null:
      return false;
    case 'reply':
    case 'person':
      endings.answered += 1;
      return false;
    case 'no-answer':
      endings.noAnswer += 1;
      return false;
    case 'work-item': {
      const item = conversation.items.find(({ id }) => id === message.settledBy);
      if (item?.kind !== 'handoff') {
        endings.unknown += 1;
        return false;
      }
      endings.handedOver += 1;
      // What joined an open handoff waits for the person whom something else called.
      const first = message.reason === item.reason;
      const refused = item.reason === 'policy_requires_human' && wasRefused(conversation);
      const byFault = first && (BY_FAULT.includes(item.reason) || refused);
      if (byFault) endings.handedOverByFault += 1;
      return byFault;
    }
  }
}

function wasRefused({ sends }: Conversation): boolean {
  return sends.some(({ state, endReason }) => state === 'failed' && endReason === 'refused');
}
