import {
  escalationStep,
  openingEscalation,
  type EscalationQueue,
} from '../../../domain/escalation';
import { WORK_ITEM_KINDS, type WorkItemKind } from '../../../domain/work-items';

const MINUTE_MS = 60_000;
const OPENED_MS = Date.parse('2026-11-30T18:00:00.000Z');

/** Every level of an item, each carried out on time: minutes since the opening, and the queue. */
function levels(
  kind: WorkItemKind,
  count: number,
): (readonly [number, EscalationQueue | 'hand-over'])[] {
  const opening = openingEscalation(kind);
  const reached: (readonly [number, EscalationQueue | 'hand-over'])[] = [];
  let dueAtMs = OPENED_MS + opening.nextMs;
  if (opening.deadlineMs === 0) reached.push([0, opening.queue]);
  while (reached.length < count) {
    const step = escalationStep(kind, reached.length + 1, { dueAtMs, nowMs: dueAtMs });
    const minutes = (dueAtMs - OPENED_MS) / MINUTE_MS;
    reached.push([minutes, step.act === 'notify' ? step.queue : 'hand-over']);
    if (step.act === 'hand-over') break;
    dueAtMs = step.nextDueAtMs;
  }
  return reached;
}

const LEADS = [
  [0, 'front-desk'],
  [5, 'front-desk'],
  [10, 'shift-lead'],
  [40, 'owner'],
  [70, 'owner'],
  [100, 'owner'],
];
const SYSTEM = [
  [0, 'operators'],
  [5, 'operators'],
  [10, 'operators-on-call'],
  [40, 'operators-on-call'],
  [70, 'operators-on-call'],
  [100, 'operators-on-call'],
];

describe('the deadline of a work item', () => {
  it.each<readonly [WorkItemKind, readonly unknown[]]>([
    ['handoff', LEADS],
    ['delivery-unknown', LEADS],
    ['delivery-failed', LEADS],
    ['not-sent', LEADS],
    ['follow-up-by-hand', LEADS],
    ['job-review', SYSTEM],
    ['quarantine', SYSTEM],
    ['credentials', SYSTEM],
    ['content-conflict', SYSTEM],
    [
      'approval',
      [
        [10, 'front-desk'],
        [20, 'hand-over'],
      ],
    ],
  ])(
    'of the kind %s notifies at once, again after 5 min, the next queue after 10, then every 30; a draft at 10 and hands over at 20 [C7] [T3]',
    (kind, expected) => {
      expect(levels(kind, 6)).toEqual(expected);
    },
  );

  it('is known for every kind of item [C7]', () => {
    for (const kind of WORK_ITEM_KINDS) expect(levels(kind, 1)).toHaveLength(1);
  });

  it.each([
    ['the second level keeps its own time', 2, 4 * MINUTE_MS, 5],
    ['the second level, an hour late, is followed by the third at once', 2, 60 * MINUTE_MS, 5],
    ['the third level', 3, 0, 30],
    ['the third level, 29 min late', 3, 29 * MINUTE_MS, 30],
    ['the third level, 30 min late, leaves out the missed repetition', 3, 30 * MINUTE_MS, 60],
    ['a repetition, four hours and a minute late', 9, 241 * MINUTE_MS, 270],
  ])('%s [C7] [INV-9]', (_name, rung, lateMs, nextMinutes) => {
    const step = escalationStep('handoff', rung, {
      dueAtMs: OPENED_MS,
      nowMs: OPENED_MS + lateMs,
    });
    expect(step).toMatchObject({ act: 'notify', nextDueAtMs: OPENED_MS + nextMinutes * MINUTE_MS });
  });
});
