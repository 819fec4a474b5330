import type { SandboxAccount } from '../accounts';
import type { SandboxChannel } from '../channels';
import { isoNow, type SandboxContext } from '../context';
import type { Webhook } from '../courier';
import type { Person } from '../people';
import type { PhoneOrder } from './phone-order';

/** One act on the phone, with all that it needs to become webhooks. */
export interface PhoneActor {
  readonly context: SandboxContext;
  readonly account: SandboxAccount;
  readonly person: Person;
  readonly order: PhoneOrder;
  /** The provider's event time, epoch milliseconds. */
  readonly atMs: number;
}

/** What the act came to at the provider, before any webhook leaves. */
export interface PhoneAct {
  readonly providerMessageId: string;
  readonly webhooks: readonly Webhook[];
  /** Runs after the webhooks: what the provider itself says to the phone. */
  readonly afterwards?: () => void;
  readonly note?: string;
}

export type ActResult = PhoneAct | { readonly refusal: string };

/** The message that the order is about: the named one, or the newest of that side. */
export function targetOf(actor: PhoneActor, from: 'lead' | 'business'): string | null {
  const { context, account, person, order } = actor;
  if (order.target !== undefined) return order.target;
  return context.threads.newest(account.channel, person.name, from)?.providerMessageId ?? null;
}

/** Puts what the lead wrote on the phone; returns the listener that marks it as received. */
export function showLeadMessage(actor: PhoneActor, id: string): (status: number) => void {
  const { context, account, person, order, atMs } = actor;
  const media = order.media.map(({ kind }) => kind);
  context.threads.put(account.channel, person.name, {
    at: new Date(atMs).toISOString(),
    from: 'lead',
    text: order.text,
    providerMessageId: id,
    account: account.externalId,
    ...(media.length === 0 ? {} : { media }),
  });
  return (status) => {
    const known = context.threads.find(account.channel, person.name, id);
    const isFirst = status >= 200 && status < 300 && known?.deliveredAt === undefined;
    const delivered = isFirst ? { deliveredAt: isoNow(context) } : {};
    const change = { webhookStatus: status, ...delivered };
    context.threads.change(account.channel, person.name, id, change);
  };
}

/** Puts on the phone what the business wrote, but not through the app under test. */
export function showForeignMessage(actor: PhoneActor, id: string): void {
  const { context, account, person, order, atMs } = actor;
  context.threads.put(account.channel, person.name, {
    at: new Date(atMs).toISOString(),
    from: 'business',
    text: order.text,
    providerMessageId: id,
    account: account.externalId,
    author: order.kind === 'echo-native' ? 'staff' : 'other-app',
  });
}

/** Writes an edit into the thread and returns how often that message has been edited. */
export function noteEdit(actor: PhoneActor, id: string): number {
  const { context, account, person, order } = actor;
  const edits = (context.threads.find(account.channel, person.name, id)?.edits ?? 0) + 1;
  context.threads.change(account.channel, person.name, id, { text: order.text, edits });
  return edits;
}

/** The refusal of a kind that a channel does not have. */
export function notOnThisChannel(channel: SandboxChannel, why: string): ActResult {
  return { refusal: `Not on ${channel}: ${why}` };
}

/** The content of the event with the same id and other content. */
export function alteredText(text: string): string {
  return `${text} (altered)`;
}
