import type { World } from './world';

/** A row of the outbox, as far as races look at it. */
export interface SeenSend {
  readonly purpose: string;
  readonly state: string;
  readonly reason: string | null;
  readonly stopCause: string | null;
  readonly stopVerdict: string | null;
}

/** Every send of the world, in the order in which they were queued. */
export async function sendsOf(world: World, purpose?: string): Promise<readonly SeenSend[]> {
  const rows = await world.rows(
    `select purpose, state, end_reason, stop_cause, stop_verdict from outbox
     where $1::text is null or purpose = $1 order by created_at, id`,
    [purpose ?? null],
  );
  return rows.map((row) => ({
    purpose: String(row['purpose']),
    state: String(row['state']),
    reason: textOrNull(row['end_reason']),
    stopCause: textOrNull(row['stop_cause']),
    stopVerdict: textOrNull(row['stop_verdict']),
  }));
}

/** What the provider was called for, call by call: the purposes of the sends. */
export async function calledFor(world: World): Promise<readonly string[]> {
  const rows = await world.rows('select id, purpose from send_attempts');
  const purposes = new Map(rows.map((row) => [row['id'], String(row['purpose'])]));
  return world.provider.calls.map((call) => purposes.get(call.attemptId) ?? 'no attempt');
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
