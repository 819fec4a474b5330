import { contentTypeOf, mediaIdOf } from '../media';
import { newMessageSid } from '../provider-ids';
import { applyOptOutKeyword } from '../twilio/opt-out';
import { statusForm } from '../twilio/sms-send';
import { segmentCount } from '../twilio/segments';
import { inboundSmsUrl, twilioWebhook } from '../twilio/twilio-webhook';
import {
  alteredText,
  notOnThisChannel,
  showForeignMessage,
  showLeadMessage,
  type ActResult,
  type PhoneActor,
} from './phone-act';

function mediaFields(actor: PhoneActor): Readonly<Record<string, string>> {
  const { context, order } = actor;
  const fields: Record<string, string> = {};
  for (const [index, { kind }] of order.media.entries()) {
    fields[`MediaUrl${index}`] = `${context.self.url}/media/${mediaIdOf(kind)}`;
    fields[`MediaContentType${index}`] = contentTypeOf(kind);
  }
  return fields;
}

/** The form of one inbound message (providers 5.2.3). */
function inboundForm(actor: PhoneActor, sid: string): Readonly<Record<string, string>> {
  const { account, person, order } = actor;
  return {
    ToCountry: 'US',
    ToState: 'IL',
    SmsMessageSid: sid,
    NumMedia: String(order.media.length),
    FromState: person.state,
    SmsStatus: 'received',
    Body: order.text,
    FromCountry: 'US',
    To: account.externalId,
    NumSegments: String(segmentCount(order.text)),
    MessageSid: sid,
    SmsSid: sid,
    AccountSid: account.accountId,
    From: person.phone,
    ApiVersion: '2010-04-01',
    ...mediaFields(actor),
  };
}

function write(actor: PhoneActor): ActResult {
  const { context, account, person, order, atMs } = actor;
  const sid = newMessageSid();
  context.sms.put({
    sid,
    accountSid: account.accountId,
    from: person.phone,
    to: account.externalId,
    body: order.text,
    direction: 'inbound',
    status: 'received',
    errorCode: null,
    mediaCount: order.media.length,
    createdAt: atMs,
    sentAt: atMs,
  });
  const onAttempt = showLeadMessage(actor, sid);
  const webhook = twilioWebhook(context, {
    account: account.externalId,
    nature: 'inbound',
    url: inboundSmsUrl(context),
    form: inboundForm(actor, sid),
    altered: { Body: alteredText(order.text) },
    onAttempt,
  });
  // Twilio blocks before anyone else hears of it; its own answer follows on the phone.
  const own = applyOptOutKeyword(context, account, { person, text: order.text });
  const afterwards = () => {
    if (own !== null) showProviderAnswer(actor, own);
  };
  return { providerMessageId: sid, webhooks: [webhook], afterwards };
}

function showProviderAnswer(actor: PhoneActor, text: string): void {
  const { context, account, person } = actor;
  context.threads.put('sms', person.name, {
    at: new Date(context.settings.now()).toISOString(),
    from: 'business',
    text,
    providerMessageId: newMessageSid(),
    account: account.externalId,
    author: 'provider',
  });
}

/** A message that left through Twilio, but not from the app: it stands in the list, nothing more. */
function foreignMessage(actor: PhoneActor): ActResult {
  const { context, account, person, order, atMs } = actor;
  const sid = newMessageSid();
  context.sms.put({
    sid,
    accountSid: account.accountId,
    from: account.externalId,
    to: person.phone,
    body: order.text,
    direction: 'outbound-api',
    status: 'delivered',
    errorCode: null,
    mediaCount: 0,
    createdAt: atMs,
    sentAt: atMs,
  });
  showForeignMessage(actor, sid);
  const note = 'Twilio sends no webhook for it; it stands in the message list.';
  return { providerMessageId: sid, webhooks: [], note };
}

/** A late or repeated status callback, to the address that the send named. */
function status(actor: PhoneActor): ActResult {
  const { context, account, person, order } = actor;
  const send =
    order.target === undefined
      ? context.ledger.newestTo('sms', person.name)
      : context.ledger.find('sms', order.target);
  const callback = send?.correlation ?? null;
  if (send === null || callback === null) {
    return { refusal: 'No message to this lead asked for status callbacks.' };
  }
  const { providerMessageId: sid } = send;
  const name = order.status ?? 'delivered';
  const errorCode = name === 'failed' ? 30007 : null;
  context.sms.change(sid, { status: name, errorCode });
  if (name !== 'failed') context.threads.change('sms', person.name, sid, { status: name });
  const webhook = twilioWebhook(context, {
    account: account.externalId,
    nature: 'status',
    url: callback,
    form: statusForm({ sid, status: name, errorCode, account, to: person.phone }),
    altered: { To: '+13125550199' },
  });
  return { providerMessageId: sid, webhooks: [webhook] };
}

/** Reactions arrive as ordinary texts from phones that cannot show them (providers 5.2.5). */
function react(actor: PhoneActor): ActResult {
  const { context, person, order } = actor;
  const liked = context.threads.newest('sms', person.name, 'business')?.text ?? '';
  const text = order.text === '' ? `Liked “${liked}”` : order.text;
  return write({ ...actor, order: { ...order, text } });
}

/** Acts on SMS (providers 5.2). */
export function actOnSms(actor: PhoneActor): ActResult {
  switch (actor.order.kind) {
    case 'message':
      return write(actor);
    case 'reaction':
      return react(actor);
    case 'echo-native':
    case 'echo-other-app':
      return foreignMessage(actor);
    case 'status':
      return status(actor);
    case 'edit':
    case 'delete':
      return notOnThisChannel('sms', 'a text message cannot be changed once it is sent.');
    case 'history':
      return notOnThisChannel('sms', 'only WhatsApp imports a history.');
  }
}
