import fc from 'fast-check';
import {
  draftStands,
  judgeGate,
  type GateFacts,
  type GateVerdict,
  type SendCounts,
} from '../../../domain/gate';
import { CONVERSATION_STATES } from '../../../domain/conversation-state';
import { PURPOSES, type Purpose } from '../../../domain/sending';
import { deepFreeze } from '../../support/deep-freeze';

const NO_SENDS: SendCounts = {
  sinceInbound: 0,
  followUpsToday: 0,
  last10Minutes: 0,
  lastHour: 0,
  lastDay: 0,
};

/** An answer with nothing in its way. */
const FREE: GateFacts = deepFreeze({
  purpose: 'answer',
  cancelOnInbound: true,
  leaseHeld: true,
  reached: true,
  unexpired: true,
  stopRequested: false,
  windowOpen: null,
  outsideHours: false,
  state: 'active',
  personOwns: false,
  automationEnabled: true,
  accountPaused: false,
  addressOptedOut: false,
  optOutConfirmed: false,
  coversSeq: 3,
  lastInboundSeq: 3,
  draftWithdrawals: 0,
  oldestOwedAgeMs: 100,
  oldestMissedAgeMs: null,
  counts: NO_SENDS,
});

const judge = (change: Partial<GateFacts>): GateVerdict =>
  judgeGate(deepFreeze({ ...FREE, ...change }));
const counts = (change: Partial<SendCounts>): Partial<GateFacts> => ({
  counts: { ...NO_SENDS, ...change },
});
const allow: GateVerdict = { kind: 'allow' };
const giveBack = (reason: 'not_reached' | 'lease_lost' | 'held'): GateVerdict => {
  return { kind: 'give-back', reason };
};
type Cancel = Extract<GateVerdict, { kind: 'cancel' }>;
const cancel = (reason: Cancel['reason']): Cancel => ({ kind: 'cancel', reason });

