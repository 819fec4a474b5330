import fc from 'fast-check';
import {
  CONVERSATION_STATES,
  mayLeave,
  transition,
  type ConversationState,
  type StateEvent,
  type StateSnapshot,
} from '../../../domain/conversation-state';
import { PURPOSES, type Purpose } from '../../../domain/sending';
import { deepFreeze } from '../../support/deep-freeze';

const EVENTS: readonly StateEvent[] = [
  'reply',
  'booking',
  'booking-cancelled',
  'opt-out',
  'opt-in',
  'pause',
  'resume',
  'close',
  'new-episode',
];

/** `paused(x)` remembers x; a dot is an event that is recorded and changes nothing. */
const TABLE: Record<string, Record<StateEvent, string>> = {
  active: {
    reply: 'replied',
    booking: 'booked',
    'booking-cancelled': '.',
    'opt-out': 'opted_out',
    'opt-in': '.',
    pause: 'paused(active)',
    resume: '.',
    close: 'closed',
    'new-episode': '.',
  },
  replied: {
    reply: '.',
    booking: 'booked',
    'booking-cancelled': '.',
    'opt-out': 'opted_out',
    'opt-in': '.',
    pause: 'paused(replied)',
    resume: '.',
    close: 'closed',
    'new-episode': '.',
  },
  booked: {
    reply: '.',
    booking: '.',
    'booking-cancelled': 'replied',
    'opt-out': 'opted_out',
    'opt-in': '.',
    pause: 'paused(booked)',
    resume: '.',
    close: 'closed',
    'new-episode': '.',
  },
  opted_out: {
    reply: '.',
    booking: '.',
    'booking-cancelled': '.',
    'opt-out': '.',
    'opt-in': 'active',
    pause: '.',
    resume: '.',
    close: 'closed',
    'new-episode': '.',
  },
  'paused(active)': {
    reply: 'paused(replied)',
    booking: 'paused(booked)',
    'booking-cancelled': '.',
    'opt-out': 'opted_out',
    'opt-in': '.',
    pause: '.',
    resume: 'active',
    close: 'closed',
    'new-episode': '.',
  },
  'paused(replied)': {
    reply: '.',
    booking: 'paused(booked)',
    'booking-cancelled': '.',
    'opt-out': 'opted_out',
    'opt-in': '.',
    pause: '.',
    resume: 'replied',
    close: 'closed',
    'new-episode': '.',
  },
  'paused(booked)': {
    reply: '.',
    booking: '.',
    'booking-cancelled': '.',
    'opt-out': 'opted_out',
    'opt-in': '.',
    pause: '.',
    resume: 'booked',
    close: 'closed',
    'new-episode': '.',
  },
  closed: {
    reply: '.',
    booking: '.',
    'booking-cancelled': '.',
    'opt-out': 'opted_out',
    'opt-in': '.',
    pause: '.',
    resume: '.',
    close: '.',
    'new-episode': 'active',
  },
};

function parse(text: string): StateSnapshot {
  const [, state = text, remembered = null] = /^(\w+)\((\w+)\)$/.exec(text) ?? [];
  return { state, remembered } as StateSnapshot;
}

const CELLS = Object.entries(TABLE).flatMap(([from, row]) =>
  EVENTS.map((event): [string, StateEvent, string] => [from, event, row[event]]),
);

describe('a conversation’s state', () => {
  it('has a cell for every state and every event [S1]', () => {
    const states = new Set(Object.keys(TABLE).map((from) => parse(from).state));
    expect([...states].sort()).toEqual([...CONVERSATION_STATES].sort());
    expect(CELLS).toHaveLength(8 * EVENTS.length);
  });

  it.each(CELLS)('%s and %s give %s [S1]', (from, event, to) => {
    const before = deepFreeze(parse(from));
    const expected = to === '.' ? { ...before, changed: false } : { ...parse(to), changed: true };
    expect(transition(before, event)).toEqual(expected);
  });

  it('resumes as replied where nothing was remembered: automation is then the more careful [S1]', () => {
    const before = deepFreeze<StateSnapshot>({ state: 'paused', remembered: null });
    expect(transition(before, 'resume')).toMatchObject({ state: 'replied', changed: true });
    expect(transition(before, 'reply')).toEqual({ ...before, changed: false });
  });

  const walk = fc.array(fc.constantFrom(...EVENTS), { maxLength: 40 });
  const START = deepFreeze<StateSnapshot>({ state: 'active', remembered: null });

  it('never leaves its set, and remembers a state exactly while it is paused [S1]', () => {
    fc.assert(
      fc.property(walk, (events) => {
        let current: StateSnapshot = START;
        for (const event of events) {
          current = transition(deepFreeze(current), event);
          expect(CONVERSATION_STATES).toContain(current.state);
          expect(current.remembered !== null).toBe(current.state === 'paused');
          expect(['active', 'replied', 'booked', null]).toContain(current.remembered);
        }
      }),
    );
  });

  it('says that it changed exactly where it did [S1]', () => {
    fc.assert(
      fc.property(walk, fc.constantFrom(...EVENTS), (events, last) => {
        const before = events.reduce<StateSnapshot>(transition, START);
        const { changed, ...after } = transition(before, last);
        const same = after.state === before.state && after.remembered === before.remembered;
        expect(changed).toBe(!same);
      }),
    );
  });

  it('is left opted out by nothing but the lead’s own opt-in or the end [S1]', () => {
    fc.assert(
      fc.property(walk, (events) => {
        let current = transition(START, 'opt-out');
        for (const event of events.filter((item) => item !== 'opt-in' && item !== 'close')) {
          current = transition(current, event);
        }
        expect(current.state).toBe('opted_out');
      }),
    );
  });

  it('ends the same in whichever order a reply and a booking come [S1] [S4]', () => {
    fc.assert(
      fc.property(walk, (events) => {
        const before = events.reduce<StateSnapshot>(transition, START);
        const fold = (order: readonly StateEvent[]) => {
          const { state, remembered } = order.reduce<StateSnapshot>(transition, before);
          return { state, remembered };
        };
        expect(fold(['reply', 'booking'])).toEqual(fold(['booking', 'reply']));
      }),
    );
  });
});

describe('what may leave', () => {
  const MAY: Record<Purpose, readonly ConversationState[]> = {
    answer: ['active', 'replied', 'booked'],
    'follow-up': ['active'],
    'opt-out-confirmation': ['opted_out'],
    'booking-confirmation': ['booked'],
    staff: ['active', 'replied', 'booked', 'paused', 'closed'],
  };
  const cells = PURPOSES.flatMap((purpose) =>
    CONVERSATION_STATES.map((state): [string, Purpose, ConversationState] => [
      MAY[purpose].includes(state) ? 'leaves' : 'does not leave',
      purpose,
      state,
    ]),
  );

  it.each(cells)('%s: a message of the purpose %s while %s [S1]', (verdict, purpose, state) => {
    expect(mayLeave(purpose, state)).toBe(verdict === 'leaves');
  });
});
