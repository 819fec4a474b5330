import type { SandboxAccount } from '../accounts';
import type { PageChannel } from '../channels';
import type { SandboxContext } from '../context';
import type { Person } from '../people';

/** The lead's scoped id on one of the two page channels. */
export function scopedId(channel: PageChannel, person: Person): string {
  return channel === 'messenger' ? person.messengerId : person.instagramId;
}

/** The attachment of a message as both page channels write it. */
export interface PageAttachment {
  readonly type: string;
  readonly payload: { readonly url: string };
}

/** The body of one webhook with one `messaging` element (providers 3.1.3, 3.2.3). */
export function pagePayload(
  context: SandboxContext,
  account: SandboxAccount,
  event: Readonly<Record<string, unknown>>,
): unknown {
  return {
    object: account.channel === 'messenger' ? 'page' : 'instagram',
    entry: [{ id: account.externalId, time: context.settings.now(), messaging: [event] }],
  };
}

/** The head of an event that comes from the lead. */
export function fromLead(account: SandboxAccount, leadId: string, timestamp: number) {
  return { sender: { id: leadId }, recipient: { id: account.externalId }, timestamp };
}

/** The head of an echo: the account itself is the sender. */
export function fromBusiness(account: SandboxAccount, leadId: string, timestamp: number) {
  return { sender: { id: account.externalId }, recipient: { id: leadId }, timestamp };
}

/** An echo's `message`. `appId` is missing where a person wrote in an app that has none. */
export function echoMessage(echo: {
  readonly mid: string;
  readonly text: string | null;
  readonly attachments: readonly PageAttachment[];
  readonly appId: string | null;
  readonly metadata: string | null;
}) {
  const { mid, text, attachments, appId, metadata } = echo;
  return {
    is_echo: true,
    // A number on the wire, as Meta writes it; the ids in use are below 2^53.
    ...(appId === null ? {} : { app_id: Number(appId) }),
    ...(metadata === null ? {} : { metadata }),
    mid,
    ...(text === null ? {} : { text }),
    ...(attachments.length === 0 ? {} : { attachments }),
  };
}
