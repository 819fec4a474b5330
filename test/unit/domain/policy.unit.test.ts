import { answerAtOnce, backOff, confirmAtOnce, followUpAt } from '../../../domain/policy';
import { deepFreeze } from '../../support/deep-freeze';

const NOW = Date.parse('2026-11-30T18:00:00.000Z');
const HOUR_MS = 3_600_000;

describe('a policy decision', () => {
  it('lets an answer leave at once, and at most an hour after its debt fell due [C2]', () => {
    expect(answerAtOnce(NOW, NOW - 600_000)).toEqual({
      notBeforeMs: NOW,
      expiresAtMs: NOW - 600_000 + HOUR_MS,
      reason: 'immediate-first-response',
      rule: null,
      cancelOnInbound: true,
      inputs: { overdueFromMs: NOW - 600_000, answerExpiresAfterMs: HOUR_MS },
    });
  });

  it('lets nothing the lead writes take back the confirmation of an opt-out [C2] [S1]', () => {
    expect(confirmAtOnce(NOW, NOW)).toMatchObject({
      notBeforeMs: NOW,
      expiresAtMs: NOW + HOUR_MS,
      rule: 'opt-out-confirmation',
      cancelOnInbound: false,
    });
  });

  it('holds a follow-up until its due time, whenever it was written, and for half a day [C2] [S6]', () => {
    expect(followUpAt(NOW, 3)).toEqual({
      notBeforeMs: NOW,
      expiresAtMs: NOW + 12 * HOUR_MS,
      reason: 'business-rule-delay',
      rule: 'follow-up-day-3',
      cancelOnInbound: true,
      inputs: { dueAtMs: NOW, day: 3 },
    });
  });

  it.each([
    [NOW + HOUR_MS, true],
    [null, false],
  ])(
    'of a back-off moves notBefore alone: expiry %s and cancelOnInbound %s stay [C2] [C5]',
    (expiresAtMs, cancelOnInbound) => {
      const previous = deepFreeze({ expiresAtMs, cancelOnInbound });
      const failure = deepFreeze({ code: '429', attempt: 2 });
      expect(backOff(NOW, 5_000, previous, failure)).toEqual({
        notBeforeMs: NOW + 5_000,
        expiresAtMs,
        reason: 'rate-limit-backoff',
        rule: null,
        cancelOnInbound,
        inputs: { delayMs: 5_000, code: '429', attempt: 2 },
      });
    },
  );
});
