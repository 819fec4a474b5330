import {
  initialResponseState,
  judgeJob,
  type CallResult,
  type ResponseFacts,
} from '../../../domain/jobs';

const result = (
  outcome: CallResult['outcome'],
  code: string | null = null,
  retryAfterMs: number | null = null,
): CallResult => ({ outcome, code, retryAfterMs });

const accepted = result('accepted');
const lost = result('unknown', 'timeout');
const away = result('not-accepted', 'ECONNREFUSED');
const refused = result('refused', 'http-410');
const paused = result('paused', 'http-401');

describe('what becomes of a job', () => {
  it.each([
    [1, 1_000, 1_249],
    [2, 5_000, 5_999],
    [3, 30_000, 30_999],
    [4, 120_000, 120_999],
  ])(
    'after failure %i it is tried again after %i ms plus jitter of at most a second [IN4]',
    (failures, least, most) => {
      expect(judgeJob([away], failures, 0)).toEqual({
        kind: 'retry',
        code: 'ECONNREFUSED',
        delayMs: least,
      });
      expect(judgeJob([lost], failures, 0.999_999)).toEqual({
        kind: 'retry',
        code: 'timeout',
        delayMs: most,
      });
    },
  );

  it('the fifth failure goes to review and keeps its code [IN4]', () => {
    expect(judgeJob([lost], 5, 0)).toEqual({ kind: 'review', code: 'timeout' });
  });

  it.each([
    ['longer than the schedule rules', 7_000, 7_000],
    ['shorter than the schedule does not', 10, 1_000],
  ])('a Retry-After %s [IN4]', (_name, retryAfterMs, delayMs) => {
    const limited = result('not-accepted', 'http-429', retryAfterMs);
    expect(judgeJob([limited], 1, 0)).toEqual({ kind: 'retry', code: 'http-429', delayMs });
  });

  it('a Retry-After of more than a day is looked at by a person [IN4]', () => {
    const limited = result('not-accepted', 'http-429', 86_400_001);
    expect(judgeJob([limited], 1, 0)).toEqual({ kind: 'review', code: 'http-429' });
  });

  it.each([
    ['nothing to write to', [], { kind: 'succeeded' }],
    ['all accepted', [accepted, accepted], { kind: 'succeeded' }],
    ['one refused', [accepted, refused], { kind: 'review', code: 'http-410' }],
    ['one paused', [accepted, paused], { kind: 'waits', code: 'http-401' }],
    ['one paused, one refused', [paused, refused], { kind: 'waits', code: 'http-401' }],
    ['one failed, one paused', [paused, away], { kind: 'retry', code: 'ECONNREFUSED' }],
    ['one failed, one refused', [refused, lost], { kind: 'retry', code: 'timeout' }],
  ] as const)('%s decides the job as a whole [IN4]', (_name, results, verdict) => {
    expect(judgeJob(results, 1, 0)).toMatchObject(verdict);
  });
});

describe('the state of the initial response', () => {
  const facts = (changes: Partial<ResponseFacts>): ResponseFacts => ({
    settlement: null,
    itemOpen: false,
    inFlight: false,
    ...changes,
  });
  it.each([
    ['owed', {}, 'queued'],
    ['on its way', { inFlight: true }, 'running'],
    ['replied', { settlement: 'reply' }, 'succeeded'],
    ['answered by a person', { settlement: 'person' }, 'succeeded'],
    ['deliberately not answered', { settlement: 'no-answer' }, 'succeeded'],
    ['waiting with a person', { settlement: 'work-item', itemOpen: true }, 'review'],
    ['settled by a person', { settlement: 'work-item' }, 'succeeded'],
  ] as const)('%s is derived, never polled [IN2]', (_name, changes, state) => {
    expect(initialResponseState(facts(changes))).toBe(state);
  });
});
