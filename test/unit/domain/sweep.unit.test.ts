import {
  explainSweep,
  sweepDebt,
  sweepSend,
  type SweepReason,
  type SweptDebt,
  type SweptSend,
} from '../../../domain/sweep';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const owed = (facts: Partial<SweptDebt> = {}): SweptDebt => ({
  overdueMs: 4 * MINUTE,
  turnAgeMs: null,
  attemptAgeMs: null,
  accepted: false,
  markerAgeMs: null,
  replays: 0,
  waits: false,
  ...facts,
});

const climb = (facts: Partial<SweptDebt>) => {
  const verdict = sweepDebt(owed(facts));
  if (verdict === null) return 'not swept';
  const { rung, action, level } = verdict;
  const reason = action.kind === 'hand-over' ? ` ${action.reason}` : '';
  return `${rung} ${action.kind}${reason}, ${level}`;
};

const REPLAY = '6 replay, warn';
const LEAVE_TURN = '1 leave, silent';
const LATE = '3 hand-over reply_overdue, error';
const SENT = '4 hand-over sent_not_recorded, fatal';
const EXHAUSTED = '5 hand-over replays_exhausted, fatal';

describe('the ladder of the sweeper', () => {
  it.each<[string, Partial<SweptDebt>, string]>([
    ['owed for exactly three minutes', { overdueMs: 3 * MINUTE }, 'not swept'],
    ['owed for a millisecond more', { overdueMs: 3 * MINUTE + 1 }, REPLAY],
    ['owed since a moment in the future', { overdueMs: -5 * HOUR }, 'not swept'],
  ])('takes what is owed for more than three minutes: %s [T4] [T5]', (_name, facts, verdict) => {
    expect(climb(facts)).toBe(verdict);
  });

  it.each<[string, Partial<SweptDebt>, string]>([
    ['a turn began just now', { turnAgeMs: 0 }, LEAVE_TURN],
    ['1 ms before ten minutes', { turnAgeMs: 10 * MINUTE - 1 }, LEAVE_TURN],
    ['exactly ten minutes', { turnAgeMs: 10 * MINUTE }, REPLAY],
    ['1 ms before an hour', { turnAgeMs: 0, overdueMs: HOUR - 1 }, LEAVE_TURN],
    ['exactly an hour', { turnAgeMs: 0, overdueMs: HOUR }, REPLAY],
    ['beyond the hour', { turnAgeMs: 0, overdueMs: HOUR + 1 }, LATE],
    [
      'before every other rung',
      { turnAgeMs: 0, attemptAgeMs: 5 * HOUR, accepted: true, replays: 9 },
      LEAVE_TURN,
    ],
  ])('1 leaves a turn in flight: %s [T4]', (_name, facts, verdict) => {
    expect(climb(facts)).toBe(verdict);
  });

  it.each<[string, Partial<SweptDebt>, string]>([
    ['within its limit', { attemptAgeMs: 20 * SECOND - 1 }, '2 leave, silent'],
    ['at its limit', { attemptAgeMs: 20 * SECOND }, '2 wake, warn'],
    ['1 ms before three minutes later', { attemptAgeMs: 200 * SECOND - 1 }, '2 wake, warn'],
    ['three minutes later', { attemptAgeMs: 200 * SECOND }, '2 review, error'],
    [
      'before the hour, the marker and the replays',
      { attemptAgeMs: 200 * SECOND, overdueMs: 2 * HOUR, markerAgeMs: HOUR, replays: 3 },
      '2 review, error',
    ],
  ])('2 never replays a send in flight, %s [T4] [C6]', (_name, facts, verdict) => {
    expect(climb(facts)).toBe(verdict);
  });

  it.each<[string, Partial<SweptDebt>, string]>([
    ['exactly an hour', { overdueMs: HOUR }, REPLAY],
    ['1 ms more', { overdueMs: HOUR + 1 }, LATE],
    ['although it waits', { overdueMs: HOUR + 1, waits: true }, LATE],
    ['before the rungs below it', { overdueMs: HOUR + 1, accepted: true, replays: 3 }, LATE],
  ])('3 gives what is an hour overdue to a person: %s [T4] [T7]', (_name, facts, verdict) => {
    expect(climb(facts)).toBe(verdict);
  });

  it.each<[string, Partial<SweptDebt>, string]>([
    ['accepted and recorded', { accepted: true }, SENT],
    ['a marker of exactly a minute', { markerAgeMs: MINUTE }, REPLAY],
    ['a marker of 1 ms more', { markerAgeMs: MINUTE + 1 }, SENT],
    ['before the replays', { accepted: true, replays: 3 }, SENT],
    ['although it waits', { accepted: true, waits: true }, SENT],
  ])(
    '4 gives what was sent and not recorded to a person: %s [T4] [T7]',
    (_name, facts, verdict) => {
      expect(climb(facts)).toBe(verdict);
    },
  );

  it.each<[string, Partial<SweptDebt>, string]>([
    ['two', { replays: 2 }, REPLAY],
    ['three', { replays: 3 }, EXHAUSTED],
    ['more', { replays: 4 }, EXHAUSTED],
  ])('5 gives it to a person after three replays: %s [T4] [T7]', (_name, facts, verdict) => {
    expect(climb(facts)).toBe(verdict);
  });

  it('6 replays the rest, and never what waits for credentials or a back-off [T4] [T7]', () => {
    expect(climb({})).toBe(REPLAY);
    expect(climb({ waits: true })).toBe('6 leave, silent');
  });

  it('names every rung that applies, the acting one first [T4]', () => {
    const verdict = sweepDebt(owed({ overdueMs: 2 * HOUR, markerAgeMs: HOUR, replays: 3 }));
    expect(verdict?.reasons).toEqual(['too_old', 'sent_not_recorded', 'replays_exhausted']);
    expect(sweepDebt(owed())?.reasons).toEqual(['unanswered']);
  });

  it('tells a person every reason in a plain sentence [T4] [T6]', () => {
    const reasons: SweepReason[] = ['too_old', 'sent_not_recorded', 'replays_exhausted'];
    expect(explainSweep(reasons)).toBe(
      'The answer is more than an hour late; an automatic one would do more harm than good. ' +
        'The provider accepted an answer that was never recorded: look at the thread before you write. ' +
        'The turn was begun again three times and did not settle.',
    );
  });
});

