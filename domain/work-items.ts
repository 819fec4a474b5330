/** Everything that waits for a person (C7). Only a handoff pauses automation. */
export const WORK_ITEM_KINDS = [
  'handoff',
  /** A draft that a person has to approve (T3). */
  'approval',
  'delivery-unknown',
  'delivery-failed',
  /** A send that nobody's debt watches and that did not leave in time (T4). */
  'not-sent',
  'follow-up-by-hand',
  /** A job whose retries are exhausted (IN4). */
  'job-review',
  'quarantine',
  'credentials',
  'content-conflict',
] as const;
export type WorkItemKind = (typeof WORK_ITEM_KINDS)[number];
