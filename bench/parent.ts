/**
 * The child's side of the benchmark's small programs: the parent asks over the channel that it
 * opened, and the program ends with that channel.
 */
interface Question {
  readonly id: number;
  readonly kind: string;
  readonly argument: unknown;
}

type Answers = Readonly<Record<string, (argument: unknown) => unknown>>;

/** Answers the parent's questions, tells it what `ready` holds, and ends when the parent does. */
export function serveParent(ready: unknown, answers: Answers): void {
  process.on('message', (question: Question) => void answer(question, answers));
  process.on('disconnect', () => process.exit());
  process.send?.({ id: 0, result: ready });
}

async function answer({ id, kind, argument }: Question, answers: Answers): Promise<void> {
  try {
    const result: unknown = await answers[kind]?.(argument);
    process.send?.({ id, result });
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? error.stack : String(error) });
  }
}
