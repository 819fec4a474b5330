import type { z } from 'zod';
import type { ConversationRow, LastMessageRow } from '../../db/queries/conversation-list';
import { CHANNEL_NAMES, mediaNames } from '../../domain/timeline-words';
import { truncate } from '../../domain/text';
import type { conversationSchema } from './schemas';

type ConversationAnswer = z.input<typeof conversationSchema>;

/** A row as the list shows it. `now` is the database's clock, by which ages are reckoned. */
export function presentConversation(row: ConversationRow, now: string): ConversationAnswer {
  const { id, channel, state, owner, version, owedSince, lastActivityAt, openWorkItems } = row;
  return {
    id,
    channel,
    leadName: leadName(row),
    state,
    owner,
    version,
    owedSince,
    // A provider's clock may be ahead of ours; an age is never negative (INV-23).
    owedForMs: owedSince === null ? null : Math.max(0, Date.parse(now) - Date.parse(owedSince)),
    lastActivityAt,
    preview: row.last === null ? null : { author: row.last.author, text: previewText(row.last) },
    openWorkItems,
  };
}

function leadName({ leadName: name, addressKind, addressValue, channel }: ConversationRow): string {
  if (name !== null && name.trim() !== '') return name;
  return addressKind === 'phone' ? addressValue : `Somebody on ${CHANNEL_NAMES[channel]}`;
}

const PREVIEW_CODE_UNITS = 120;

/** One line of at most 120 code units, cut between visible characters. */
export function previewText(message: LastMessageRow): string {
  if (message.deleted) return 'Message deleted';
  const line = (message.text ?? '').replaceAll(/\s+/g, ' ').trim();
  if (line === '') return message.media.length > 0 ? mediaNames(message.media) : 'No text';
  const cut = truncate(line, PREVIEW_CODE_UNITS);
  return cut === line ? line : `${cut.trimEnd()}…`;
}
