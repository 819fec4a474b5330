import fc from 'fast-check';
import {
  nextMove,
  planAgenda,
  type Agenda,
  type AgendaFacts,
  type AgendaItem,
  type OpenSend,
} from '../../../domain/agenda';
import { CONVERSATION_STATES } from '../../../domain/conversation-state';
import { ATTEMPT_LIMIT_MS } from '../../../domain/limits';
import { PURPOSES } from '../../../domain/sending';
import { deepFreeze } from '../../support/deep-freeze';

const NOW = Date.parse('2026-11-30T18:00:00.000Z');
const HOUR_MS = 3_600_000;
const TOKEN = '2026-11-30 18:00:00.000001+00';

const QUIET: AgendaFacts = deepFreeze({
  nowMs: NOW,
  state: 'active',
  personOwns: false,
  escalated: false,
  owedSince: null,
  turnDueAtMs: null,
  sendsHeld: false,
  sends: [],
  followUp: null,
  escalation: null,
});
const QUEUED: OpenSend = deepFreeze({
  sendId: 'snd_1',
  purpose: 'answer',
  state: 'queued',
  token: TOKEN,
  stands: false,
  awaitingApproval: false,
  notBeforeMs: NOW,
  expiresAtMs: NOW + HOUR_MS,
  leaseUntilMs: null,
  attemptedAtMs: null,
});
const send = (change: Partial<OpenSend> = {}): OpenSend => ({ ...QUEUED, ...change });
const plan = (change: Partial<AgendaFacts>): Agenda =>
  planAgenda(deepFreeze({ ...QUIET, ...change }));

/** An item in a line: what is due, for which send, and in how many milliseconds. */
const line = ({ step, dueInMs }: AgendaItem) =>
  [step.kind, 'sendId' in step ? step.sendId : null, dueInMs]
    .filter((part) => part !== null)
    .join(' ');
const lines = (change: Partial<AgendaFacts>) => plan(change).items.map(line);

