/** Kinds of attachments that a customer can send. */
export const MEDIA_KINDS = ['image', 'audio', 'video', 'file', 'sticker', 'location'] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

const CONTENT_TYPES: Readonly<Record<MediaKind, string>> = {
  image: 'image/png',
  audio: 'audio/ogg; codecs=opus',
  video: 'video/mp4',
  file: 'application/pdf',
  sticker: 'image/webp',
  location: 'text/plain',
};

const ONE_GREY_PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mOora39DwAFfwJ+qAvXJQAAAABJRU5ErkJggg==',
  'base64',
);
const PLACEHOLDER = Buffer.from('A made-up attachment of the sandbox.\n');

/** The content type of an attachment, as its provider reports it. */
export function contentTypeOf(kind: MediaKind): string {
  return CONTENT_TYPES[kind];
}

/** The bytes behind a media address: a real picture, a placeholder for everything else. */
export function contentOf(kind: MediaKind): Buffer {
  return kind === 'image' ? ONE_GREY_PIXEL : PLACEHOLDER;
}

/** A numeric media id whose first digit is the kind, so that any id can be served later. */
export function mediaIdOf(kind: MediaKind): string {
  const random = Math.floor(Math.random() * 1e14);
  return `${MEDIA_KINDS.indexOf(kind) + 1}${String(random).padStart(14, '0')}`;
}

/** The kind that a media id names, or null where it is no media id. */
export function kindOfMediaId(id: string): MediaKind | null {
  if (!/^\d{15}$/.test(id)) return null;
  return MEDIA_KINDS[Number(id.charAt(0)) - 1] ?? null;
}
