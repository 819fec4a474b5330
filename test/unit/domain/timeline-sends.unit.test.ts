import type {
  DecisionFact,
  MessageFact,
  OutcomeFact,
  TraceFact,
} from '../../../domain/timeline-facts';
import { durationWords } from '../../../domain/timeline-words';
import { at, decision, lines, message, outcome, send, tell, trace } from './timeline-facts';

describe('what was decided [C2]', () => {
  it.each<[Partial<DecisionFact>, string, string]>([
    [{}, 'answer', 'quiet: Decided to send the answer at once.'],
    [{}, 'opt-out-confirmation', 'quiet: Decided to confirm the opt-out, once and at once.'],
    [
      { reason: 'business-rule-delay', rule: 'follow-up-day-3' },
      'follow-up',
      'quiet: The follow-up of day 3 is due; it may leave at once.',
    ],
    [
      { reason: 'business-rule-delay', rule: 'business-hours', notBefore: at(7_200) },
      'answer',
      "quiet: Decided on the answer; it may leave in 2 h. Waits until Mon 14:00 (business's time, America/Chicago): the business answers only in its business hours.",
    ],
    [
      { reason: 'rate-limit-backoff', notBefore: at(5.2) },
      'answer',
      'warning: The provider did not take the answer; the next try is in 5.2 s.',
    ],
    [
      { reason: 'manual-review' },
      'staff',
      'quiet: The message of a person waits until a person has looked at it.',
    ],
  ])('%j for %s', (change, purpose, line) => {
    const facts = { decisions: [{ ...decision, ...change }], sends: [{ ...send, purpose }] };
    expect(lines(facts)).toEqual([line]);
  });

  it('what waits to leave is quoted; what left stands in the thread', () => {
    const waits = tell({ decisions: [decision], sends: [{ ...send, state: 'queued' }] });
    const left = tell({ decisions: [decision], sends: [send] });
    expect([waits[0]?.quote, left[0]?.quote]).toEqual([send.body, null]);
  });
});

describe('what waits for its policy clock [C2]', () => {
  const waiting = {
    ...decision,
    reason: 'business-rule-delay',
    rule: 'follow-up-day-1',
    notBefore: at(7_200),
    inputs: {
      movedBy: 'quiet-hours',
      recipientZones: 'America/Chicago',
      quietFrom: '21:00',
      quietTo: '14:00',
    },
  };
  const coming = (decisions: DecisionFact[], state: string) =>
    tell({ decisions, sends: [{ ...send, purpose: 'follow-up', state }] }).filter(
      (entry) => entry.upcoming,
    );

  it('stands among what comes, at its time and with its reason', () => {
    expect(coming([waiting], 'queued')).toEqual([
      expect.objectContaining({
        at: at(7_200),
        quote: send.body,
        text: "Follow-up. Waits until Mon 14:00 (recipient's time, America/Chicago): quiet hours from 21:00 to 14:00.",
      }),
    ]);
  });

  it('is told by the decision that superseded, and by none once it has left', () => {
    const later = { ...waiting, id: 'dec_2', supersedesId: 'dec_1', notBefore: at(10_800) };
    const [entry] = coming([waiting, later], 'queued');
    expect(entry?.text).toContain('Decided anew under the rules policy-1. Waits until Mon 15:00');
    expect(coming([waiting], 'accepted')).toEqual([]);
  });
});

describe('what became of an attempt [C6]', () => {
  it.each<[Partial<OutcomeFact>, string]>([
    [{}, 'quiet: The provider accepted it.'],
    [
      { evidence: 'read-back' },
      "quiet: It was found in the provider's thread, so it had been sent.",
    ],
    [
      { outcome: 'not-accepted', code: '30007' },
      'warning: The provider refused it (30007); nothing was sent.',
    ],
    [
      { outcome: 'not-accepted', code: 'call_not_started' },
      'warning: Too much time passed between the last check and the call, so nothing was sent.',
    ],
    [
      { outcome: 'unknown', code: 'read_timeout' },
      "warning: The provider's answer was lost (read_timeout); whether the message arrived is not known yet.",
    ],
    [
      { outcome: 'unknown', code: 'absent_on_read_back', evidence: 'read-back' },
      'bad: Nothing proves whether the message arrived (absent_on_read_back). It is not sent again by itself.',
    ],
  ])('%j', (change, line) => {
    expect(lines({ outcomes: [{ ...outcome, ...change }], sends: [send] })).toEqual([line]);
  });

  it('the wording of a message that may not have arrived is quoted once', () => {
    const sends = [{ ...send, state: 'delivery_unknown' }];
    const lost: OutcomeFact = { ...outcome, outcome: 'unknown' };
    const judged: OutcomeFact = { ...lost, ordinal: 2, evidence: 'read-back', recordedAt: at(25) };
    const entries = tell({ outcomes: [lost, judged], sends });
    expect(entries.map((entry) => entry.quote)).toEqual([null, send.body]);
  });
});

