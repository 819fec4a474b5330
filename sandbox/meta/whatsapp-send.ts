import type { Request, Response } from 'express';
import type { SandboxAccount } from '../accounts';
import type { SandboxContext } from '../context';
import type { Webhook } from '../courier';
import type { ArmedFault } from '../faults';
import type { Person } from '../people';
import { answer, recordAcceptance, serveSend, type Accepted, type Reply } from '../provider-call';
import { newWhatsAppId } from '../provider-ids';
import { characterCount, memberOf, textOf } from '../values';
import {
  graphError,
  invalidWhatsAppParameter,
  metaFaultReply,
  outsideWindow,
} from './graph-errors';
import { metaWebhook } from './meta-webhook';
import {
  statusOf,
  waId,
  whatsAppPayload,
  type Addressing,
  type StatusFacts,
} from './whatsapp-events';

const WINDOW_MS = 24 * 3_600_000;
const BODY_MAX = 4_096;
const CALLBACK_DATA_MAX = 512;
const UNDELIVERABLE = 131026;

interface WhatsAppSend {
  readonly person: Person;
  readonly addressing: Addressing;
  /** The address as the sender wrote it. */
  readonly to: string;
  readonly text: string;
  readonly template: boolean;
  readonly callbackData: string | null;
}

type Parsed<T> = T | { readonly refusal: Reply };

function undeliverable(): Reply {
  const message = '(#131026) Message undeliverable';
  const details = 'The recipient is not a WhatsApp user, or cannot receive this message.';
  return graphError(400, { message, code: UNDELIVERABLE, details });
}

/** `to` is a phone, `recipient` a business-scoped user id; with both the phone wins. */
function recipientOf(
  context: SandboxContext,
  body: unknown,
): Parsed<Pick<WhatsAppSend, 'person' | 'addressing' | 'to'>> {
  const to = textOf(body, 'to');
  const userId = textOf(body, 'recipient');
  if (to !== null) {
    const person = context.people.at('phone', `+${to.replace(/\D/g, '')}`);
    return person === null
      ? { refusal: outsideWindow('whatsapp') }
      : { person, addressing: 'phone', to };
  }
  if (userId === null)
    return { refusal: invalidWhatsAppParameter('The parameter to is required.') };
  const person = context.people.at('whatsapp-user', userId);
  return person === null
    ? { refusal: undeliverable() }
    : { person, addressing: 'bsuid-only', to: userId };
}

/** The text of a text message, or the name of a template, which needs no open window. */
function contentOf(body: unknown): Parsed<Pick<WhatsAppSend, 'text' | 'template'>> {
  const type = textOf(body, 'type') ?? 'text';
  if (type === 'template') {
    const name = textOf(memberOf(body, 'template'), 'name');
    if (name === null) return { refusal: invalidWhatsAppParameter('template.name is required.') };
    return { text: `[template ${name}]`, template: true };
  }
  if (type !== 'text') {
    return { refusal: invalidWhatsAppParameter(`This sandbox sends no messages of type ${type}.`) };
  }
  const text = textOf(memberOf(body, 'text'), 'body');
  if (text === null) {
    return { refusal: invalidWhatsAppParameter("The parameter text['body'] is required.") };
  }
  if (characterCount(text) > BODY_MAX) {
    const details = `Param text['body'] must be at most ${BODY_MAX} characters long.`;
    return { refusal: invalidWhatsAppParameter(details) };
  }
  return { text, template: false };
}

function windowIsOpen(context: SandboxContext, account: SandboxAccount, person: Person): boolean {
  const last = context.threads.lastFromLead('whatsapp', account.externalId, person.name);
  return last !== null && context.settings.now() - last < WINDOW_MS;
}

function parse(
  context: SandboxContext,
  account: SandboxAccount,
  body: unknown,
): Parsed<WhatsAppSend> {
  if (memberOf(body, 'messaging_product') !== 'whatsapp') {
    return { refusal: invalidWhatsAppParameter('The parameter messaging_product is required.') };
  }
  const content = contentOf(body);
  if ('refusal' in content) return content;
  const callbackData = textOf(body, 'biz_opaque_callback_data');
  if (callbackData !== null && callbackData.length > CALLBACK_DATA_MAX) {
    const details = `biz_opaque_callback_data has more than ${CALLBACK_DATA_MAX} characters.`;
    return { refusal: invalidWhatsAppParameter(details) };
  }
  const recipient = recipientOf(context, body);
  if ('refusal' in recipient) return recipient;
  if (!content.template && !windowIsOpen(context, account, recipient.person)) {
    return { refusal: outsideWindow('whatsapp') };
  }
  return { ...recipient, ...content, callbackData };
}

