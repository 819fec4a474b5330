import { z } from 'zod';
import { MEDIA_KINDS } from '../media';

/** Kinds of acts that these four channels know; each channel refuses those that it has not. */
const PHONE_KINDS = [
  'message',
  'reaction',
  'edit',
  'delete',
  'echo-native',
  'echo-other-app',
  'status',
  'history',
] as const;

/** Kinds of the contract that belong to channels of later versions. */
const LATER_KINDS = ['call', 'form'];

const DAY_MS = 86_400_000;

const options = z.strictObject({
  /** Deliver the webhook so many times at once; `true` means twice. */
  duplicate: z
    .union([z.boolean(), z.number().int().min(1).max(100)])
    .default(false)
    .transform((value) => (typeof value === 'number' ? value : value ? 2 : 1)),
  /** From the tap on "send" to the webhook. */
  delayMs: z.number().int().min(0).max(DAY_MS).default(0),
  /** The provider's event time, ISO 8601; default now. */
  occurredAt: z.iso.datetime({ offset: true }).optional(),
  /** WhatsApp: a username user shows no phone number. */
  addressing: z.enum(['phone', 'bsuid-only']).default('phone'),
  /** `history`: how many messages the import holds. */
  historyCount: z.number().int().min(1).max(500).default(3),
});

const order = z.strictObject({
  lead: z.string().min(1).max(200),
  text: z.string().default(''),
  kind: z.enum(PHONE_KINDS).default('message'),
  media: z
    .array(z.strictObject({ kind: z.enum(MEDIA_KINDS) }))
    .max(10)
    .default([]),
  /** External id of the business's account; default the channel's first. */
  account: z.string().optional(),
  /** The message that a reaction, edit, deletion or status is about; default the newest. */
  target: z.string().optional(),
  status: z.enum(['sent', 'delivered', 'read', 'failed']).optional(),
  options: options.prefault({}),
});

/** What a person does on the phone, checked and with its defaults filled in. */
export type PhoneOrder = z.infer<typeof order>;

/** Reads the body of `POST /phone/:channel/messages`; a refusal says what is wrong with it. */
export function parsePhoneOrder(body: unknown): PhoneOrder | { readonly refusal: string } {
  const kind = z.looseObject({ kind: z.string() }).safeParse(body);
  if (kind.success && LATER_KINDS.includes(kind.data.kind)) {
    return { refusal: `The kind "${kind.data.kind}" belongs to a channel that is not here yet.` };
  }
  const parsed = order.safeParse(body);
  if (parsed.success) return parsed.data;
  return { refusal: z.prettifyError(parsed.error) };
}
