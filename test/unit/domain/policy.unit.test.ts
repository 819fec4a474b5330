import { allowedHours } from '../../../domain/allowed-hours';
import {
  answerAtOnce,
  backOff,
  confirmAtOnce,
  decideAnswer,
  decideFollowUp,
  planAgainLater,
} from '../../../domain/policy';
import { DEFAULT_RULES, type PolicyRules } from '../../../domain/policy-rules';
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

  const CHICAGO = 'America/Chicago';
  const hours = (rules: PolicyRules, zones = [CHICAGO]) =>
    allowedHours(rules, CHICAGO, { source: 'area-code', zones });
  const due = (dueAtMs: number, previousMs: number | null = null) => ({
    day: 3,
    dueAtMs,
    previousMs,
    timeZone: CHICAGO,
  });

  it('holds a follow-up until its due time, whenever it was written, and for half a day [C2] [S6]', () => {
    expect(decideFollowUp(DEFAULT_RULES, hours(DEFAULT_RULES), due(NOW))).toEqual({
      notBeforeMs: NOW,
      expiresAtMs: NOW + 12 * HOUR_MS,
      reason: 'business-rule-delay',
      rule: 'follow-up-day-3',
      cancelOnInbound: true,
      inputs: {
        dueAtMs: NOW,
        day: 3,
        timeZone: CHICAGO,
        movedBy: null,
        leastBad: false,
        zoneSource: 'area-code',
        recipientZones: CHICAGO,
        quietFrom: '21:00',
        quietTo: '08:00',
      },
    });
  });

  it.each([
    ['02:00 there', '2026-12-01T08:00:00Z', [CHICAGO], '2026-12-01T14:00:00.000Z', 'quiet-hours'],
    ['exactly 21:00', '2026-12-01T03:00:00Z', [CHICAGO], '2026-12-01T14:00:00.000Z', 'quiet-hours'],
    ['1 ms before 21:00', '2026-12-01T02:59:59.999Z', [CHICAGO], '2026-12-01T02:59:59.999Z', null],
    ['exactly 08:00', '2026-12-01T14:00:00Z', [CHICAGO], '2026-12-01T14:00:00.000Z', null],
    [
      '08:00 in New York and 05:00 in Los Angeles',
      '2026-12-01T13:00:00Z',
      ['America/New_York', 'America/Los_Angeles'],
      '2026-12-01T16:00:00.000Z',
      'quiet-hours',
    ],
    [
      'the night in which the clocks go forward',
      '2026-03-08T08:30:00Z',
      [CHICAGO],
      '2026-03-08T13:00:00.000Z',
      'quiet-hours',
    ],
    [
      'the night in which the clocks go back',
      '2026-11-01T06:30:00Z',
      [CHICAGO],
      '2026-11-01T14:00:00.000Z',
      'quiet-hours',
    ],
  ])('moves a follow-up that is due at %s to the day [INV-14] [S6]', (...row) => {
    const [, at, zones, expected, movedBy] = row;
    const decision = decideFollowUp(
      DEFAULT_RULES,
      hours(DEFAULT_RULES, [...zones]),
      due(Date.parse(at)),
    );
    expect(new Date(decision.notBeforeMs).toISOString()).toBe(expected);
    expect(decision.inputs['movedBy']).toBe(movedBy);
  });

  it('keeps a day between two follow-ups, also where a closure brought them together [INV-17b]', () => {
    const decision = decideFollowUp(DEFAULT_RULES, hours(DEFAULT_RULES), due(NOW, NOW - HOUR_MS));
    expect(decision.notBeforeMs).toBe(NOW + 20 * HOUR_MS);
  });

  it('takes the least bad time where it is never day in all zones at once [S6]', () => {
    const rules: PolicyRules = { ...DEFAULT_RULES, quietHours: { from: '13:00', to: '12:00' } };
    const zones = [CHICAGO, 'America/New_York', 'America/Detroit'];
    const decision = decideFollowUp(rules, hours(rules, zones), due(NOW));
    expect(decision.inputs['leastBad']).toBe(true);
    // 12:00 to 13:00 in two of the three zones.
    expect(new Date(decision.notBeforeMs).toISOString()).toBe('2026-12-01T17:00:00.000Z');
  });

  it('plans what waited into the night anew, for the morning [INV-14] [C2]', () => {
    const nowMs = Date.parse('2026-12-01T03:00:00Z');
    const again = planAgainLater(DEFAULT_RULES, hours(DEFAULT_RULES), {
      nowMs,
      rule: 'follow-up-day-1',
      timeZone: CHICAGO,
    });
    expect(again).toMatchObject({
      notBeforeMs: Date.parse('2026-12-01T14:00:00Z'),
      expiresAtMs: Date.parse('2026-12-02T02:00:00Z'),
      rule: 'follow-up-day-1',
    });
  });

  const WORKDAY = [{ from: '08:00', to: '18:00' }];
  const businessHours: PolicyRules['businessHours'] = {
    monday: WORKDAY,
    tuesday: WORKDAY,
    wednesday: WORKDAY,
    thursday: WORKDAY,
    friday: WORKDAY,
    saturday: [],
    sunday: [],
  };
  const night = Date.parse('2026-12-01T08:00:00Z');
  it.each<[string, Partial<PolicyRules>, number, string, string | null]>([
    ['at 02:00 with quiet hours', {}, 0, 'immediate-first-response', null],
    ['at 02:00, closed', { businessHours }, 0, 'immediate-first-response', null],
    [
      'at 02:00, closed, by its own wish',
      { businessHours, answerOutsideHours: false },
      6 * HOUR_MS,
      'business-rule-delay',
      'business-hours',
    ],
    [
      'by a named delay',
      { answerDelay: { rule: 'look-busy', minutes: 5 } },
      4 * 60_000,
      'business-rule-delay',
      'look-busy',
    ],
    [
      'behind a window for people',
      { escalationWindowMinutes: 10 },
      9 * 60_000,
      'escalation-window',
      null,
    ],
    [
      'behind the longer of both',
      { escalationWindowMinutes: 10, answerDelay: { rule: 'look-busy', minutes: 15 } },
      14 * 60_000,
      'business-rule-delay',
      'look-busy',
    ],
    [
      'behind a wait that is over',
      { escalationWindowMinutes: 1 },
      0,
      'immediate-first-response',
      null,
    ],
  ])('lets an answer leave %s [C2] [T5]', (...row) => {
    const [, change, waitMs, reason, rule] = row;
    const decision = decideAnswer(
      { ...DEFAULT_RULES, ...change },
      {
        nowMs: night,
        overdueFromMs: night - 60_000,
        oldestOwedMs: night - 60_000,
        timeZone: CHICAGO,
      },
    );
    expect(decision).toMatchObject({ notBeforeMs: night + waitMs, reason, rule });
    const overdueFromMs = waitMs === 0 ? night - 60_000 : night + waitMs;
    expect(decision.expiresAtMs).toBe(overdueFromMs + HOUR_MS);
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
