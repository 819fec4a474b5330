import type { Agenda } from '../domain/agenda';
import type { Acceptance } from '../db/record';
import type { RunOperation } from '../domain/jobs';

/** What crosses Temporal: ids only (C8). */
export interface ConversationRef {
  readonly conversationId: string;
}

export interface SendRef extends ConversationRef {
  readonly sendId: string;
}

export interface WorkItemRef extends ConversationRef {
  readonly workItemId: string;
}

export interface StepRef extends ConversationRef {
  readonly planId: string;
  readonly step: number;
}

/** An acceptance that Postgres refused to record; the workflow records it first (T8). */
export type UnrecordedAcceptance = Omit<Acceptance, 'at'>;

export type DeliverResult =
  | { readonly kind: 'recorded'; readonly agenda: Agenda }
  | { readonly kind: 'unrecorded'; readonly acceptance: UnrecordedAcceptance };

/** Local activities: they touch only Postgres, are short, and may run again at any time. */
export interface LocalActivities {
  /**
   * Looks what is owed and takes the turn if it is due: decides, drafts and queues, or settles
   * without a reply. Returns what is due then; where nothing was owed it only looks.
   */
  takeTurn(input: ConversationRef): Promise<Agenda>;
  /** Writes the outbox row of a follow-up step that is due. */
  writeFollowUp(input: StepRef): Promise<Agenda>;
  /** Ends a send whose time has passed; an owed answer goes to a person. */
  expireSend(input: SendRef): Promise<Agenda>;
  /** Raises a work item whose deadline passed before anybody acted (C7). */
  escalate(input: WorkItemRef): Promise<Agenda>;
  /** Records an acceptance that the delivering worker could not. */
  recordAccepted(
    input: ConversationRef & { readonly acceptance: UnrecordedAcceptance },
  ): Promise<Agenda>;
}

/** Activities that reach a provider, visible with their attempts in the Web UI. */
export interface ProviderActivities {
  /** Claims, passes the gate, calls the provider once, records. Never tried again by Temporal. */
  deliver(input: SendRef): Promise<DeliverResult>;
  /** Judges an attempt past its limit: proven, read back, or given to review (C6). */
  resolve(input: SendRef): Promise<DeliverResult>;
}

/** Activities of the queue `upkeep`. */
export interface RetentionActivities {
  /** Empties raw bodies past their time and returns how many. */
  emptyRawBodies(): Promise<number>;
  /** Makes the takeover log's coming partitions, drops those past their time, returns their names. */
  keepTakeoverLog(): Promise<readonly string[]>;
}

export interface JobRef {
  readonly jobId: string;
  readonly operation: RunOperation;
}

/** Where a job stands after an attempt; a failed attempt that is made again throws instead. */
export interface JobEnd {
  readonly state: 'ended' | 'waits' | 'review' | 'overtaken';
}

/** The activity of delivery jobs, on the queue `upkeep`. */
export interface JobActivities {
  /** Makes one attempt of a job; safe to run at any time and any number of times. */
  runJob(input: JobRef): Promise<JobEnd>;
}
