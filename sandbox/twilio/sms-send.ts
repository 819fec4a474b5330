import type { Request, Response } from 'express';
import type { SandboxAccount } from '../accounts';
import type { SandboxContext } from '../context';
import type { ArmedFault } from '../faults';
import { answer, recordAcceptance, serveSend, type Accepted, type Reply } from '../provider-call';
import { newMessageSid } from '../provider-ids';
import { firstText, memberOf } from '../values';
import { splitUrl } from '../webhook-client';
import { messageResource } from './sms-list';
import type { SmsRecord } from './sms-store';
import { twilioError, twilioFaultReply } from './twilio-errors';
import { twilioWebhook } from './twilio-webhook';

const BODY_MAX = 1_600;
const MEDIA_MAX = 10;
const CARRIER_FILTERED = 30007;

interface SmsSend {
  readonly account: SandboxAccount;
  readonly to: string;
  readonly text: string;
  readonly mediaCount: number;
  readonly statusCallback: string | null;
}

/** Numbers as Twilio takes them: E.164; brackets, dots and blanks are forgiven. */
function normalNumber(text: string): string | null {
  const digits = text.replace(/[\s().-]/g, '');
  return /^\+[1-9]\d{7,14}$/.test(digits) ? digits : null;
}

function mediaCountOf(body: unknown): number {
  const media = memberOf(body, 'MediaUrl');
  if (Array.isArray(media)) return media.length;
  return media === undefined ? 0 : 1;
}

function checkContent(text: string, mediaCount: number): Reply | null {
  if (text === '' && mediaCount === 0) {
    return twilioError(400, 21602, 'Message body is required.');
  }
  if (text.length > BODY_MAX) {
    const message = `The concatenated message body exceeds the ${BODY_MAX} character limit`;
    return twilioError(400, 21617, message);
  }
  return mediaCount > MEDIA_MAX
    ? twilioError(400, 21623, 'Number of media files exceeds allowed limit')
    : null;
}

function partiesOf(
  context: SandboxContext,
  body: unknown,
): { readonly account: SandboxAccount; readonly to: string } | { readonly refusal: Reply } {
  const from = firstText(memberOf(body, 'From'));
  const rawTo = firstText(memberOf(body, 'To'));
  if (rawTo === null) {
    return { refusal: twilioError(400, 21604, "A 'To' phone number is required.") };
  }
  if (from === null) {
    return { refusal: twilioError(400, 21603, "A 'From' phone number is required.") };
  }
  const account = context.accounts.find('sms', from);
  if (account === null) {
    const message = `The 'From' phone number provided (${from}) is not a valid message-capable Twilio phone number for this account`;
    return { refusal: twilioError(400, 21606, message) };
  }
  const to = normalNumber(rawTo);
  if (to === null) {
    return { refusal: twilioError(400, 21211, `Invalid 'To' Phone Number: ${rawTo}`) };
  }
  return { account, to };
}

function parse(context: SandboxContext, body: unknown): SmsSend | { readonly refusal: Reply } {
  const parties = partiesOf(context, body);
  if ('refusal' in parties) return parties;
  const { account, to } = parties;
  const text = firstText(memberOf(body, 'Body')) ?? '';
  const mediaCount = mediaCountOf(body);
  const content = checkContent(text, mediaCount);
  if (content !== null) return { refusal: content };
  if (to === account.externalId) {
    const message = "'To' and 'From' number cannot be the same";
    return { refusal: twilioError(400, 21266, message) };
  }
  const statusCallback = firstText(memberOf(body, 'StatusCallback'));
  if (statusCallback !== null && splitUrl(statusCallback) === null) {
    const message = `The 'StatusCallback' URL ${statusCallback} is not a valid URL.`;
    return { refusal: twilioError(400, 21609, message) };
  }
  if (context.sms.isBlocked(account.externalId, to)) {
    return { refusal: twilioError(400, 21610, 'Attempt to send to unsubscribed recipient') };
  }
  return { account, to, text, mediaCount, statusCallback };
}

async function callBack(
  context: SandboxContext,
  send: SmsSend,
  status: { readonly sid: string; readonly name: string; readonly errorCode: number | null },
): Promise<void> {
  if (send.statusCallback === null) return;
  const { sid, name, errorCode } = status;
  await context.courier.deliver(
    twilioWebhook(context, {
      account: send.account.externalId,
      nature: 'status',
      url: send.statusCallback,
      form: statusForm({ sid, status: name, errorCode, account: send.account, to: send.to }),
      altered: { To: '+13125550199' },
    }),
  );
}

/** The form of one status callback (providers 5.2.5). */
export function statusForm(facts: {
  readonly sid: string;
  readonly status: string;
  readonly errorCode: number | null;
  readonly account: SandboxAccount;
  readonly to: string;
}): Readonly<Record<string, string>> {
  const { sid, status, errorCode, account, to } = facts;
  return {
    SmsSid: sid,
    SmsStatus: status,
    MessageStatus: status,
    To: to,
    MessageSid: sid,
    AccountSid: account.accountId,
    From: account.externalId,
    ApiVersion: '2010-04-01',
    ...(errorCode === null ? {} : { ErrorCode: String(errorCode) }),
  };
}

/** Brings a message through its states, with a callback for each. */
async function progress(
  context: SandboxContext,
  send: SmsSend,
  sent: { readonly sid: string; readonly lead: string; readonly failure: ArmedFault | null },
): Promise<void> {
  const { sid, lead, failure } = sent;
  const steps = failure === null ? ['queued', 'sent', 'delivered'] : ['queued', 'sent', 'failed'];
  for (const name of steps) {
    const errorCode = name === 'failed' ? (failure?.code ?? CARRIER_FILTERED) : null;
    const sentAt = name === 'sent' ? { sentAt: context.settings.now() } : {};
    context.sms.change(sid, { status: name, errorCode, ...sentAt });
    if (failure === null && (name === 'sent' || name === 'delivered')) {
      context.threads.change('sms', lead, sid, { status: name });
    }
    await callBack(context, send, { sid, name, errorCode });
  }
}

function accept(
  context: SandboxContext,
  send: SmsSend,
  call: { readonly request: Request; readonly failure: ArmedFault | null },
): Accepted {
  const { request, failure } = call;
  const { account, to, text, mediaCount, statusCallback } = send;
  const sid = newMessageSid();
  const lead = context.people.at('phone', to)?.name ?? to;
  const record: SmsRecord = {
    sid,
    accountSid: account.accountId,
    from: account.externalId,
    to,
    body: text,
    direction: 'outbound-api',
    status: 'queued',
    errorCode: null,
    mediaCount,
    createdAt: context.settings.now(),
    sentAt: null,
  };
  context.sms.put(record);
  recordAcceptance(context, {
    channel: 'sms',
    externalId: account.externalId,
    lead,
    to,
    text,
    providerMessageId: sid,
    correlation: statusCallback,
    request,
    arrives: failure === null,
    media: Array.from({ length: mediaCount }, () => 'file'),
  });
  return {
    reply: { status: 201, body: messageResource(record) },
    followUps: () => progress(context, send, { sid, lead, failure }),
  };
}

/** Serves `POST …/Messages.json` (providers 5.2.8). The credentials are checked already. */
export async function serveSmsSend(
  context: SandboxContext,
  request: Request,
  response: Response,
): Promise<void> {
  const send = parse(context, request.body);
  if ('refusal' in send) {
    answer(response, send.refusal);
    return;
  }
  await serveSend(context, {
    channel: 'sms',
    request,
    response,
    accept: (failure) => accept(context, send, { request, failure }),
    faultReply: twilioFaultReply,
  });
}
