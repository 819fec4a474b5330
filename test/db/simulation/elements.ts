import { DEMO_ACCOUNTS } from '../../../dev/demo';
import type { InboundElement } from '../../../domain/inbound';
import type { PreparedElement } from '../../../db/ingest/request';
import { at, type LeadText } from '../../simulation/model/facts';
import type { ThreadElement } from '../../simulation/model/ingest';
import { prepared } from '../../support/inbound';

/** The accounts and people of the model, as the demo business has them. */
export const ACCOUNTS = ['sms', 'whatsapp'] as const;
export const PHONES = ['+13125550142', '+13125550143'] as const;

/** The demo business's account that stands for one of the model's. */
export function accountOf(account: number) {
  const channel = at(ACCOUNTS, account);
  const found = DEMO_ACCOUNTS.find((one) => one.channel === channel);
  if (found === undefined) throw new Error(`the demo business has no ${channel}`);
  return found;
}

const WORDS: Record<LeadText, string | null> = {
  text: 'My sink leaks',
  opener: 'Hi',
  media: null,
  stop: 'stop',
  start: 'start',
  person: 'person',
  thanks: 'thanks',
};

/** An element of the model's thread as a channel would have parsed it. */
export function toInbound(
  account: number,
  address: number,
  element: ThreadElement,
  text: string,
): PreparedElement {
  const phone = { kind: 'phone', value: at(PHONES, address) } as const;
  const base = {
    path: '$[0]',
    channel: at(ACCOUNTS, account),
    accountExternalId: accountOf(account).externalId,
    eventKey: element.id,
    stableContent: element.id,
    providerMessageId: element.id,
  } as const;
  if (element.type === 'native') {
    return prepared({
      ...base,
      type: 'echo',
      source: { at: null, precision: 'none' },
      to: [phone],
      author: element.author,
      attemptRef: null,
      text,
    });
  }
  const { text: words, sourceAtMs } = element;
  const isMedia = words === 'media';
  const inbound: InboundElement = {
    ...base,
    type: 'message',
    source:
      sourceAtMs === null
        ? { at: null, precision: 'none' }
        : { at: new Date(sourceAtMs).toISOString(), precision: 'milliseconds' },
    from: [phone],
    profileName: null,
    text: WORDS[words],
    media: isMedia ? [{ kind: 'image', reference: 'media-1' }] : [],
    unsupported: false,
    providerOptOut: null,
    providerConfirmsOptOut: false,
  };
  const optOut = words === 'stop' || words === 'start' ? words : null;
  return prepared(inbound, optOut, isMedia || words === 'opener');
}