/** The webhook of one status; its altered form names another recipient. */
export function statusWebhook(
  context: SandboxContext,
  account: SandboxAccount,
  status: { readonly person: Person; readonly facts: StatusFacts },
): Webhook {
  const { person, facts } = status;
  const payload = (recipient: Person) =>
    whatsAppPayload(account, 'messages', { statuses: [statusOf(recipient, facts)] });
  const other = { ...person, phone: '+13125550199', whatsappUserId: 'US.1999999999999999' };
  return metaWebhook(context, {
    account,
    nature: 'status',
    payload: payload(person),
    altered: () => payload(other),
  });
}

/** The statuses of an accepted send, one after the other: sent and delivered, or failed. */
async function confirm(
  context: SandboxContext,
  account: SandboxAccount,
  sent: { readonly send: WhatsAppSend; readonly id: string; readonly failure: ArmedFault | null },
): Promise<void> {
  const { send, id, failure } = sent;
  const { person, addressing, callbackData } = send;
  const steps = failure === null ? (['sent', 'delivered'] as const) : (['failed'] as const);
  for (const status of steps) {
    const errorCode = status === 'failed' ? (failure?.code ?? UNDELIVERABLE) : null;
    const atMs = context.settings.now();
    const facts = { id, status, atMs, addressing, callbackData, errorCode };
    if (status !== 'failed') context.threads.change('whatsapp', person.name, id, { status });
    await context.courier.deliver(statusWebhook(context, account, { person, facts }));
  }
}

function accept(
  context: SandboxContext,
  account: SandboxAccount,
  call: {
    readonly send: WhatsAppSend;
    readonly request: Request;
    readonly failure: ArmedFault | null;
  },
): Accepted {
  const { send, request, failure } = call;
  const { person, addressing, to, text } = send;
  const id = newWhatsAppId();
  recordAcceptance(context, {
    channel: 'whatsapp',
    externalId: account.externalId,
    lead: person.name,
    to,
    text,
    providerMessageId: id,
    correlation: send.callbackData,
    request,
    arrives: failure === null,
  });
  const user = { input: to, user_id: person.whatsappUserId };
  const contact = addressing === 'phone' ? { ...user, wa_id: waId(person) } : user;
  return {
    reply: {
      status: 200,
      body: { messaging_product: 'whatsapp', contacts: [contact], messages: [{ id }] },
    },
    followUps: () => confirm(context, account, { send, id, failure }),
  };
}

/** The read mark, with or without the typing indicator (providers 3.3.8). */
function markRead(context: SandboxContext, body: unknown): Reply {
  const id = textOf(body, 'message_id');
  if (id === null) return invalidWhatsAppParameter('The parameter message_id is required.');
  const typing = memberOf(body, 'typing_indicator') !== undefined;
  const lead = context.threads.leadOfMessage(id);
  if (typing && lead !== null) {
    context.events.publish({ type: 'typing', channel: 'whatsapp', lead, typing });
  }
  return { status: 200, body: { success: true } };
}

/** Serves `POST /{phone_number_id}/messages` (providers 3.3.8). The token is checked already. */
export async function serveWhatsAppSend(
  context: SandboxContext,
  account: SandboxAccount,
  exchange: { readonly request: Request; readonly response: Response },
): Promise<void> {
  const { request, response } = exchange;
  const body: unknown = request.body;
  if (memberOf(body, 'status') === 'read') {
    answer(response, markRead(context, body));
    return;
  }
  const send = parse(context, account, body);
  if ('refusal' in send) {
    answer(response, send.refusal);
    return;
  }
  await serveSend(context, {
    channel: 'whatsapp',
    request,
    response,
    accept: (failure) => accept(context, account, { send, request, failure }),
    faultReply: (fault, armed) => metaFaultReply(account, fault, armed),
  });
}
