import { z } from 'zod';
import type { Channel, InboundElement } from '../../domain/inbound';
import { sha256Hex } from '../canonical';
import { readWireJson } from '../wire-json';
import type { WireRecord } from '../wire-json';
import { readChange } from './changes';
import { readMessagingItem, readStandbyItem } from './messaging';
import { below, frame, quarantine, readAlone, readEach, wireId, wireRecord } from './reading';
import type { Place } from './reading';
import { readWhatsAppChange } from './whatsapp';

/** The `object` of a delivery says which product it belongs to (contract.md, Webhooks). */
const CHANNELS_BY_OBJECT: Readonly<Record<string, Channel>> = {
  page: 'messenger',
  instagram: 'instagram',
  whatsapp_business_account: 'whatsapp',
};

const envelopeSchema = z.object({ object: z.string(), entry: z.array(z.unknown()) });

/**
 * Reads every element of an authentic delivery of Meta's: each entry, and in it `messaging[]`,
 * `standby[]`, `changes[]` and the flat shape (providers.md 3.0.3). Never throws: a body that
 * cannot be read is one quarantined element at `$`, keyed by its bytes.
 */
export function readMetaBody(body: Buffer, appId: string): readonly InboundElement[] {
  const json = readWireJson(body);
  if (!json.readable) return [unreadableBody(body, json.reason)];
  const envelope = envelopeSchema.safeParse(json.value);
  if (!envelope.success) return [unreadableBody(body, 'the body is no delivery of Meta')];
  const { object, entry } = envelope.data;
  const channel = Object.hasOwn(CHANNELS_BY_OBJECT, object)
    ? CHANNELS_BY_OBJECT[object]
    : undefined;
  if (channel === undefined) return [unreadableBody(body, 'unknown object')];
  const root: Place = { channel, account: '', path: 'entry' };
  return readEach(root, entry, true, (item, place) => readEntry(item, place, appId));
}

function unreadableBody(body: Buffer, reason: string): InboundElement {
  const digest = sha256Hex(body);
  return {
    ...frame({ channel: 'messenger', account: '', path: '$' }, `unreadable:${digest}`, [digest]),
    type: 'quarantined',
    reason,
    mayBeLeadMessage: true,
  };
}

function readEntry(raw: unknown, place: Place, appId: string): readonly InboundElement[] {
  const entry = wireRecord.parse(raw);
  const inAccount: Place = { ...place, account: wireId.parse(entry.id) };
  return place.channel === 'whatsapp'
    ? readWhatsAppEntry(entry, inAccount)
    : readPageEntry(entry, inAccount, appId);
}

function readPageEntry(entry: WireRecord, place: Place, appId: string): readonly InboundElement[] {
  const isFlat = entry.field !== undefined;
  const { messaging, standby, changes } = entry;
  if (!isFlat && [messaging, standby, changes].every((list) => list === undefined)) {
    return [quarantine(place, withoutDispatchTime(entry), 'entry without events', true)];
  }
  const flat = { field: entry.field, value: entry.value };
  return [
    ...readEach(below(place, '.messaging'), messaging, true, (item, itemPlace) =>
      readMessagingItem(item, itemPlace, appId),
    ),
    ...readEach(below(place, '.standby'), standby, false, (item, itemPlace) =>
      readStandbyItem(item, itemPlace, appId),
    ),
    ...readEach(below(place, '.changes'), changes, true, (item, itemPlace) =>
      readChange(item, itemPlace, appId),
    ),
    ...(isFlat ? readAlone(place, flat, true, () => readChange(flat, place, appId)) : []),
  ];
}

function readWhatsAppEntry(entry: WireRecord, place: Place): readonly InboundElement[] {
  if (entry.changes === undefined) {
    return [quarantine(place, withoutDispatchTime(entry), 'entry without events', true)];
  }
  return readEach(below(place, '.changes'), entry.changes, true, readWhatsAppChange);
}

/** `time` is when Meta dispatched the entry, so a redelivery may differ in it (spec IN1). */
function withoutDispatchTime(entry: WireRecord): WireRecord {
  return { ...entry, time: undefined };
}
