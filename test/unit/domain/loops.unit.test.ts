import {
  ROBOT_ANSWERS_MIN,
  ROBOT_GAP_MS,
  TURNS_PER_DAY_MAX,
  TURNS_PER_HOUR_MAX,
} from '../../../domain/limits';
import { findLoop, type ThreadStep } from '../../../domain/loops';

const SENTENCE = 'Thank you for your message, we will get back to you.';

/** Exchanges of one answer of ours and one of theirs, a minute apart. */
function exchanges(
  count: number,
  reply: (index: number) => { readonly text: string | null; readonly gapMs: number },
): ThreadStep[] {
  return Array.from({ length: count }, (_, index) => {
    const atMs = index * 60_000;
    const { text, gapMs } = reply(index);
    return [
      { from: 'business', text: `Answer ${index}`, atMs },
      { from: 'lead', text, atMs: atMs + gapMs },
    ] as const;
  }).flat();
}

const loop = (thread: readonly ThreadStep[], counts = { turnsLastHour: 0, turnsLastDay: 0 }) =>
  findLoop({ thread, ...counts });

describe('a loop', () => {
  it.each([
    [TURNS_PER_HOUR_MAX - 1, TURNS_PER_DAY_MAX - 1, null],
    [TURNS_PER_HOUR_MAX, 0, 'too_many_turns'],
    [0, TURNS_PER_DAY_MAX, 'too_many_turns'],
  ])('%i answers in an hour and %i in a day: %s [INV-17]', (turnsLastHour, turnsLastDay, found) => {
    expect(loop([], { turnsLastHour, turnsLastDay })).toBe(found);
  });

  it.each([
    [ROBOT_GAP_MS - 1, SENTENCE, 'answers_at_once'],
    [ROBOT_GAP_MS, SENTENCE, null],
    [200, 'yes', null],
  ])('answers %i ms behind ours, each "%s" and a number: %s [INV-17]', (gapMs, text, found) => {
    const thread = exchanges(ROBOT_ANSWERS_MIN, (index) => {
      return { text: `${text} ${index}`, gapMs };
    });
    expect(loop(thread)).toBe(found);
  });

  it('is seen only once it has happened often enough [INV-17]', () => {
    const thread = exchanges(ROBOT_ANSWERS_MIN - 1, () => ({ text: SENTENCE, gapMs: 100 }));
    expect(loop(thread)).toBeNull();
  });

  it('is the same words after each answer, whatever their case and spaces [INV-17]', () => {
    const thread = exchanges(ROBOT_ANSWERS_MIN, (index) => {
      return { text: index % 2 === 0 ? 'Please HOLD on' : ' please  hold on ', gapMs: 20_000 };
    });
    expect(loop(thread)).toBe('repeats_itself');
  });

  it('is none where a person says something else once [INV-17]', () => {
    const thread = exchanges(ROBOT_ANSWERS_MIN + 1, (index) => {
      return { text: index === ROBOT_ANSWERS_MIN - 1 ? 'It drips' : 'hello?', gapMs: 20_000 };
    });
    expect(loop(thread)).toBeNull();
  });

  it('is none where a person answers every question with a yes [INV-17]', () => {
    expect(
      loop(exchanges(ROBOT_ANSWERS_MIN + 2, () => ({ text: 'Yes', gapMs: 9_000 }))),
    ).toBeNull();
  });

  it('is none in an impatient burst that nobody answered yet [INV-17]', () => {
    const burst = Array.from({ length: 12 }, (_, index): ThreadStep => {
      return { from: 'lead', text: 'hello?', atMs: index * 300 };
    });
    expect(loop(burst)).toBeNull();
  });

  it('is none where pictures without words follow our answers [INV-17]', () => {
    const thread = exchanges(ROBOT_ANSWERS_MIN, () => ({ text: null, gapMs: 500 }));
    expect(loop(thread)).toBeNull();
  });
});
