import fc from 'fast-check';
import {
  approveDraft,
  awaitApproval,
  mayPostpone,
  postpone,
  sendNow,
  sendStaffReply,
  type StandingDecision,
} from '../../../domain/staff-decisions';

const standing: StandingDecision = {
  notBeforeMs: 1_000,
  expiresAtMs: 5_000,
  cancelOnInbound: true,
};

describe('what a person decides about a send [C2]', () => {
  it('a draft waits under manual review and remembers from when its age counts [T5]', () => {
    const draft = awaitApproval(2_000, { overdueFromMs: 500, expiresAtMs: 9_000 });
    expect(draft).toMatchObject({
      notBeforeMs: 2_000,
      expiresAtMs: 9_000,
      reason: 'manual-review',
      rule: 'awaits-approval',
      cancelOnInbound: true,
      inputs: { overdueFromMs: 500 },
    });
  });

  it('a reply leaves at once, never expires, and nothing the lead writes cancels it', () => {
    expect(sendStaffReply(2_000, 'agent')).toEqual({
      notBeforeMs: 2_000,
      expiresAtMs: null,
      reason: 'immediate-first-response',
      rule: 'staff-reply',
      cancelOnInbound: false,
      inputs: { role: 'agent' },
    });
  });

  it.each([
    ['approved', approveDraft(2_000, standing, { role: 'owner', edited: true })],
    ['sent now', sendNow(2_000, standing, { role: 'owner', noteId: 'nte_1' })],
  ])('what is %s leaves now, keeps its end, and names the role', (_name, decision) => {
    expect(decision).toMatchObject({ notBeforeMs: 2_000, expiresAtMs: 5_000 });
    expect(decision.inputs).toMatchObject({ role: 'owner' });
    expect(decision.cancelOnInbound).toBe(true);
  });

  it.each([
    ['an answer keeps its end', true, 5_000],
    ['anything else keeps the length of its span', false, 7_000],
  ])('postponed, %s', (_name, keepsEnd, expiresAtMs) => {
    const why = { role: 'agent', noteId: null, keepsEnd } as const;
    expect(postpone(3_000, standing, why)).toMatchObject({ notBeforeMs: 3_000, expiresAtMs });
  });

  it.each([
    [4_999, true],
    [5_000, false],
    [5_001, false],
  ])('until %i with the end at 5000: %s', (untilMs, expected) => {
    expect(mayPostpone(untilMs, standing)).toBe(expected);
    expect(mayPostpone(untilMs, { ...standing, expiresAtMs: null })).toBe(true);
  });

  it('an answer that may be postponed always has time left to leave [C4]', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer(), (untilMs, expiresAtMs) => {
        const send = { ...standing, expiresAtMs };
        if (!mayPostpone(untilMs, send)) return;
        const why = { role: 'agent', noteId: null, keepsEnd: true } as const;
        const decision = postpone(untilMs, send, why);
        expect(decision.notBeforeMs).toBeLessThan(Number(decision.expiresAtMs));
      }),
    );
  });
});
