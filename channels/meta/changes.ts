import { z } from 'zod';
import type { InboundElement } from '../../domain/inbound';
import { isWireRecord } from '../wire-json';
import { frame, noteOf, quarantine, readAlone, sourceTime, wireId, wireRecord } from './reading';
import type { Place } from './reading';
import { readMessagingItem, readStandbyItem } from './messaging';

const changeSchema = z.object({ field: z.string(), value: z.unknown().optional() });

const leadgenSchema = z.object({
  leadgen_id: wireId,
  page_id: wireId.nullish(),
  form_id: wireId.nullish(),
  created_time: z.unknown().optional(),
});

/** Fields of pages and Instagram accounts that hold no direct message of this version. */
const LATER_FIELDS: ReadonlySet<string> = new Set([
  ...['feed', 'mention', 'mentions', 'comments', 'live_comments', 'ratings', 'conversations'],
  ...['live_videos', 'videos', 'photos', 'story_insights', 'story_reactions', 'group_feed'],
  ...['share_to_feed', 'business_integrity', 'name', 'picture', 'description', 'category'],
]);

/** Fields that mark something a person may have written, whatever the change is called. */
const MESSAGE_MARKS: readonly string[] = [
  ...['message', 'messages', 'message_echoes', 'text', 'sender', 'from', 'postback'],
];

/** Says whether an unknown thing may hold a lead's message; what is not an object always may. */
export function mayHoldMessage(value: unknown): boolean {
  return !isWireRecord(value) || MESSAGE_MARKS.some((mark) => value[mark] !== undefined);
}

/**
 * Reads one change of a page or Instagram account: Instagram also delivers messaging items this
 * way, under `changes[]` or flat in the entry (providers.md 3.2.3). Throws on a broken change.
 */
export function readChange(raw: unknown, place: Place, appId: string): readonly InboundElement[] {
  const { field, value } = changeSchema.parse(raw);
  if (field === 'standby') return readStandbyItem(value, place, appId);
  if (field.startsWith('message') || field.startsWith('messaging_')) {
    return readMessagingItem(value, place, appId);
  }
  if (field === 'leadgen') return readAlone(place, raw, true, () => [leadgenNote(value, place)]);
  if (LATER_FIELDS.has(field)) return [noteOf(place, `later:${field}`, value)];
  return [quarantine(place, raw, 'unknown field', mayHoldMessage(value))];
}

/** Lead Ads come with a later version; until then the pointer is kept, digit for digit. */
function leadgenNote(value: unknown, place: Place): InboundElement {
  const lead = leadgenSchema.parse(wireRecord.parse(value));
  const stable = ['leadgen', lead.leadgen_id, lead.page_id ?? null, lead.form_id ?? null];
  return {
    ...frame(place, `leadgen:${lead.leadgen_id}`, stable, sourceTime(lead.created_time)),
    type: 'note',
    kind: 'later:leadgen',
    history: null,
  };
}