describe('the sweep of a send without a debt', () => {
  const late = (facts: Partial<SweptSend>) => {
    const send = { pastNotBeforeMs: 4 * MINUTE, attemptAgeMs: null, told: false, ...facts };
    const { action, level } = sweepSend(send);
    return `${action.kind}, ${level}`;
  };

  it.each<[string, Partial<SweptSend>, string]>([
    ['exactly three minutes late', { pastNotBeforeMs: 3 * MINUTE }, 'leave, silent'],
    ['1 ms more', { pastNotBeforeMs: 3 * MINUTE + 1 }, 'wake, warn'],
    ['exactly ten minutes late', { pastNotBeforeMs: 10 * MINUTE }, 'wake, warn'],
    ['1 ms more than ten', { pastNotBeforeMs: 10 * MINUTE + 1 }, 'not-sent, error'],
    ['told already', { pastNotBeforeMs: 10 * MINUTE + 1, told: true }, 'leave, silent'],
    ['not due yet', { pastNotBeforeMs: -HOUR }, 'leave, silent'],
    ['in flight, within its limit', { attemptAgeMs: 20 * SECOND - 1 }, 'leave, silent'],
    ['in flight, at its limit', { attemptAgeMs: 20 * SECOND }, 'wake, warn'],
    ['in flight, three minutes past it', { attemptAgeMs: 200 * SECOND }, 'review, error'],
  ])('wakes it after three minutes and shows it after ten: %s [T4]', (_name, facts, verdict) => {
    expect(late(facts)).toBe(verdict);
  });
});
