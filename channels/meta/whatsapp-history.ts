import { z } from 'zod';
import type { InboundElement } from '../../domain/inbound';
import type { WireRecord } from '../wire-json';
import { below, frame, noteOf, quarantine, readEach, sourceTime, wireId } from './reading';
import { wireRecord } from './reading';
import type { Place } from './reading';
import { contentOf } from './whatsapp-content';
import { addressesOf } from './whatsapp-people';

const threadSchema = z.object({ id: wireId, messages: z.unknown().optional() });

const messageSchema = z.object({
  id: wireId,
  from: wireId.nullish(),
  from_user_id: wireId.nullish(),
  to: wireId.nullish(),
  to_user_id: wireId.nullish(),
  timestamp: z.unknown().optional(),
});

/**
 * Reads a `history` change: the chats of the last 180 days that Meta replays at onboarding. Every
 * message comes back as a note with its original time, so that none is ever answered
 * (providers.md 3.3.5). `ownNumber` is the business's number in digits; it tells the direction.
 */
export function readHistory(
  value: WireRecord,
  place: Place,
  ownNumber: string,
): readonly InboundElement[] {
  return [
    ...readEach(below(place, '.value.history'), value.history, false, (item, itemPlace) =>
      readChunk(item, itemPlace, ownNumber),
    ),
    // Media of imported messages follow in changes that hold plain messages.
    ...readEach(below(place, '.value.messages'), value.messages, false, (item, itemPlace) =>
      readImported(item, itemPlace, { ownNumber, threadId: null }),
    ),
  ];
}

function readChunk(raw: unknown, place: Place, ownNumber: string): readonly InboundElement[] {
  const chunk = wireRecord.parse(raw);
  // Without threads it says that the business declined, or only how far the import is.
  if (chunk.threads === undefined) return [noteOf(place, 'history-progress', chunk)];
  return readEach(below(place, '.threads'), chunk.threads, false, (item, threadPlace) => {
    const thread = threadSchema.parse(item);
    const messagesPlace = below(threadPlace, '.messages');
    return readEach(messagesPlace, thread.messages, false, (message, messagePlace) =>
      readImported(message, messagePlace, { ownNumber, threadId: thread.id }),
    );
  });
}

function readImported(
  raw: unknown,
  place: Place,
  thread: { readonly ownNumber: string; readonly threadId: string | null },
): readonly InboundElement[] {
  const message = wireRecord.parse(raw);
  const head = messageSchema.parse(message);
  const isOut = head.from !== undefined && digitsOf(head.from) === thread.ownNumber;
  const own = isOut
    ? { userId: head.to_user_id, phone: head.to ?? thread.threadId }
    : { userId: head.from_user_id, phone: head.from ?? thread.threadId };
  const lead = addressesOf(own, null);
  if (lead.length === 0) return [quarantine(place, message, 'no person', false)];
  const text = contentOf(message)?.text ?? null;
  const direction = isOut ? 'out' : 'in';
  const stable = ['history', direction, lead, text];
  return [
    {
      ...frame(place, `history:${head.id}`, stable, sourceTime(head.timestamp)),
      type: 'note',
      kind: 'history',
      history: { providerMessageId: head.id, direction, lead, text },
    },
  ];
}

function digitsOf(value: string | null): string {
  return (value ?? '').replace(/\D/g, '');
}
