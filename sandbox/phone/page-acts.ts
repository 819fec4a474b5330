import type { SandboxContext } from '../context';
import type { WebhookNature } from '../faults';
import { mediaIdOf } from '../media';
import { metaWebhook } from '../meta/meta-webhook';
import {
  echoMessage,
  fromBusiness,
  fromLead,
  pagePayload,
  scopedId,
  type PageAttachment,
} from '../meta/page-events';
import type { PageAccount } from '../meta/page-send';
import { newInstagramId, newMessengerId } from '../provider-ids';
import {
  alteredText,
  noteEdit,
  notOnThisChannel,
  showForeignMessage,
  showLeadMessage,
  targetOf,
  type ActResult,
  type PhoneActor,
} from './phone-act';

/** The Page inbox writes echoes under an app id of Meta's own (providers 3.1.5). */
const PAGE_INBOX_APP_ID = '263902037430900';
const OTHER_APP_ID = '900000000000777';

export type PageActor = PhoneActor & { readonly account: PageAccount };

type PageEvent = Readonly<Record<string, unknown>>;

function newMid(actor: PageActor): string {
  return actor.account.channel === 'messenger' ? newMessengerId() : newInstagramId();
}

function leadHead(actor: PageActor): PageEvent {
  const { account, person, atMs } = actor;
  return fromLead(account, scopedId(account.channel, person), atMs);
}

function webhookOf(
  actor: PageActor,
  nature: WebhookNature,
  events: {
    readonly event: PageEvent;
    readonly altered: PageEvent;
    readonly onAttempt?: (status: number) => void;
  },
) {
  const { context, account } = actor;
  const { event, altered, onAttempt } = events;
  return metaWebhook(context, {
    account,
    nature,
    payload: pagePayload(context, account, event),
    altered: () => pagePayload(context, account, altered),
    ...(onAttempt === undefined ? {} : { onAttempt }),
  });
}

function attachmentOf(context: SandboxContext, kind: PhoneActor['order']['media'][number]['kind']) {
  const url = `${context.self.url}/media/${mediaIdOf(kind)}`;
  const attachment: PageAttachment = { type: kind, payload: { url } };
  return attachment;
}

function write(actor: PageActor): ActResult {
  const { context, order } = actor;
  const mid = newMid(actor);
  const attachments = order.media.map(({ kind }) => attachmentOf(context, kind));
  const event = (text: string): PageEvent => ({
    ...leadHead(actor),
    message: {
      mid,
      ...(text === '' ? {} : { text }),
      ...(attachments.length === 0 ? {} : { attachments }),
    },
  });
  const onAttempt = showLeadMessage(actor, mid);
  const events = { event: event(order.text), altered: event(alteredText(order.text)), onAttempt };
  return { providerMessageId: mid, webhooks: [webhookOf(actor, 'inbound', events)] };
}

function react(actor: PageActor): ActResult {
  const { context, account, person, order } = actor;
  const mid = targetOf(actor, 'business') ?? newMid(actor);
  const emoji = order.text === '' ? '👍' : order.text;
  context.threads.change(account.channel, person.name, mid, { reaction: emoji });
  const event = (shown: string): PageEvent => ({
    ...leadHead(actor),
    reaction: { mid, action: 'react', reaction: 'other', emoji: shown },
  });
  const events = { event: event(emoji), altered: event('🎉') };
  return { providerMessageId: mid, webhooks: [webhookOf(actor, 'inbound', events)] };
}

function edit(actor: PageActor): ActResult {
  const mid = targetOf(actor, 'lead');
  if (mid === null) return { refusal: 'This lead has written nothing that could be edited.' };
  const { account, order } = actor;
  const count = noteEdit(actor, mid);
  // Instagram is seen to write the number as a text (providers 3.2.5).
  const numEdit = account.channel === 'instagram' ? String(count) : count;
  const event = (text: string): PageEvent => ({
    ...leadHead(actor),
    message_edit: { mid, text, num_edit: numEdit },
  });
  const events = { event: event(order.text), altered: event(alteredText(order.text)) };
  return { providerMessageId: mid, webhooks: [webhookOf(actor, 'inbound', events)] };
}

function unsend(actor: PageActor): ActResult {
  const { context, account, person } = actor;
  if (account.channel === 'messenger') {
    return notOnThisChannel('messenger', 'Messenger tells no app that a message was withdrawn.');
  }
  const mid = targetOf(actor, 'lead');
  if (mid === null) return { refusal: 'This lead has written nothing that could be withdrawn.' };
  context.threads.change(account.channel, person.name, mid, { deleted: true });
  const event: PageEvent = { ...leadHead(actor), message: { mid, is_deleted: true } };
  const altered: PageEvent = { ...leadHead(actor), message: { mid, is_unsupported: true } };
  return { providerMessageId: mid, webhooks: [webhookOf(actor, 'inbound', { event, altered })] };
}

/** The app id of a foreign echo; Instagram's own app is seen to leave it out. */
function foreignAppId(actor: PageActor): string | null {
  if (actor.order.kind === 'echo-other-app') return OTHER_APP_ID;
  return actor.account.channel === 'messenger' ? PAGE_INBOX_APP_ID : null;
}

function echo(actor: PageActor): ActResult {
  const { account, person, order, atMs } = actor;
  const mid = newMid(actor);
  const appId = foreignAppId(actor);
  const event = (text: string): PageEvent => ({
    ...fromBusiness(account, scopedId(account.channel, person), atMs),
    message: echoMessage({ mid, text, attachments: [], appId, metadata: null }),
  });
  showForeignMessage(actor, mid);
  const events = { event: event(order.text), altered: event(alteredText(order.text)) };
  return { providerMessageId: mid, webhooks: [webhookOf(actor, 'echo', events)] };
}

function receipt(actor: PageActor): ActResult {
  const { context, account, person, order, atMs } = actor;
  const status = order.status ?? 'read';
  const mid = targetOf(actor, 'business') ?? newMid(actor);
  const watermarks = account.channel === 'messenger';
  const bodies: Readonly<Record<string, PageEvent | undefined>> = {
    read: { read: watermarks ? { watermark: atMs } : { mid } },
    delivered: watermarks ? { delivery: { mids: [mid], watermark: atMs } } : undefined,
  };
  const body = bodies[status];
  if (body === undefined || (status !== 'read' && status !== 'delivered')) {
    return notOnThisChannel(account.channel, `there is no "${status}" receipt.`);
  }
  context.threads.change(account.channel, person.name, mid, { status });
  const event: PageEvent = { ...leadHead(actor), ...body };
  const altered: PageEvent = { ...event, timestamp: atMs + 1 };
  return { providerMessageId: mid, webhooks: [webhookOf(actor, 'status', { event, altered })] };
}

/** Acts on Messenger or Instagram (providers 3.1, 3.2). */
export function actOnPage(actor: PageActor): ActResult {
  switch (actor.order.kind) {
    case 'message':
      return write(actor);
    case 'reaction':
      return react(actor);
    case 'edit':
      return edit(actor);
    case 'delete':
      return unsend(actor);
    case 'echo-native':
    case 'echo-other-app':
      return echo(actor);
    case 'status':
      return receipt(actor);
    case 'history':
      return notOnThisChannel(actor.account.channel, 'only WhatsApp imports a history.');
  }
}
