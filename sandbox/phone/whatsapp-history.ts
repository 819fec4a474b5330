import { metaWebhook } from '../meta/meta-webhook';
import { waId, waTimestamp, whatsAppPayload } from '../meta/whatsapp-events';
import { newWhatsAppId } from '../provider-ids';
import { alteredText, type ActResult, type PhoneActor } from './phone-act';

const HOUR_MS = 3_600_000;
const AGE_MS = 30 * 24 * HOUR_MS;

interface OldMessage {
  readonly id: string;
  readonly from: 'lead' | 'business';
  readonly atMs: number;
  readonly text: string;
}

/** An old exchange, an hour apart, that ends with the lead's words (the order's text). */
function oldMessages(actor: PhoneActor): readonly OldMessage[] {
  const { order, context } = actor;
  const { historyCount, occurredAt } = order.options;
  const endMs = occurredAt === undefined ? context.settings.now() - AGE_MS : actor.atMs;
  return Array.from({ length: historyCount }, (_, index) => {
    const fromEnd = historyCount - 1 - index;
    const from = fromEnd % 2 === 0 ? 'lead' : 'business';
    const last = fromEnd === 0 && order.text !== '';
    const made = from === 'lead' ? `Old question ${index + 1}` : `Old answer ${index + 1}`;
    const text = last ? order.text : made;
    return { id: newWhatsAppId(), from, atMs: endMs - fromEnd * HOUR_MS, text };
  });
}

function elementOf(actor: PhoneActor, message: OldMessage, text: string) {
  const { account, person } = actor;
  const business = account.displayPhoneNumber ?? '';
  const lead = waId(person);
  const parties = message.from === 'lead' ? { from: lead } : { from: business, to: lead };
  return {
    ...parties,
    id: message.id,
    timestamp: waTimestamp(message.atMs),
    type: 'text',
    text: { body: text },
    history_context: { status: 'READ' },
  };
}

/**
 * The import of old chats when a number is connected (providers 3.3.5). The messages stand in the
 * thread with their old times and open no window.
 */
export function importHistory(actor: PhoneActor): ActResult {
  const { context, account, person } = actor;
  const messages = oldMessages(actor);
  for (const { id, from, atMs, text } of messages) {
    context.threads.put('whatsapp', person.name, {
      at: new Date(atMs).toISOString(),
      from,
      text,
      providerMessageId: id,
      account: account.externalId,
      imported: true,
    });
  }
  const payload = (write: (text: string) => string) =>
    whatsAppPayload(account, 'history', {
      history: [
        {
          metadata: { phase: 1, chunk_order: 1, progress: 100 },
          threads: [
            {
              id: waId(person),
              messages: messages.map((message) => elementOf(actor, message, write(message.text))),
            },
          ],
        },
      ],
    });
  const webhook = metaWebhook(context, {
    account,
    nature: 'inbound',
    payload: payload((text) => text),
    altered: () => payload(alteredText),
  });
  return { providerMessageId: messages.at(-1)?.id ?? '', webhooks: [webhook] };
}