describe('why a message was not sent [S5]', () => {
  it.each<[string, string, string]>([
    [
      'answer',
      'newer_inbound',
      'The answer was not sent: the lead wrote again first, so one answer will cover everything.',
    ],
    ['follow-up', 'lead_replied', 'The follow-up was not sent: the lead replied.'],
    ['answer', 'person_owns', 'The answer was not sent: a person has the conversation.'],
    ['answer', 'expired', 'The answer was not sent: its time had passed.'],
    [
      'follow-up',
      'window_closed',
      "The follow-up was not sent: the channel's reply window has closed.",
    ],
    ['answer', 'opted_out', 'The answer was not sent: the lead opted out.'],
    [
      'answer',
      'send_budget',
      'The answer was not sent: the limit of automatic messages to this person is reached.',
    ],
    [
      'answer',
      'conversation_stopped',
      "The answer was not sent: the conversation's state does not allow it any more.",
    ],
    [
      'booking-confirmation',
      'handed_over',
      'The booking confirmation was not sent: the conversation went to a person.',
    ],
    ['answer', 'toString', 'The answer was not sent: the reason is “toString”.'],
  ])('%s, %s', (purpose, endReason, text) => {
    const ended = { ...send, purpose, state: 'cancelled', endReason, endedAt: at(3) };
    expect(tell({ sends: [ended] })).toEqual([
      expect.objectContaining({ id: 'snd_1:end', kind: 'not-sent', text, quote: send.body }),
    ]);
  });

  it('a refusal names the code; what was accepted first and failed later is told by its bubble', () => {
    const failed = { ...send, state: 'failed', endReason: '21610', endedAt: at(3) };
    const own: MessageFact = {
      ...message,
      direction: 'out',
      author: 'automation',
      sendId: 'snd_1',
    };
    expect(lines({ sends: [failed] })).toEqual([
      'bad: The answer was not sent: the provider refused it (21610).',
    ]);
    expect(lines({ sends: [failed], messages: [own] })).toEqual([]);
  });

  it.each([
    [null, ''],
    ['before', ' The provider accepted it before that.'],
    ['after', ' The provider accepted it after that.'],
  ])(
    'what was in flight when it should stop says on which side it was accepted: %s [S3]',
    (stopVerdict, rest) => {
      const inFlight = { ...send, stopRequestedAt: at(1), stopCause: 'lead_replied', stopVerdict };
      expect(lines({ sends: [inFlight] })).toEqual([
        `warning: The answer was already on its way when it should stop: the lead replied.${rest}`,
      ]);
    },
  );
});

describe('how long an answer took [L1]', () => {
  it.each<[string, TraceFact[], string[]]>([
    [
      'with its parts',
      [trace],
      ['good: Answered 1.3 s after the message arrived (12 ms to decide, 340 ms at the provider).'],
    ],
    [
      'without parts',
      [{ ...trace, decisionMs: null, sendMs: null }],
      ['good: Answered 1.3 s after the message arrived.'],
    ],
    [
      'once for a burst, from its oldest message',
      [trace, { ...trace, ingressAcceptedAt: at(-1) }],
      ['good: Answered 2.3 s after the message arrived (12 ms to decide, 340 ms at the provider).'],
    ],
    [
      'when the lead could see it',
      [{ ...trace, decisionMs: null, sendMs: null, visibleAt: at(4) }],
      ['good: Answered 1.3 s after the message arrived.', 'quiet: The lead can see it.'],
    ],
    [
      'not below zero [INV-23]',
      [{ ...trace, ingressAcceptedAt: at(2) }],
      ['warning: Answered; two clocks disagree, so the time it took cannot be told.'],
    ],
    ['nothing while it is not acknowledged', [{ ...trace, providerAcknowledgedAt: null }], []],
  ])('%s', (_name, traces, expected) => {
    expect(lines({ traces })).toEqual(expected);
  });

  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [9_940, '9.9 s'],
    [59_999, '59 s'],
    [3_599_999, '59 min'],
    [47 * 3_600_000, '47 h'],
    [72 * 3_600_000, '3 days'],
  ])('%d ms reads %s', (milliseconds, words) => {
    expect(durationWords(milliseconds)).toBe(words);
  });
});
