import type { Request, Response } from 'express';
import type { SandboxAccount } from '../accounts';
import type { PageChannel } from '../channels';
import type { SandboxContext } from '../context';
import type { ArmedFault } from '../faults';
import type { Person } from '../people';
import { answer, recordAcceptance, serveSend, type Accepted, type Reply } from '../provider-call';
import { newInstagramId, newMessengerId } from '../provider-ids';
import { characterCount, memberOf, textOf } from '../values';
import { invalidParameter, metaFaultReply, outsideWindow } from './graph-errors';
import { metaWebhook } from './meta-webhook';
import {
  echoMessage,
  fromBusiness,
  fromLead,
  pagePayload,
  type PageAttachment,
} from './page-events';

const HOUR_MS = 3_600_000;
const WINDOW_MS = 24 * HOUR_MS;
const HUMAN_AGENT_WINDOW_MS = 7 * WINDOW_MS;
const METADATA_MAX = 1_000;
const MESSAGING_TYPES = ['RESPONSE', 'UPDATE', 'MESSAGE_TAG'];

/** An account whose channel is one of the two page channels. */
export type PageAccount = SandboxAccount & { readonly channel: PageChannel };

interface PageSend {
  readonly person: Person;
  readonly leadId: string;
  readonly text: string | null;
  readonly attachments: readonly PageAttachment[];
  readonly metadata: string | null;
  readonly humanAgent: boolean;
}

function attachmentsOf(message: unknown): readonly PageAttachment[] {
  const attachment = memberOf(message, 'attachment');
  const type = textOf(attachment, 'type');
  if (type === null) return [];
  return [{ type, payload: { url: textOf(memberOf(attachment, 'payload'), 'url') ?? '' } }];
}

/** Messenger counts characters, Instagram bytes (providers 3.1.11, 3.2.11). */
function tooLong(channel: PageChannel, text: string): Reply | null {
  const limit = channel === 'messenger' ? 2_000 : 1_000;
  const length = channel === 'messenger' ? characterCount(text) : Buffer.byteLength(text);
  if (length <= limit) return null;
  return invalidParameter(`Length of param message[text] must be less than or equal to ${limit}`);
}

function checkEnvelope(body: unknown): Reply | null {
  const type = memberOf(body, 'messaging_type');
  if (type !== undefined && !MESSAGING_TYPES.some((known) => known === type)) {
    return invalidParameter('Param messaging_type must be one of {RESPONSE, UPDATE, MESSAGE_TAG}');
  }
  const tag = memberOf(body, 'tag');
  if (type === 'MESSAGE_TAG' && tag !== 'HUMAN_AGENT') {
    return invalidParameter('Param tag must be one of {HUMAN_AGENT}');
  }
  return null;
}

function checkMessage(channel: PageChannel, message: unknown): Reply | null {
  const text = textOf(message, 'text');
  if (text === null && attachmentsOf(message).length === 0) {
    return invalidParameter(
      'Message cannot be empty, must provide valid attachment or text',
      2018034,
    );
  }
  const metadata = textOf(message, 'metadata');
  if (metadata !== null && metadata.length > METADATA_MAX) {
    return invalidParameter(`Length of param message[metadata] must be less than ${METADATA_MAX}`);
  }
  return text === null ? null : tooLong(channel, text);
}

function checkWindow(context: SandboxContext, account: PageAccount, send: PageSend): Reply | null {
  const { channel, externalId } = account;
  const last = context.threads.lastFromLead(channel, externalId, send.person.name);
  const windowMs = send.humanAgent ? HUMAN_AGENT_WINDOW_MS : WINDOW_MS;
  const open = last !== null && context.settings.now() - last < windowMs;
  return open ? null : outsideWindow(channel);
}

function recipientOf(
  context: SandboxContext,
  account: PageAccount,
  body: unknown,
): { readonly person: Person; readonly leadId: string } | { readonly refusal: Reply } {
  const leadId = textOf(memberOf(body, 'recipient'), 'id');
  if (leadId === null) return { refusal: invalidParameter('The parameter recipient is required') };
  const person = context.people.at(account.channel, leadId);
  return person === null
    ? { refusal: invalidParameter('No matching user found', 2018001) }
    : { person, leadId };
}

