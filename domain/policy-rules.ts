import { z } from 'zod';
import { CHANNELS } from './inbound';
import { minuteOfDay, opensInOneZone } from './hours';

/**
 * The rules of one policy as data (C2, S6): what a business says about when messages may leave.
 * They are stored as a version and never changed; a new version replaces them.
 */

const MINUTES_PER_DAY = 24 * 60;

const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, {
  error: 'Write a time of day as HH:MM, from 00:00 to 23:59.',
});

const endOfRange = z.string().regex(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, {
  error: 'Write the end of a range as HH:MM, from 00:00 to 24:00.',
});

const range = z
  .strictObject({ from: timeOfDay, to: endOfRange })
  .refine(({ from, to }) => from !== to, {
    error:
      'A range must end at another time than it begins; write the whole day as 00:00 to 24:00.',
  });

/** Local times of a day. One that ends before it begins goes on past midnight. */
const ranges = z
  .array(range)
  .max(8, { error: 'A day has at most 8 ranges.' })
  .refine((all) => !overlap(all), { error: 'The ranges of a day must not overlap.' });

function overlap(all: readonly { readonly from: string; readonly to: string }[]): boolean {
  const spans = all
    .map(({ from, to }) => ({ from: minuteOfDay(from), to: minuteOfDay(to) }))
    .map(({ from, to }) => ({ from, to: to > from ? to : to + MINUTES_PER_DAY }))
    .sort((a, b) => a.from - b.from);
  return spans.some((span, index) => span.from < (spans[index - 1]?.to ?? 0));
}

const weekly = z.strictObject({
  monday: ranges,
  tuesday: ranges,
  wednesday: ranges,
  thursday: ranges,
  friday: ranges,
  saturday: ranges,
  sunday: ranges,
});

const holiday = z.strictObject({
  date: z.iso.date({ error: 'Write the date of a holiday as YYYY-MM-DD.' }),
  name: z.string().min(1).max(60),
  /** Empty: closed that day. */
  ranges,
});

const minutes = z.int().min(1).max(1_440);

const template = z.strictObject({
  /** As the provider approved it. */
  name: z.string().regex(/^[a-z0-9_]{1,512}$/, {
    error: 'A template is named by small letters, digits and underscores.',
  }),
  language: z.string().regex(/^[a-z]{2,3}(_[A-Z]{2})?$/, {
    error: 'Write the language of a template as en or en_US.',
  }),
  /** What it says, for the thread and for people; the provider sends its own copy. */
  text: z.string().min(1).max(1_024),
});

const channel = z.enum(CHANNELS);

const rulesShape = z.strictObject({
  /** In the business's zone; null where it is always open. */
  businessHours: weekly.nullable(),
  holidays: z.array(holiday).max(366, { error: 'A policy names at most 366 holidays.' }),
  /** In the recipient's zone: nothing that the business starts leaves in it. */
  quietHours: range.nullable(),
  /** True: an answer to a message that the lead just sent leaves at any hour. */
  answerOutsideHours: z.boolean(),
  /** Holds an answer back by a rule with a name. */
  answerDelay: z.strictObject({ rule: z.string().regex(/^[a-z0-9-]{1,40}$/), minutes }).nullable(),
  /** Holds an answer back, so that a person may answer first. */
  escalationWindowMinutes: minutes.nullable(),
  /** A person approves each answer before it leaves. */
  manualReview: z.boolean(),
  /** Calendar days after the first accepted answer. */
  followUpDays: z
    .array(z.int().min(1).max(90))
    .max(6)
    .refine((days) => days.every((day, index) => index === 0 || day > (days[index - 1] ?? 0)), {
      error: 'The days of the follow-ups must rise.',
    }),
  /** A reply ends the plan for its episode; a plan that starts again is not offered. */
  restartAfterSilence: z.literal(false, {
    error: 'A reply ends the follow-ups of its episode; they do not start again after silence.',
  }),
  /** What replaces, once, an answer that the provider reports as failed after accepting it. */
  fallback: z.enum(['none', 'template', 'other-channel']),
  /** Approved texts, which may leave outside a channel's reply window. */
  templates: z.partialRecord(channel, template),
});

/** The rules of one policy; what was not valid never becomes one. */
export type PolicyRules = z.infer<typeof rulesShape>;

/** A text that the provider approved beforehand. */
export type Template = z.infer<typeof template>;

const policyRules = rulesShape
  .refine(
    (rules) => new Set(rules.holidays.map(({ date }) => date)).size === rules.holidays.length,
    {
      error: 'A date can be a holiday only once.',
      path: ['holidays'],
    },
  )
  .refine((rules) => opensInOneZone(rules), {
    error: 'Business hours and quiet hours leave no time of the week at which a message may leave.',
    path: ['businessHours'],
  })
  .refine(
    ({ fallback, templates }) => fallback !== 'template' || templates.whatsapp !== undefined,
    {
      error: 'The fallback is a template, but no template is named for WhatsApp.',
      path: ['fallback'],
    },
  )
  .refine(({ templates }) => Object.keys(templates).every((name) => name === 'whatsapp'), {
    error: 'Only WhatsApp has approved templates.',
    path: ['templates'],
  });

export type PolicyReading =
  | { readonly kind: 'valid'; readonly rules: PolicyRules }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] };

/** Checks rules that come from outside. Each problem names its place: "quietHours.from: …". */
export function readPolicyRules(value: unknown): PolicyReading {
  const read = policyRules.safeParse(value);
  if (read.success) return { kind: 'valid', rules: read.data };
  const problems = read.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')}: ${message}`,
  );
  return { kind: 'invalid', problems };
}

/** What holds where a business has stored no policy: quiet nights, and everything else at once. */
export const DEFAULT_RULES: PolicyRules = {
  businessHours: null,
  holidays: [],
  quietHours: { from: '21:00', to: '08:00' },
  answerOutsideHours: true,
  answerDelay: null,
  escalationWindowMinutes: null,
  manualReview: false,
  followUpDays: [1, 3, 7],
  restartAfterSilence: false,
  fallback: 'none',
  templates: {},
};
