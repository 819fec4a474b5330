import { allowedHours } from '../../../domain/allowed-hours';
import { explainDecision, type ExplainedDecision } from '../../../domain/explanation';
import {
  answerAtOnce,
  backOff,
  confirmAtOnce,
  decideAnswer,
  decideFollowUp,
  fallbackAtOnce,
  planAgainLater,
  type PolicyDecision,
} from '../../../domain/policy';
import { DEFAULT_RULES, type PolicyRules } from '../../../domain/policy-rules';
import { awaitApproval } from '../../../domain/staff-decisions';

const CHICAGO = 'America/Chicago';
const NIGHT = Date.parse('2026-12-01T08:00:00Z');
const iso = (ms: number) => new Date(ms).toISOString();

function stored(decision: PolicyDecision, change: Partial<ExplainedDecision> = {}) {
  return {
    ...decision,
    supersedesId: null,
    notBefore: iso(decision.notBeforeMs),
    expiresAt: decision.expiresAtMs === null ? null : iso(decision.expiresAtMs),
    evaluatedAt: iso(NIGHT),
    policyVersion: 'policy-2',
    ...change,
  };
}

const hours = (zones: string[], rules = DEFAULT_RULES) =>
  allowedHours(rules, CHICAGO, { source: 'area-code', zones });
const followUp = (zones: string[], rules = DEFAULT_RULES) =>
  decideFollowUp(rules, hours(zones, rules), {
    day: 1,
    dueAtMs: NIGHT,
    previousMs: null,
    timeZone: CHICAGO,
  });
const answer = (change: Partial<PolicyRules>) =>
  decideAnswer(
    { ...DEFAULT_RULES, ...change },
    { nowMs: NIGHT, overdueFromMs: NIGHT, oldestOwedMs: NIGHT, timeZone: CHICAGO },
  );
const workday = [{ from: '08:30', to: '18:00' }];
const businessHours = {
  monday: workday,
  tuesday: workday,
  wednesday: workday,
  thursday: workday,
  friday: workday,
  saturday: [],
  sunday: [],
};
const again = { supersedesId: 'dec_0' };

describe('the explanation of a deadline', () => {
  it.each<[ExplainedDecision, string]>([
    [
      stored(followUp([CHICAGO])),
      "Waits until Tue 08:00 (recipient's time, America/Chicago): quiet hours from 21:00 to 08:00.",
    ],
    [
      stored(followUp(['America/Los_Angeles', CHICAGO])),
      "Waits until Tue 10:00 (business's time, America/Chicago): quiet hours from 21:00 to 08:00 in every zone in which the recipient may be.",
    ],
    [
      stored(followUp(['Europe/London'], { ...DEFAULT_RULES, businessHours })),
      "Waits until Tue 08:30 (business's time, America/Chicago): the business is closed before.",
    ],
    [
      stored(answer({})),
      'May leave at once: an answer to a message that the lead just sent leaves at any hour.',
    ],
    [
      stored(answer({ businessHours, answerOutsideHours: false })),
      "Waits until Tue 08:30 (business's time, America/Chicago): the business answers only in its business hours.",
    ],
    [
      stored(answer({ answerDelay: { rule: 'look-busy', minutes: 5 } })),
      "Waits until Tue 02:05 (business's time, America/Chicago): the rule “look-busy” asks for 5 minutes.",
    ],
    [
      stored(answer({ escalationWindowMinutes: 1 })),
      "Waits until Tue 02:01 (business's time, America/Chicago): a person may answer first, for 1 minute.",
    ],
    [
      stored(awaitApproval(NIGHT, { overdueFromMs: NIGHT, expiresAtMs: NIGHT })),
      'Waits for a person: the draft leaves once somebody approves it.',
    ],
    [
      stored(
        backOff(NIGHT, 60_000, answerAtOnce(NIGHT, NIGHT), { code: '429', attempt: 2 }),
        again,
      ),
      "Waits until Tue 02:01 (business's time, America/Chicago): the provider did not take attempt 2 (429).",
    ],
    [
      stored(confirmAtOnce(NIGHT, NIGHT)),
      'May leave at once: an opt-out is confirmed once, whatever the hour.',
    ],
    [
      stored(fallbackAtOnce(NIGHT, NIGHT, true)),
      'May leave at once: the answer failed, and another channel carries it once.',
    ],
    [
      stored(
        planAgainLater(DEFAULT_RULES, hours([CHICAGO]), {
          nowMs: NIGHT,
          rule: 'follow-up-day-1',
          timeZone: CHICAGO,
        }),
        again,
      ),
      "Decided anew, because it waited past its hours. Waits until Tue 08:00 (recipient's time, America/Chicago): quiet hours from 21:00 to 08:00.",
    ],
    [
      stored(followUp([CHICAGO]), again),
      "Decided anew under the rules policy-2. Waits until Tue 08:00 (recipient's time, America/Chicago): quiet hours from 21:00 to 08:00.",
    ],
  ])('says in one plain sentence why [C2] %#', (decision, sentence) => {
    expect(explainDecision(decision, CHICAGO)).toBe(sentence);
  });
});
