import type { MessageElement } from '../../domain/inbound';
import { sha256 } from '../../db/digest';
import type { IngestRequest, PreparedElement } from '../../db/ingest/request';
import { newId } from '../../db/new-id';

export interface LeadText {
  readonly lead?: string;
  readonly text: string | null;
  readonly id?: string;
  readonly at?: string | null;
  readonly optOut?: 'stop' | 'start' | 'help' | null;
  readonly mayWait?: boolean;
}

const SMS_ACCOUNT = '+13125550100';

/** A lead's SMS as the channel would have parsed it. */
export function smsElement(message: LeadText, index = 0): PreparedElement {
  const id = message.id ?? `SM${newId('msg').slice(4)}`;
  const element: MessageElement = {
    type: 'message',
    path: `$[${index}]`,
    channel: 'sms',
    accountExternalId: SMS_ACCOUNT,
    eventKey: `message:${id}`,
    stableContent: JSON.stringify([message.lead ?? 'lead', message.text]),
    source: {
      at: message.at ?? null,
      precision: (message.at ?? null) === null ? 'none' : 'milliseconds',
    },
    providerMessageId: id,
    from: [{ kind: 'phone', value: message.lead ?? '+13125550142' }],
    profileName: null,
    text: message.text,
    media: message.text === null ? [{ kind: 'image', reference: 'media-1' }] : [],
    unsupported: false,
    providerOptOut: null,
    providerConfirmsOptOut: false,
  };
  return prepared(element, message.optOut ?? null, message.mayWait ?? false);
}

export function prepared(
  element: PreparedElement['element'],
  optOut: PreparedElement['optOut'] = null,
  mayWait = false,
): PreparedElement {
  return {
    element,
    keySha256: sha256(element.eventKey),
    contentSha256: sha256(element.stableContent),
    optOut,
    mayWait,
  };
}

/** One request that holds the given elements. */
export function requestOf(
  elements: readonly PreparedElement[],
  provider: 'meta' | 'twilio' = 'twilio',
): IngestRequest {
  const body = Buffer.from(JSON.stringify(elements.map((item) => item.element.stableContent)));
  const at = new Date().toISOString();
  return {
    raw: {
      id: newId('raw'),
      provider,
      target: '/webhooks/test',
      contentType: 'application/json',
      body,
      bodySha256: sha256(body),
    },
    elements,
    ingress: { acceptedAt: at, normalizedAt: at, normalizeMs: 1 },
  };
}
