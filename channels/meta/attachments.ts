import type { Media } from '../../domain/inbound';
import { isWireRecord } from '../wire-json';

/** Attachment types of Messenger and Instagram (providers.md 3.1.6, 3.2.6); the rest is `other`. */
const MEDIA_KINDS: Readonly<Record<string, Media['kind']>> = {
  image: 'image',
  audio: 'audio',
  video: 'video',
  file: 'file',
  sticker: 'sticker',
  location: 'location',
};

/**
 * The media of a Messenger or Instagram message. An attachment that cannot be read still counts:
 * a lead who sent only that waits for an answer as well.
 */
export function mediaOf(attachments: readonly unknown[]): Media[] {
  return attachments.map((attachment) => {
    const type = attachmentType(attachment);
    const payload = isWireRecord(attachment) ? attachment.payload : undefined;
    const content = isWireRecord(payload) ? payload : {};
    // Until 2026-08-30 a sticker came as an image with a sticker id.
    const isSticker = type === 'sticker' || content.sticker_id !== undefined;
    return {
      kind: isSticker ? 'sticker' : kindOf(type),
      reference: firstText([content.url, content.sticker_id, content.id]) ?? type,
    };
  });
}

/** Says whether the lead only mentioned the business in a story, which asks nothing. */
export function isStoryMention(attachments: readonly unknown[]): boolean {
  return (
    attachments.length > 0 && attachments.every((it) => attachmentType(it) === 'story_mention')
  );
}

function attachmentType(attachment: unknown): string {
  const type = isWireRecord(attachment) ? attachment.type : undefined;
  return typeof type === 'string' ? type : 'unknown';
}

function kindOf(type: string): Media['kind'] {
  return Object.hasOwn(MEDIA_KINDS, type) ? (MEDIA_KINDS[type] ?? 'other') : 'other';
}

function firstText(candidates: readonly unknown[]): string | null {
  return candidates.find((it): it is string => typeof it === 'string' && it !== '') ?? null;
}