function parse(
  context: SandboxContext,
  account: PageAccount,
  body: unknown,
): PageSend | { readonly refusal: Reply } {
  const recipient = recipientOf(context, account, body);
  if ('refusal' in recipient) return recipient;
  const message = memberOf(body, 'message');
  const malformed = checkEnvelope(body) ?? checkMessage(account.channel, message);
  if (malformed !== null) return { refusal: malformed };
  const send: PageSend = {
    ...recipient,
    text: textOf(message, 'text'),
    attachments: attachmentsOf(message),
    metadata: textOf(message, 'metadata'),
    humanAgent: memberOf(body, 'tag') === 'HUMAN_AGENT',
  };
  const closed = checkWindow(context, account, send);
  return closed === null ? send : { refusal: closed };
}

/** The echo, and on Messenger the delivery receipt behind it; Instagram has no such receipt. */
async function confirm(
  context: SandboxContext,
  account: PageAccount,
  sent: PageSend & { readonly mid: string },
): Promise<void> {
  const { mid, leadId, text, attachments, metadata, person } = sent;
  const at = context.settings.now();
  const appId = context.settings.metaAppId;
  const echo = (echoed: string | null) =>
    pagePayload(context, account, {
      ...fromBusiness(account, leadId, at),
      message: echoMessage({ mid, text: echoed, attachments, appId, metadata }),
    });
  const altered = () => echo(`${text ?? ''} (altered)`);
  await context.courier.deliver(
    metaWebhook(context, { account, nature: 'echo', payload: echo(text), altered }),
  );
  context.threads.change(account.channel, person.name, mid, { status: 'delivered' });
  if (account.channel !== 'messenger') return;
  const receipt = (watermark: number) =>
    pagePayload(context, account, {
      ...fromLead(account, leadId, watermark),
      delivery: { mids: [mid], watermark },
    });
  const payload = receipt(context.settings.now());
  const later = () => receipt(context.settings.now() + 1);
  await context.courier.deliver(
    metaWebhook(context, { account, nature: 'status', payload, altered: later }),
  );
}

/** Meta tells of no failure after acceptance here, so such a send simply never arrives. */
function accept(
  context: SandboxContext,
  account: PageAccount,
  call: { readonly send: PageSend; readonly request: Request; readonly failure: ArmedFault | null },
): Accepted {
  const { send, request, failure } = call;
  const mid = account.channel === 'messenger' ? newMessengerId() : newInstagramId();
  recordAcceptance(context, {
    channel: account.channel,
    externalId: account.externalId,
    lead: send.person.name,
    to: send.leadId,
    text: send.text ?? '',
    providerMessageId: mid,
    correlation: send.metadata,
    request,
    arrives: failure === null,
    media: send.attachments.map((attachment) => attachment.type),
  });
  return {
    reply: { status: 200, body: { recipient_id: send.leadId, message_id: mid } },
    followUps: async () => {
      if (failure === null) await confirm(context, account, { ...send, mid });
    },
  };
}

/** `typing_on` and the like: shown on the phone, never a message. */
function senderAction(context: SandboxContext, account: PageAccount, body: unknown): Reply {
  const recipient = recipientOf(context, account, body);
  if ('refusal' in recipient) return recipient.refusal;
  const action = textOf(body, 'sender_action');
  if (action === 'typing_on' || action === 'typing_off') {
    const lead = recipient.person.name;
    const typing = action === 'typing_on';
    context.events.publish({ type: 'typing', channel: account.channel, lead, typing });
  }
  return { status: 200, body: { recipient_id: recipient.leadId } };
}

/**
 * Serves `POST /{page or Instagram account}/messages` (providers 3.1.8, 3.2.8). The token is
 * checked already.
 */
export async function servePageSend(
  context: SandboxContext,
  account: PageAccount,
  exchange: { readonly request: Request; readonly response: Response },
): Promise<void> {
  const { request, response } = exchange;
  const body: unknown = request.body;
  if (textOf(body, 'sender_action') !== null) {
    answer(response, senderAction(context, account, body));
    return;
  }
  const send = parse(context, account, body);
  if ('refusal' in send) {
    answer(response, send.refusal);
    return;
  }
  await serveSend(context, {
    channel: account.channel,
    request,
    response,
    accept: (failure) => accept(context, account, { send, request, failure }),
    faultReply: (fault, armed) => metaFaultReply(account, fault, armed),
  });
}

/** The account as one of a page channel, or null where it is of another kind. */
export function asPageAccount(account: SandboxAccount): PageAccount | null {
  const { channel } = account;
  return channel === 'messenger' || channel === 'instagram' ? { ...account, channel } : null;
}
