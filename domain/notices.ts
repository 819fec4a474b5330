import { z } from 'zod';
import { ESCALATION_QUEUES, type EscalationQueue } from './escalation';
import type { WorkItemKind } from './work-items';

/** The integrations that carry notices. */
export const NOTICE_KINDS = ['notice-email', 'notice-webhook'] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];

/** Later escalations of a queue wait this long for one another, so that staff get one notice (T4). */
export const NOTICE_GATHER_MS = 30_000;

/** Queues whose notices those who run the installation get too, whatever the business. */
export const OPERATOR_QUEUES: readonly EscalationQueue[] = ['operators', 'operators-on-call'];

/**
 * Without `queues`, or with null, an integration gets the notices of every queue; an empty list is
 * refused, because an integration that wants nothing is a mistake.
 */
const queues = z.array(z.enum(ESCALATION_QUEUES)).min(1).nullish();

/** Settings of an integration of the kind `notice-email`. */
export const noticeEmailSettings = z.object({ to: z.array(z.email()).min(1).max(20), queues });

/** Settings of an integration of the kind `notice-webhook`; its signing secret stands beside them. */
export const noticeWebhookSettings = z.object({ url: z.url({ protocol: /^https?$/ }), queues });

/** What a notice tells of one kind of item. */
export interface NoticeLine {
  readonly kind: WorkItemKind;
  readonly count: number;
  /** When the oldest of them was opened, ISO 8601. */
  readonly oldestAt: string;
}

/** One and many; a notice holds no personal data and no message text (C8). */
const WORDS: Record<WorkItemKind, readonly [one: string, many: string]> = {
  handoff: ['conversation waits for a person', 'conversations wait for a person'],
  approval: ['draft waits for approval', 'drafts wait for approval'],
  'delivery-unknown': [
    'message may or may not have arrived',
    'messages may or may not have arrived',
  ],
  'delivery-failed': ['message was not delivered', 'messages were not delivered'],
  'not-sent': ['message did not leave in time', 'messages did not leave in time'],
  'follow-up-by-hand': ['follow-up has to be made by hand', 'follow-ups have to be made by hand'],
  'job-review': ['job has to be looked at', 'jobs have to be looked at'],
  quarantine: ['event could not be read', 'events could not be read'],
  credentials: ['connection lost its credentials', 'connections lost their credentials'],
  'content-conflict': ['event came with two contents', 'events came with two contents'],
};

/** A notice in plain words: what kind, how many, since when, and where to look. */
export function noticeWords(
  lines: readonly NoticeLine[],
  consoleUrl: string,
): { readonly subject: string; readonly text: string } {
  const count = lines.reduce((sum, line) => sum + line.count, 0);
  const only = lines.length === 1 ? lines[0] : undefined;
  const subject = only === undefined ? `${count} things wait for a person` : countOf(only);
  const body = lines.map((line) => `- ${countOf(line)}, since ${inUtc(line.oldestAt)}`);
  return { subject: `Unsilent: ${subject}`, text: [...body, '', consoleUrl, ''].join('\n') };
}

function countOf({ kind, count }: NoticeLine): string {
  const [one, many] = WORDS[kind];
  return `${count} ${count === 1 ? one : many}`;
}

function inUtc(at: string): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
