import { pause } from '../background';
import type { SandboxAccount } from '../accounts';
import type { SandboxChannel } from '../channels';
import type { SandboxContext } from '../context';
import { asPageAccount } from '../meta/page-send';
import type { ActResult, PhoneAct, PhoneActor } from './phone-act';
import { actOnPage } from './page-acts';
import type { PhoneOrder } from './phone-order';
import { actOnSms } from './sms-acts';
import { actOnWhatsApp } from './whatsapp-acts';

/** What `POST /phone/:channel/messages` answers. */
export interface PhoneAnswer {
  readonly providerMessageId: string;
  /** Of the first try of the first webhook; 0 where no app was reached. */
  readonly webhookStatus: number;
  /** Why there was no webhook, or none yet. */
  readonly note?: string;
}

const NEEDS_TEXT: readonly PhoneOrder['kind'][] = ['edit', 'echo-native', 'echo-other-app'];

function missingContent(order: PhoneOrder): string | null {
  const { kind, text, media } = order;
  if (kind === 'message' && text === '' && media.length === 0) {
    return 'A message needs a text or media.';
  }
  return NEEDS_TEXT.includes(kind) && text === '' ? `The kind "${kind}" needs a text.` : null;
}

function actOn(actor: PhoneActor): ActResult {
  const page = asPageAccount(actor.account);
  if (page !== null) return actOnPage({ ...actor, account: page });
  return actor.account.channel === 'whatsapp' ? actOnWhatsApp(actor) : actOnSms(actor);
}

async function bring(
  context: SandboxContext,
  act: PhoneAct,
  copies: number,
): Promise<Omit<PhoneAnswer, 'providerMessageId'>> {
  let answer: { readonly status: number; readonly note: string | null } | null = null;
  for (const webhook of act.webhooks) {
    const report = await context.courier.deliver(webhook, copies);
    answer = answer ?? report;
  }
  const note = act.note ?? answer?.note ?? undefined;
  return { webhookStatus: answer?.status ?? 0, ...(note === undefined ? {} : { note }) };
}

/** Acts as the provider for what a person did on the phone; answers after the first delivery. */
export async function actOnPhone(
  context: SandboxContext,
  channel: SandboxChannel,
  order: PhoneOrder,
): Promise<PhoneAnswer | { readonly refusal: string }> {
  const refusal = missingContent(order);
  if (refusal !== null) return { refusal };
  const account: SandboxAccount | null = context.accounts.find(channel, order.account);
  if (account === null)
    return { refusal: `No ${channel} account "${order.account ?? ''}" is here.` };
  const { occurredAt, delayMs, duplicate } = order.options;
  const atMs = occurredAt === undefined ? context.settings.now() : Date.parse(occurredAt);
  const person = context.people.named(order.lead);
  const act = actOn({ context, account, person, order, atMs });
  if ('refusal' in act) return act;
  await pause(delayMs);
  const answer = await bring(context, act, duplicate);
  act.afterwards?.();
  return { providerMessageId: act.providerMessageId, ...answer };
}