describe('what is due', () => {
  it('is nothing where nothing is owed, open or planned [O1]', () => {
    expect(plan({})).toEqual({
      state: 'active',
      owner: 'automation',
      owed: false,
      escalated: false,
      items: [],
    });
  });

  it('says who owns the conversation, whether it owes and whether it is escalated [O4]', () => {
    const facts = { state: 'paused', personOwns: true, escalated: true, owedSince: TOKEN } as const;
    expect(plan(facts)).toMatchObject({
      state: 'paused',
      owner: 'person',
      owed: true,
      escalated: true,
    });
  });

  it.each<[string, Partial<AgendaFacts>, string[]]>([
    ['a debt: its turn, at once', { turnDueAtMs: null }, ['take-turn 0']],
    ['an opener: its turn when its second is over', { turnDueAtMs: NOW + 700 }, ['take-turn 700']],
    ['a late turn', { turnDueAtMs: NOW - 700 }, ['take-turn -700']],
    [
      'a draft that answers this token: no turn',
      { sends: [send()] },
      [`deliver snd_1 0`, `expire snd_1 ${HOUR_MS}`],
    ],
    [
      'an older draft: a turn, which decides its fate before it is delivered',
      { sends: [send({ token: 'older' })] },
      ['take-turn 0', 'deliver snd_1 0', `expire snd_1 ${HOUR_MS}`],
    ],
    [
      'an older draft that stands: no turn before it',
      { sends: [send({ token: 'older', stands: true })] },
      ['deliver snd_1 0', `expire snd_1 ${HOUR_MS}`],
    ],
    [
      'an older draft in a worker’s hands: the turn waits for the lease',
      { sends: [send({ token: 'older', state: 'leased', leaseUntilMs: NOW + 3_000 })] },
      ['take-turn 3000', 'deliver snd_1 3000', `expire snd_1 ${HOUR_MS}`],
    ],
    [
      'an older answer in flight: the turn does not wait for it',
      { sends: [send({ token: 'older', state: 'sending', attemptedAtMs: NOW })] },
      ['take-turn 0', `resolve snd_1 ${ATTEMPT_LIMIT_MS}`],
    ],
    [
      'a leased follow-up: the turn does not wait for it',
      { sends: [send({ token: null, state: 'leased', leaseUntilMs: NOW + 3_000 })] },
      ['take-turn 0', 'deliver snd_1 3000', `expire snd_1 ${HOUR_MS}`],
    ],
  ])('with %s [P4b] [T3]', (_name, change, expected) => {
    expect(lines({ owedSince: TOKEN, ...change })).toEqual(expected);
  });

  it.each<[string, Partial<OpenSend>, string[]]>([
    [
      'waits until notBefore',
      { notBeforeMs: NOW + 5_000 },
      ['deliver snd_1 5000', `expire snd_1 ${HOUR_MS}`],
    ],
    ['never expires', { expiresAtMs: null }, ['deliver snd_1 0']],
    ['expires in a moment', { expiresAtMs: NOW + 1 }, ['deliver snd_1 0', 'expire snd_1 1']],
    ['expires now', { expiresAtMs: NOW }, ['expire snd_1 0']],
    ['has expired', { expiresAtMs: NOW - 1 }, ['expire snd_1 -1']],
    ['would expire while it waits', { notBeforeMs: NOW + HOUR_MS }, [`expire snd_1 ${HOUR_MS}`]],
    [
      'is claimed',
      { state: 'leased', leaseUntilMs: NOW + 3_000 },
      ['deliver snd_1 3000', `expire snd_1 ${HOUR_MS}`],
    ],
    [
      'is claimed and expires before the lease ends',
      { state: 'leased', leaseUntilMs: NOW + 3_000, expiresAtMs: NOW + 1_000 },
      ['expire snd_1 3000'],
    ],
    [
      'is in flight: it is judged at its limit, and never expires or leaves again',
      { state: 'sending', attemptedAtMs: NOW - 5_000 },
      [`resolve snd_1 ${ATTEMPT_LIMIT_MS - 5_000}`],
    ],
  ])('of a send that %s [C4] [C6]', (_name, change, expected) => {
    expect(lines({ sends: [send(change)] })).toEqual(expected);
  });

  it.each<[string, Partial<OpenSend>, string[]]>([
    ['queued', {}, [`expire snd_1 ${HOUR_MS}`]],
    ['in flight', { state: 'sending', attemptedAtMs: NOW }, [`resolve snd_1 ${ATTEMPT_LIMIT_MS}`]],
  ])('of a %s send while sends are held: only its end [IN4]', (_name, change, expected) => {
    expect(lines({ sendsHeld: true, sends: [send(change)] })).toEqual(expected);
  });

  it('of a plan is its next step at its due time [S6]', () => {
    const followUp = { planId: 'pln_1', step: 2, dueAtMs: NOW + HOUR_MS };
    expect(plan({ followUp }).items).toEqual([
      { step: { kind: 'follow-up', planId: 'pln_1', step: 2 }, dueInMs: HOUR_MS },
    ]);
  });

  it('stands in order of time, and what is overdue in order of urgency, not of lateness [T3]', () => {
    const followUp = { planId: 'pln_1', step: 1, dueAtMs: NOW - HOUR_MS };
    const sends = [
      send({ sendId: 'snd_2', token: 'older', expiresAtMs: NOW + 10 }),
      send({ sendId: 'snd_3', state: 'sending', attemptedAtMs: NOW - ATTEMPT_LIMIT_MS - 1 }),
      send({ sendId: 'snd_4', token: null, expiresAtMs: NOW - 5 }),
    ];
    const due = lines({ owedSince: 'newest', followUp, sends });
    expect(due).toEqual([
      'resolve snd_3 -1',
      'expire snd_4 -5',
      'take-turn 0',
      'deliver snd_2 0',
      `follow-up ${-HOUR_MS}`,
      'expire snd_2 10',
    ]);
  });

  it('is the deadline of a work item, before any send that is due at once [C7] [O1]', () => {
    const escalation = { workItemId: 'wrk_1', dueAtMs: NOW };
    expect(lines({ escalation, sends: [send()] }).slice(0, 2)).toEqual([
      'escalate 0',
      'deliver snd_1 0',
    ]);
    expect(lines({ escalation: { ...escalation, dueAtMs: NOW + 300_000 } })).toEqual([
      'escalate 300000',
    ]);
  });

  it('is no delivery of a draft that awaits approval, but its expiry [T3]', () => {
    const sends = [send({ awaitingApproval: true })];
    expect(lines({ sends })).toEqual([`expire snd_1 ${HOUR_MS}`]);
  });

  const instant = fc.integer({ min: NOW - 2 * HOUR_MS, max: NOW + 2 * HOUR_MS });
  const openSend = fc.record<OpenSend>({
    sendId: fc.uuid(),
    purpose: fc.constantFrom(...PURPOSES),
    state: fc.constantFrom('queued', 'leased', 'sending'),
    token: fc.constantFrom(TOKEN, 'older', null),
    stands: fc.boolean(),
    awaitingApproval: fc.boolean(),
    notBeforeMs: instant,
    expiresAtMs: fc.option(instant),
    leaseUntilMs: fc.option(instant),
    attemptedAtMs: fc.option(instant),
  });
  const facts = fc.record<AgendaFacts>({
    nowMs: fc.constant(NOW),
    state: fc.constantFrom(...CONVERSATION_STATES),
    personOwns: fc.boolean(),
    escalated: fc.boolean(),
    owedSince: fc.constantFrom(TOKEN, null),
    turnDueAtMs: fc.option(instant),
    sendsHeld: fc.boolean(),
    sends: fc.array(openSend, { maxLength: 4 }),
    followUp: fc.option(
      fc.record({ planId: fc.uuid(), step: fc.integer({ min: 1, max: 3 }), dueAtMs: instant }),
    ),
    escalation: fc.option(fc.record({ workItemId: fc.uuid(), dueAtMs: instant })),
  });

  it('leaves no debt and no open send without something that will end it [T3] [INV-5]', () => {
    fc.assert(
      fc.property(facts, (drawn) => {
        const { items } = planAgenda(deepFreeze(drawn));
        const looksAfter = (sendId: string) =>
          items.some(({ step }) => 'sendId' in step && step.sendId === sendId);
        const waits = (open: OpenSend) =>
          (drawn.sendsHeld || open.awaitingApproval) && open.expiresAtMs === null;
        for (const open of drawn.sends) {
          expect(looksAfter(open.sendId) || waits(open)).toBe(true);
        }
        if (drawn.owedSince !== null && drawn.sends.length === 0) {
          expect(items.some(({ step }) => step.kind === 'take-turn')).toBe(true);
        }
      }),
    );
  });

  it('never delivers what is in flight, held, expired or not yet due [C4] [INV-9]', () => {
    fc.assert(
      fc.property(facts, (drawn) => {
        for (const { step, dueInMs } of planAgenda(deepFreeze(drawn)).items) {
          if (step.kind !== 'deliver') continue;
          const open = drawn.sends.find(({ sendId }) => sendId === step.sendId);
          expect(open?.state).not.toBe('sending');
          expect(drawn.sendsHeld).toBe(false);
          expect(open?.awaitingApproval).toBe(false);
          const atMs = NOW + dueInMs;
          expect(atMs).toBeGreaterThanOrEqual(open?.notBeforeMs ?? Infinity);
          expect(atMs).toBeLessThan(open?.expiresAtMs ?? Infinity);
        }
      }),
    );
  });
});

