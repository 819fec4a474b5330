import { z } from 'zod';
import type { InboundElement, StatusElement } from '../../domain/inbound';
import type { WireRecord } from '../wire-json';
import { below, frame, noteOf, quarantine, readEach, sourceTime, wireId } from './reading';
import type { Place } from './reading';

const receiptSchema = z.object({
  sender: z.object({ id: wireId }),
  timestamp: z.unknown().optional(),
});

const deliverySchema = z.object({
  mids: z.array(z.unknown()).nullish(),
  watermark: z.unknown().optional(),
});
const readSchema = z.object({ mid: wireId.nullish(), watermark: z.unknown().optional() });

type Receipt = z.infer<typeof receiptSchema>;

/**
 * Reads Messenger's `delivery`: one status for each message id, or the watermark where the ids are
 * missing (providers.md 3.1.5). Throws on a broken receipt.
 */
export function readDelivery(item: WireRecord, place: Place): readonly InboundElement[] {
  const receipt = receiptSchema.parse(item);
  const { mids, watermark } = deliverySchema.parse(item.delivery);
  if (receipt.sender.id === place.account) return [noteOf(place, 'own-receipt', item)];
  if (mids === undefined || mids === null || mids.length === 0) {
    return [watermarkStatus(item, place, receipt, { status: 'delivered', watermark })];
  }
  return readEach(below(place, '.delivery.mids'), mids, false, (mid, midPlace) => [
    messageStatus(wireId.parse(mid), midPlace, receipt, 'delivered'),
  ]);
}

/**
 * Reads `read`: Messenger gives a watermark, Instagram the id of the message (providers.md 3.1.5,
 * 3.2.5). Throws on a broken receipt.
 */
export function readRead(item: WireRecord, place: Place): readonly InboundElement[] {
  const receipt = receiptSchema.parse(item);
  const { mid, watermark } = readSchema.parse(item.read);
  if (receipt.sender.id === place.account) return [noteOf(place, 'own-receipt', item)];
  return mid === undefined || mid === null
    ? [watermarkStatus(item, place, receipt, { status: 'read', watermark })]
    : [messageStatus(mid, place, receipt, 'read')];
}

function messageStatus(
  mid: string,
  place: Place,
  receipt: Receipt,
  status: StatusElement['status'],
): StatusElement {
  const key = `status:${mid}:${status}`;
  return {
    ...frame(place, key, [key], sourceTime(receipt.timestamp)),
    type: 'status',
    providerMessageId: mid,
    status,
    attemptRef: null,
    errorCode: null,
    watermark: null,
  };
}

/** A watermark covers everything sent to the lead up to its millisecond. */
function watermarkStatus(
  item: WireRecord,
  place: Place,
  receipt: Receipt,
  found: { readonly status: StatusElement['status']; readonly watermark: unknown },
): InboundElement {
  const upTo = sourceTime(found.watermark).at;
  if (upTo === null) return quarantine(place, item, 'watermark: unreadable', false);
  const kind = place.channel === 'instagram' ? 'instagram' : 'messenger';
  const lead = { kind, value: `${place.account}/${receipt.sender.id}` } as const;
  const key = `${found.status}:${receipt.sender.id}:${upTo}`;
  return {
    ...frame(place, key, [key], sourceTime(receipt.timestamp)),
    type: 'status',
    providerMessageId: null,
    status: found.status,
    attemptRef: null,
    errorCode: null,
    watermark: { to: [lead], upTo },
  };
}
