import {
  ROBOT_ANSWERS_MIN,
  ROBOT_GAP_MS,
  ROBOT_REPEATED_CHARACTERS_MIN,
  ROBOT_TYPED_CHARACTERS_MIN,
  TURNS_PER_DAY_MAX,
  TURNS_PER_HOUR_MAX,
} from './limits';
import { normalizeForMatching } from './text';

/** A message of the thread, as far as loops show in it. */
export interface ThreadStep {
  readonly from: 'lead' | 'business';
  readonly text: string | null;
  /** When it was stored here. Epoch ms. */
  readonly atMs: number;
}

export interface LoopFacts {
  /** The newest messages of the thread, oldest first. */
  readonly thread: readonly ThreadStep[];
  /** Automatic answers that were on their way to this conversation (INV-17). */
  readonly turnsLastHour: number;
  readonly turnsLastDay: number;
}

export type Loop =
  /** More answers than a conversation between people needs. */
  | 'too_many_turns'
  /** Each of our answers was answered at length, faster than anybody types. */
  | 'answers_at_once'
  /** The same sentence came back after each of our answers; a "yes" may. */
  | 'repeats_itself';

/**
 * Says whether automation seems to talk to another machine, or to go round in circles (INV-17).
 * Then a person looks: answering would go on for ever, and silence would lose a real lead. Pure.
 */
export function findLoop(facts: LoopFacts): Loop | null {
  if (facts.turnsLastHour >= TURNS_PER_HOUR_MAX || facts.turnsLastDay >= TURNS_PER_DAY_MAX) {
    return 'too_many_turns';
  }
  const answers = answersToUs(facts.thread);
  if (lastAre(answers, isTypedByNobody)) return 'answers_at_once';
  const newest = answers.at(-1)?.words;
  if (newest === undefined || newest.length < ROBOT_REPEATED_CHARACTERS_MIN) return null;
  return lastAre(answers, ({ words }) => words === newest) ? 'repeats_itself' : null;
}

interface AnswerToUs {
  readonly gapMs: number;
  readonly words: string;
}

/** The lead's first message behind each of ours. */
function answersToUs(thread: readonly ThreadStep[]): readonly AnswerToUs[] {
  return thread.flatMap((step, index) => {
    const before = thread[index - 1];
    if (step.from !== 'lead' || before?.from !== 'business') return [];
    return [{ gapMs: step.atMs - before.atMs, words: normalizeForMatching(step.text ?? '') }];
  });
}

/** A "yes" may come within two seconds; a sentence may not. */
function isTypedByNobody({ gapMs, words }: AnswerToUs): boolean {
  return gapMs < ROBOT_GAP_MS && words.length >= ROBOT_TYPED_CHARACTERS_MIN;
}

/** True where the newest answers to us are enough to judge, and all of them are like this. */
function lastAre(
  answers: readonly AnswerToUs[],
  isLikeThis: (answer: AnswerToUs) => boolean,
): boolean {
  const newest = answers.slice(-ROBOT_ANSWERS_MIN);
  return newest.length === ROBOT_ANSWERS_MIN && newest.every(isLikeThis);
}