describe('the next move', () => {
  const agenda = (...items: AgendaItem[]): Agenda =>
    deepFreeze({ state: 'active', owner: 'automation', owed: true, escalated: false, items });
  const turn: AgendaItem = { step: { kind: 'take-turn' }, dueInMs: 1_000 };

  it('is to complete where nothing is due [O1]', () => {
    expect(nextMove(agenda(), 0)).toEqual({ kind: 'complete' });
  });

  it.each([
    [0, { kind: 'wait', step: turn.step, waitMs: 1_000 }],
    [400, { kind: 'wait', step: turn.step, waitMs: 600 }],
    [999, { kind: 'wait', step: turn.step, waitMs: 1 }],
    [1_000, { kind: 'do', step: turn.step }],
    [9_000, { kind: 'do', step: turn.step }],
  ])('for a step due in a second, %i ms after the reading, is %j [O1]', (elapsedMs, move) => {
    expect(nextMove(agenda(turn), elapsedMs)).toEqual(move);
  });

  it('looks at the first item alone: the agenda is sorted [O1]', () => {
    const later: AgendaItem = { step: { kind: 'deliver', sendId: 'snd_1' }, dueInMs: 5_000 };
    expect(nextMove(agenda(turn, later), 2_000)).toEqual({ kind: 'do', step: turn.step });
  });
});
