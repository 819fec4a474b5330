import fc from 'fast-check';
import { CONVERSATION_STATES } from '../../../domain/conversation-state';
import {
  courseOfTurn,
  fateOfDraft,
  optOutConfirmation,
  type OwedMessage,
  type TurnFacts,
} from '../../../domain/turn';
import { deepFreeze } from '../../support/deep-freeze';

const NOW = Date.parse('2026-11-30T18:00:00.000Z');
const HOUR_MS = 3_600_000;

const said = (text: string | null, optOut: string | null = null): OwedMessage => {
  return { seq: 1, text, optOut };
};
const FACTS: TurnFacts = deepFreeze({
  nowMs: NOW,
  state: 'active',
  overdueFromMs: NOW,
  optOutConfirmed: false,
  addressOptedOut: false,
  lastAnswerAtMs: null,
  owed: [said('My sink leaks')],
  loop: null,
});
const course = (change: Partial<TurnFacts>) => courseOfTurn(deepFreeze({ ...FACTS, ...change }));

describe('the course of a turn', () => {
  it.each(['active', 'replied', 'booked'] as const)('drafts while %s [T3] [S1]', (state) => {
    expect(course({ state })).toEqual({ kind: 'draft' });
  });

  it.each(['paused', 'closed'] as const)('hands over while %s [T3] [T6]', (state) => {
    expect(course({ state })).toMatchObject({
      kind: 'hand-over',
      reason: 'policy_requires_human',
    });
  });

  it.each([
    [HOUR_MS - 1, 'draft'],
    [HOUR_MS, 'hand-over'],
    [HOUR_MS + 1, 'hand-over'],
  ])('%i ms after the debt fell due is: %s [C2] [T6]', (ageMs, kind) => {
    const late = course({ overdueFromMs: NOW - ageMs });
    expect(late.kind).toBe(kind);
    if (kind === 'hand-over') expect(late).toMatchObject({ reason: 'reply_overdue' });
  });

  it.each(['too_many_turns', 'answers_at_once', 'repeats_itself'] as const)(
    'gives a conversation that goes round in circles (%s) to a person [INV-17]',
    (loop) => {
      expect(course({ loop })).toMatchObject({
        kind: 'hand-over',
        reason: 'policy_requires_human',
      });
    },
  );

  it('confirms an opt-out although the conversation goes round in circles [INV-17] [S1]', () => {
    const optedOut = { state: 'opted_out', owed: [said('STOP', 'stop')] } as const;
    expect(course({ ...optedOut, loop: 'too_many_turns' })).toEqual({ kind: 'confirm-opt-out' });
  });

  it.each<[string, Partial<TurnFacts>, object]>([
    ['a first stop', { owed: [said('STOP', 'stop')] }, { kind: 'confirm-opt-out' }],
    [
      'a stop once confirmed',
      { owed: [said('STOP', 'stop')], optOutConfirmed: true },
      { kind: 'no-answer', reason: 'opted_out' },
    ],
    [
      'a stop that the provider confirmed',
      { owed: [said('STOP', 'stop_confirmed_by_provider')] },
      { kind: 'no-answer', reason: 'confirmed_by_provider' },
    ],
    ['anything else they write', { owed: [said('How much?')] }, { kind: 'hand-over' }],
    [
      'something written behind the stop',
      { owed: [said('STOP', 'stop'), said('How much?')] },
      { kind: 'hand-over' },
    ],
    [
      'a stop behind something else',
      { owed: [said('How much?'), said('STOP', 'stop')] },
      { kind: 'confirm-opt-out' },
    ],
  ])('after an opt-out, %s: %j is %j [S6] [INV-13]', (_name, change, expected) => {
    expect(course({ state: 'opted_out', ...change })).toMatchObject(expected);
  });

  it('confirms an opt-out even when it is late: it is never too late to stop [INV-13]', () => {
    const late = { state: 'opted_out', overdueFromMs: NOW - 2 * HOUR_MS } as const;
    expect(course({ ...late, owed: [said('STOP', 'stop')] })).toEqual({ kind: 'confirm-opt-out' });
  });

  it('hands over where the person opted out on another channel [INV-13]', () => {
    expect(course({ addressOptedOut: true })).toMatchObject({
      kind: 'hand-over',
      reason: 'policy_requires_human',
    });
  });

  it.each<[number | null, readonly (string | null)[], string]>([
    [9_999, [null], 'no-answer'],
    [9_999, [null, null], 'no-answer'],
    [10_000, [null], 'draft'],
    [9_999, [null, 'and this'], 'draft'],
    [null, [null], 'draft'],
  ])('media %s ms after an answer, with texts %j, is: %s [P4b]', (ageMs, texts, kind) => {
    const lastAnswerAtMs = ageMs === null ? null : NOW - ageMs;
    const owed = texts.map((text) => said(text));
    expect(course({ lastAnswerAtMs, owed }).kind).toBe(kind);
  });

  it.each(CONVERSATION_STATES)(
    'drafts and hands over nothing while %s, where nothing owes any more [T2] [INV-10]',
    (state) => {
      const late = { overdueFromMs: NOW - 2 * HOUR_MS };
      expect(course({ state, ...late, owed: [] })).toEqual({
        kind: 'no-answer',
        reason: 'covered',
      });
    },
  );

  it('never drafts for an opted-out person, nor past the hour, nor while held [INV-13] [C2]', () => {
    const facts = fc.record<TurnFacts>({
      nowMs: fc.constant(NOW),
      state: fc.constantFrom(...CONVERSATION_STATES),
      overdueFromMs: fc.integer({ min: NOW - 2 * HOUR_MS, max: NOW }),
      optOutConfirmed: fc.boolean(),
      addressOptedOut: fc.boolean(),
      lastAnswerAtMs: fc.option(fc.integer({ min: NOW - 20_000, max: NOW })),
      owed: fc.array(
        fc.record({
          seq: fc.nat(),
          text: fc.option(fc.string()),
          optOut: fc.option(fc.constantFrom('stop', 'start', 'stop_confirmed_by_provider')),
        }),
      ),
      loop: fc.option(
        fc.constantFrom(
          'too_many_turns' as const,
          'answers_at_once' as const,
          'repeats_itself' as const,
        ),
      ),
    });
    fc.assert(
      fc.property(facts, (drawn) => {
        if (courseOfTurn(deepFreeze(drawn)).kind !== 'draft') return;
        expect(['active', 'replied', 'booked']).toContain(drawn.state);
        expect(drawn.addressOptedOut).toBe(false);
        expect(drawn.owed).not.toEqual([]);
        expect(drawn.loop).toBeNull();
        expect(drawn.nowMs - drawn.overdueFromMs).toBeLessThan(HOUR_MS);
      }),
    );
  });
});

describe('the fate of an older draft', () => {
  const facts = { draftWithdrawals: 2, oldestOwedAgeMs: 400, oldestMissedAgeMs: 100 };

  it.each([
    ['after two withdrawals', {}, 'stand'],
    ['after one', { draftWithdrawals: 1 }, 'withdraw'],
    [
      'five seconds after the first message',
      { draftWithdrawals: 0, oldestOwedAgeMs: 5_000 },
      'stand',
    ],
    ['where what it missed is two seconds old', { oldestMissedAgeMs: 2_000 }, 'withdraw'],
    ['while it waits for a back-off', { mayLeaveNow: false }, 'withdraw'],
  ])('%s (%j) is to %s [P4b]', (_name, change, fate) => {
    expect(fateOfDraft(deepFreeze({ ...facts, mayLeaveNow: true, ...change }))).toBe(fate);
  });
});

describe('the confirmation of an opt-out', () => {
  it.each([
    ['en', /^Understood: we will not send/],
    ['es', /^Entendido: no le enviaremos/],
  ] as const)('is worded in the lead’s language: %s [S1]', (language, words) => {
    expect(optOutConfirmation(language)).toMatch(words);
  });
});
