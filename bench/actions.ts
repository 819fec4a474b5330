type Attributes = object | null | undefined;

/** The parts of a history event that the counting looks at; the client's events have them all. */
export interface HistoryEvent {
  readonly workflowExecutionStartedEventAttributes?: Attributes;
  readonly workflowExecutionSignaledEventAttributes?: Attributes;
  readonly workflowExecutionContinuedAsNewEventAttributes?: Attributes;
  readonly workflowTaskScheduledEventAttributes?: Attributes;
  readonly workflowTaskStartedEventAttributes?: Attributes;
  readonly workflowTaskCompletedEventAttributes?: Attributes;
  readonly workflowTaskFailedEventAttributes?: Attributes;
  readonly workflowTaskTimedOutEventAttributes?: Attributes;
  readonly timerStartedEventAttributes?: Attributes;
  readonly activityTaskScheduledEventAttributes?: Attributes;
  readonly activityTaskStartedEventAttributes?: { readonly attempt?: number | null } | null;
  readonly markerRecordedEventAttributes?: {
    readonly markerName?: string | null;
    /** A Long in the client's events; only compared. */
    readonly workflowTaskCompletedEventId?: { toString(): string } | null;
  } | null;
  readonly upsertWorkflowSearchAttributesEventAttributes?: Attributes;
  readonly workflowPropertiesModifiedEventAttributes?: Attributes;
}

export interface HistoryCount {
  readonly runs: number;
  readonly events: number;
  readonly workflowTasks: number;
  readonly failedWorkflowTasks: number;
  readonly signals: number;
  readonly timers: number;
  readonly activities: number;
  readonly localActivities: number;
  readonly searchAttributeUpserts: number;
  readonly actions: number;
}

const LOCAL_ACTIVITY_MARKER = 'core_local_activity';

/**
 * Counts the histories of one conversation, all runs together, and what Temporal Cloud would bill
 * for them: signalWithStart once whether or not it starts, each timer, each attempt of an
 * activity, all local activities of one workflow task together, each upsert, each roll.
 */
export function countHistory(runs: readonly (readonly HistoryEvent[])[]): HistoryCount {
  const events = runs.flat();
  const count = (has: (event: HistoryEvent) => unknown): number =>
    events.filter((event) => Boolean(has(event))).length;
  const signals = count((event) => event.workflowExecutionSignaledEventAttributes);
  const timers = count((event) => event.timerStartedEventAttributes);
  const activities = count((event) => event.activityTaskScheduledEventAttributes);
  const upserts =
    count((event) => event.upsertWorkflowSearchAttributesEventAttributes) +
    count((event) => event.workflowPropertiesModifiedEventAttributes);
  const rolls = count((event) => event.workflowExecutionContinuedAsNewEventAttributes);
  const actions =
    signals +
    startsWithoutSignal(runs) +
    timers +
    activities +
    repeatedAttempts(events) +
    runs.reduce((sum, run) => sum + tasksWithLocalActivities(run), 0) +
    upserts +
    rolls;
  return {
    runs: runs.length,
    events: events.length,
    workflowTasks: count((event) => event.workflowTaskScheduledEventAttributes),
    failedWorkflowTasks:
      count((event) => event.workflowTaskFailedEventAttributes) +
      count((event) => event.workflowTaskTimedOutEventAttributes),
    signals,
    timers,
    activities,
    localActivities: count(isLocalActivity),
    searchAttributeUpserts: upserts,
    actions,
  };
}

function isLocalActivity(event: HistoryEvent): boolean {
  return event.markerRecordedEventAttributes?.markerName === LOCAL_ACTIVITY_MARKER;
}

/** A start that no signal came with is an action of its own, unless a roll made it. */
function startsWithoutSignal(runs: readonly (readonly HistoryEvent[])[]): number {
  let before: readonly HistoryEvent[] = [];
  let starts = 0;
  for (const run of runs) {
    const rolled = Boolean(before.at(-1)?.workflowExecutionContinuedAsNewEventAttributes);
    if (!rolled && !startedBySignal(run)) starts += 1;
    before = run;
  }
  return starts;
}

/** signalWithStart: the signal stands before the first task that a worker took. */
function startedBySignal(run: readonly HistoryEvent[]): boolean {
  const taken = run.findIndex((event) => event.workflowTaskStartedEventAttributes);
  return run
    .slice(0, taken === -1 ? undefined : taken)
    .some((event) => event.workflowExecutionSignaledEventAttributes);
}

function repeatedAttempts(events: readonly HistoryEvent[]): number {
  return events.reduce((sum, event) => {
    const attempt = event.activityTaskStartedEventAttributes?.attempt ?? 1;
    return sum + Math.max(attempt - 1, 0);
  }, 0);
}

function tasksWithLocalActivities(run: readonly HistoryEvent[]): number {
  const tasks = run
    .filter(isLocalActivity)
    .map((event) => String(event.markerRecordedEventAttributes?.workflowTaskCompletedEventId));
  return new Set(tasks).size;
}
