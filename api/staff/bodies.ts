import { z } from 'zod';
import type { PLAIN_COMMANDS } from '../../db/commands/contract';
import { type ConversationCommand, type StaffCommand } from '../../db/commands/contract';

/**
 * What each command is told, as it is parsed and documented, and the command that it makes. Limits
 * are generous: what a channel can carry is judged by the channel (`text_does_not_fit`).
 */
const TEXT_MAX = 10_000;
const NOTE_MAX = 10_000;
const REASON_MAX = 500;

const seenSeq = z.number().int().min(0).optional().meta({
  description:
    'The newest message that the person saw; what gives back, ends or approves requires it.',
});
const reason = z.string().trim().min(1).max(REASON_MAX);
const optionalReason = reason
  .optional()
  .meta({ description: 'Why, for colleagues; it is kept as a note.' });
const instant = z.iso.datetime({ offset: true }).max(40);
const sendId = z
  .string()
  .regex(/^snd_[0-9a-f]{32}$/)
  .optional()
  .meta({ description: 'Which waiting message; absent, the only one.' });

export const commandBody = z.strictObject({ seenSeq }).meta({ id: 'CommandBody' });

interface CommandInput<Body extends z.ZodType> {
  readonly body: Body;
  /** The command that a parsed body makes; `seenSeq` is read apart. */
  readonly toCommand: (body: z.output<Body>) => ConversationCommand;
}

/** A command's body and what it makes, joined so that the parsed type stays inside. */
export interface CommandForm {
  readonly body: z.ZodType;
  /** Parses a body by `parse`, which throws the 400 problem. */
  readonly read: (
    parse: <Schema extends z.ZodType>(schema: Schema) => z.output<Schema>,
  ) => ConversationCommand & { readonly seenSeq: number | null };
}

function form<Body extends z.ZodType<{ seenSeq?: number | undefined }>>({
  body,
  toCommand,
}: CommandInput<Body>): CommandForm {
  return {
    body,
    read: (parse) => {
      const parsed = parse(body);
      return { ...toCommand(parsed), seenSeq: parsed.seenSeq ?? null };
    },
  };
}

function plain(command: (typeof PLAIN_COMMANDS)[number] | 'close'): CommandForm {
  return form({ body: commandBody, toCommand: () => ({ command }) });
}

/** How each command is asked for. */
export const COMMAND_FORMS: Readonly<Record<StaffCommand, CommandForm>> = {
  claim: plain('claim'),
  release: plain('release'),
  book: plain('book'),
  'opt-out': plain('opt-out'),
  pause: plain('pause'),
  resume: plain('resume'),
  close: plain('close'),
  reply: form({
    body: z
      .strictObject({ seenSeq, text: z.string().min(1).max(TEXT_MAX) })
      .meta({ id: 'ReplyBody' }),
    toCommand: ({ text }) => ({ command: 'reply', text }),
  }),
  note: form({
    body: z
      .strictObject({ seenSeq, text: z.string().min(1).max(NOTE_MAX) })
      .meta({ id: 'NoteBody' }),
    toCommand: ({ text }) => ({ command: 'note', text }),
  }),
  approve: form({
    body: z
      .strictObject({
        seenSeq,
        text: z
          .string()
          .min(1)
          .max(TEXT_MAX)
          .optional()
          .meta({ description: "Replaces the draft's wording." }),
      })
      .meta({ id: 'ApproveBody' }),
    toCommand: ({ text }) => ({ command: 'approve', text: text ?? null }),
  }),
  reject: form({
    body: z.strictObject({ seenSeq, reason }).meta({ id: 'RejectBody' }),
    toCommand: (body) => ({ command: 'reject', reason: body.reason }),
  }),
  'send-now': form({
    body: z.strictObject({ seenSeq, sendId, reason: optionalReason }).meta({ id: 'SendNowBody' }),
    toCommand: (body) => ({
      command: 'send-now',
      sendId: body.sendId ?? null,
      reason: body.reason ?? null,
    }),
  }),
  postpone: form({
    body: z
      .strictObject({ seenSeq, sendId, until: instant, reason: optionalReason })
      .meta({ id: 'PostponeBody' }),
    toCommand: (body) => ({
      command: 'postpone',
      sendId: body.sendId ?? null,
      reason: body.reason ?? null,
      until: body.until,
    }),
  }),
  'opt-in': form({
    body: z
      .strictObject({
        seenSeq,
        source: z.string().trim().min(1).max(200).meta({
          description: 'Where the lead consented: a call, a form, a visit.',
        }),
        at: instant.meta({ description: 'When the lead consented; after the opt-out.' }),
        words: z.string().trim().min(1).max(2_000).meta({ description: "The lead's own words." }),
      })
      .meta({ id: 'OptInBody' }),
    toCommand: ({ source, at, words }) => ({ command: 'opt-in', source, at, words }),
  }),
  assign: form({
    body: z.strictObject({ seenSeq, queue: z.string().min(1).max(60) }).meta({ id: 'AssignBody' }),
    toCommand: ({ queue }) => ({ command: 'assign', queue }),
  }),
};

/** The body with which a work item is resolved. */
export const resolveBody = z
  .strictObject({
    seenSeq,
    resolution: z.string().trim().min(1).max(REASON_MAX).optional().meta({
      description:
        '`answered`, `no_answer_needed` or `done`; anything else is kept as a note of the conversation.',
    }),
  })
  .meta({ id: 'ResolveBody' });

export const settleBody = z
  .strictObject({
    arrived: z.boolean().meta({ description: 'Whether the lead has the message.' }),
  })
  .meta({ id: 'SettleBody' });