describe('the gate', () => {
  it('lets an answer pass that has nothing in its way [S3]', () => {
    expect(judge({})).toEqual(allow);
  });

  it.each<[string, Partial<GateFacts>, GateVerdict, string]>([
    ['without its lease', { leaseHeld: false }, giveBack('lease_lost'), '[C4]'],
    ['before notBefore', { reached: false }, giveBack('not_reached'), '[C4]'],
    ['at expiresAt', { unexpired: false }, cancel('expired'), '[C4]'],
    ['that a stop met', { stopRequested: true }, cancel('conversation_stopped'), '[S3]'],
    ['outside the reply window', { windowOpen: false }, cancel('window_closed'), '[S6]'],
    ['inside the reply window', { windowOpen: true }, allow, '[S6]'],
    ['inside quiet hours', { outsideHours: true }, { kind: 'plan-again' }, '[INV-14]'],
    ['while paused', { state: 'paused' }, cancel('conversation_stopped'), '[S1]'],
    ['once closed', { state: 'closed' }, cancel('conversation_stopped'), '[S1]'],
    ['once replied', { state: 'replied' }, allow, '[S1]'],
    ['once booked', { state: 'booked' }, allow, '[S1]'],
    ['while a person owns it', { personOwns: true }, cancel('person_owns'), '[INV-15]'],
    ['to an opted-out address', { addressOptedOut: true }, cancel('opted_out'), '[INV-13]'],
    ['with automation off', { automationEnabled: false }, giveBack('held'), '[S3]'],
    ['over a paused account', { accountPaused: true }, giveBack('held'), '[IN4]'],
    ['behind a newer inbound', { lastInboundSeq: 4 }, cancel('newer_inbound'), '[INV-12]'],
    ['ahead of what came', { lastInboundSeq: 2 }, allow, '[INV-12]'],
  ])('judges an answer %s: %j gives %j %s', (_name, change, verdict) => {
    expect(judge(change)).toEqual(verdict);
  });

  it.each<[Purpose, Partial<GateFacts>, GateVerdict, string]>([
    ['follow-up', { state: 'replied' }, cancel('conversation_stopped'), '[INV-11]'],
    ['follow-up', { lastInboundSeq: 4 }, cancel('newer_inbound'), '[INV-11]'],
    ['follow-up', { lastInboundSeq: 4, draftWithdrawals: 9 }, cancel('newer_inbound'), '[INV-11]'],
    ['follow-up', { automationEnabled: false }, giveBack('held'), '[S3]'],
    ['staff', { personOwns: true, state: 'paused' }, allow, '[S1]'],
    ['staff', { automationEnabled: false }, allow, '[S3]'],
    ['staff', { automationEnabled: false, windowOpen: false }, cancel('window_closed'), '[S6]'],
    ['staff', { accountPaused: true }, giveBack('held'), '[IN4]'],
    ['staff', { addressOptedOut: true }, cancel('opted_out'), '[INV-13]'],
    ['staff', { state: 'opted_out' }, cancel('conversation_stopped'), '[INV-13]'],
    ['staff', { cancelOnInbound: false, lastInboundSeq: 9 }, allow, '[C2]'],
    ['booking-confirmation', { state: 'booked' }, allow, '[S1]'],
    ['booking-confirmation', { state: 'replied' }, cancel('conversation_stopped'), '[S1]'],
    ['opt-out-confirmation', { state: 'active' }, cancel('conversation_stopped'), '[S1]'],
  ])('judges a send of the purpose %s: %j gives %j %s', (purpose, change, verdict) => {
    expect(judge({ purpose, ...change })).toEqual(verdict);
  });

  it('lets the one confirmation of an opt-out pass, to an opted-out person [INV-13] [S1]', () => {
    const confirmation: Partial<GateFacts> = {
      purpose: 'opt-out-confirmation',
      cancelOnInbound: false,
      state: 'opted_out',
      addressOptedOut: true,
      personOwns: true,
      lastInboundSeq: 9,
    };
    expect(judge(confirmation)).toEqual(allow);
    expect(judge({ ...confirmation, optOutConfirmed: true })).toEqual(cancel('opted_out'));
  });

  it.each<[Purpose, Partial<SendCounts>, boolean]>([
    ['answer', { sinceInbound: 1 }, true],
    ['answer', { sinceInbound: 2 }, false],
    ['answer', { followUpsToday: 1 }, true],
    ['answer', { last10Minutes: 19 }, true],
    ['answer', { last10Minutes: 20 }, false],
    ['answer', { lastHour: 59 }, true],
    ['answer', { lastHour: 60 }, false],
    ['answer', { lastDay: 119 }, true],
    ['answer', { lastDay: 120 }, false],
    ['follow-up', { sinceInbound: 2 }, true],
    ['follow-up', { followUpsToday: 1 }, false],
    ['follow-up', { lastDay: 120 }, false],
    ['staff', { sinceInbound: 9 }, true],
    ['staff', { followUpsToday: 1 }, true],
    ['staff', { last10Minutes: 20 }, false],
  ])('keeps a budget: a send of the purpose %s behind %j passes: %s [INV-17b]', (...row) => {
    const [purpose, change, passes] = row;
    expect(judge({ purpose, ...counts(change) })).toEqual(passes ? allow : cancel('send_budget'));
  });

  /** Mostly what lets a send pass, so that enough of them do. */
  const mostly = <Value>(usual: Value, other: fc.Arbitrary<Value>) =>
    fc.oneof({ weight: 6, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });
  const flag = (usual: boolean) => mostly(usual, fc.boolean());
  const anything = fc.record<GateFacts>({
    purpose: fc.constantFrom(...PURPOSES),
    cancelOnInbound: fc.boolean(),
    leaseHeld: flag(true),
    reached: flag(true),
    unexpired: flag(true),
    stopRequested: flag(false),
    windowOpen: mostly<boolean | null>(null, fc.boolean()),
    outsideHours: mostly(false, fc.constant(true)),
    state: fc.constantFrom(...CONVERSATION_STATES),
    personOwns: flag(false),
    automationEnabled: flag(true),
    accountPaused: flag(false),
    addressOptedOut: flag(false),
    optOutConfirmed: flag(false),
    coversSeq: fc.nat(3),
    lastInboundSeq: fc.nat(3),
    draftWithdrawals: fc.nat(4),
    oldestOwedAgeMs: fc.option(fc.nat(10_000)),
    oldestMissedAgeMs: fc.option(fc.nat(4_000)),
    counts: fc.record({
      sinceInbound: mostly(0, fc.nat(3)),
      followUpsToday: mostly(0, fc.nat(2)),
      last10Minutes: mostly(0, fc.nat(25)),
      lastHour: mostly(0, fc.nat(70)),
      lastDay: mostly(0, fc.nat(130)),
    }),
  });

  it('never allows what any one of its rules forbids, whatever else holds [S3] [INV-15]', () => {
    let allowed = 0;
    fc.assert(
      fc.property(anything, (facts) => {
        if (judgeGate(deepFreeze(facts)).kind !== 'allow') return;
        allowed += 1;
        expect(facts.leaseHeld && facts.reached && facts.unexpired).toBe(true);
        expect(facts.stopRequested || facts.accountPaused).toBe(false);
        expect(facts.windowOpen).not.toBe(false);
        expect(facts.outsideHours).toBe(false);
        expect(facts.counts.last10Minutes).toBeLessThan(20);
        expect(facts.counts.lastHour).toBeLessThan(60);
        expect(facts.counts.lastDay).toBeLessThan(120);
        const confirms = facts.purpose === 'opt-out-confirmation';
        expect(confirms || !facts.addressOptedOut).toBe(true);
        expect(confirms || facts.purpose === 'staff' || !facts.personOwns).toBe(true);
        expect(facts.purpose === 'staff' || facts.automationEnabled).toBe(true);
        expect(facts.purpose !== 'follow-up' || facts.state === 'active').toBe(true);
      }),
      { numRuns: 5_000 },
    );
    expect(allowed).toBeGreaterThan(100);
  });
});

describe('a draft that missed newer messages', () => {
  it.each([
    [0, 4_999, 0, false],
    [1, 4_999, 0, false],
    [2, 0, 0, true],
    [3, 0, 1_999, true],
    [2, 0, 2_000, false],
    [0, 5_000, 0, true],
    [0, 5_000, 1_999, true],
    [0, 5_000, 2_000, false],
    [0, null, 0, false],
    [2, null, null, true],
    [0, 60_000, null, true],
  ])(
    'after %i withdrawals, oldest %s ms, missed %s ms: stands %s [P4b]',
    (draftWithdrawals, oldestOwedAgeMs, oldestMissedAgeMs, stands) => {
      const facts = deepFreeze({ draftWithdrawals, oldestOwedAgeMs, oldestMissedAgeMs });
      expect(draftStands(facts)).toBe(stands);
      const verdict = judge({ ...facts, lastInboundSeq: 4 });
      expect(verdict).toEqual(stands ? allow : cancel('newer_inbound'));
    },
  );
});
