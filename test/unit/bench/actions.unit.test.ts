import { countHistory, type HistoryEvent } from '../../../bench/actions';

const started: HistoryEvent = { workflowExecutionStartedEventAttributes: {} };
const signalled: HistoryEvent = { workflowExecutionSignaledEventAttributes: {} };
const taskScheduled: HistoryEvent = { workflowTaskScheduledEventAttributes: {} };
const taskStarted: HistoryEvent = { workflowTaskStartedEventAttributes: {} };
const timer: HistoryEvent = { timerStartedEventAttributes: {} };
const activity: HistoryEvent = { activityTaskScheduledEventAttributes: {} };
const upsert: HistoryEvent = { upsertWorkflowSearchAttributesEventAttributes: {} };
const rolled: HistoryEvent = { workflowExecutionContinuedAsNewEventAttributes: {} };

function marker(taskId: number, markerName = 'core_local_activity'): HistoryEvent {
  return { markerRecordedEventAttributes: { markerName, workflowTaskCompletedEventId: taskId } };
}

function attempt(number: number): HistoryEvent {
  return { activityTaskStartedEventAttributes: { attempt: number } };
}

describe('the billable actions of a conversation', () => {
  const cases: [string, HistoryEvent[][], number][] = [
    ['signalWithStart is one action, start included', [[started, signalled, taskScheduled]], 1],
    ['and so where the server writes the signal later', [[started, taskScheduled, signalled]], 1],
    ['a start alone is one', [[started, taskScheduled, taskStarted]], 1],
    ['a start and a later signal are two', [[started, taskScheduled, taskStarted, signalled]], 2],
    ['a second signal is one more', [[started, signalled, taskStarted, signalled]], 2],
    ['each timer is one', [[started, signalled, timer, timer]], 3],
    ['each activity is one', [[started, signalled, activity, attempt(1)]], 2],
    ['and so is each further attempt', [[started, signalled, activity, attempt(3)]], 4],
    ['local activities of one task are one', [[started, signalled, marker(5), marker(5)]], 2],
    ['and of two tasks two', [[started, signalled, marker(5), marker(9)]], 3],
    ['other markers are none', [[started, signalled, marker(5, 'core_patch')]], 1],
    ['an upsert is one', [[started, signalled, upsert]], 2],
    ['a roll is one and its new run none', [[started, signalled, rolled], [started]], 2],
    [
      'a new run by a signal is one',
      [
        [started, signalled],
        [started, signalled],
      ],
      2,
    ],
  ];

  it.each(cases)('%s', (_, runs, actions) => {
    expect(countHistory(runs).actions).toBe(actions);
  });
});
