import type { DeliverResult, UnrecordedAcceptance } from '../../activities/contract';
import { nextMove, type Agenda, type Step } from '../../domain/agenda';
import type { World } from './world';

/** Longer than any follow-up, lease, back-off or expiry of a conversation. */
const NINE_DAYS_MS = 9 * 86_400_000;

/** After a failed step the workflow waits so long before it looks again (workflows/conversation). */
const FAILURE_WAIT_MS = 5_000;
const STEPS_MAX = 500;

/**
 * An item that nobody acts on is notified of every half hour for ever (C7). The driver goes through
 * every queue once and leaves the repetitions out.
 */
const ESCALATIONS_MAX = 5;

/** A step that the driver performed. */
export interface Performed {
  readonly conversationId: string;
  readonly kind: Step['kind'] | 'record';
  readonly at: string;
  readonly failed: boolean;
}

interface Run {
  readonly conversationId: string;
  agenda: Agenda | null;
  /** What Postgres refused to record: it is recorded before any other step (T8). */
  unrecorded: UnrecordedAcceptance | null;
  readAtMs: number;
  /** After a failed step nothing is done before this instant. */
  waitsUntilMs: number;
  escalations: number;
}

/**
 * Drives conversations as their workflows would, without Temporal: looks what is due, does the one
 * step, reads again, and moves the test's clock over every wait, for at most `forMs` of it. At the
 * end the clock stands at that horizon, past everything that was ever planned.
 */
export async function runUntilIdle(
  world: World,
  conversations: string | readonly string[],
  { forMs = NINE_DAYS_MS }: { readonly forMs?: number } = {},
): Promise<readonly Performed[]> {
  const endsAtMs = world.clock.epochMs + forMs;
  const runs = [conversations].flat().map((conversationId): Run => {
    const start = { agenda: null, unrecorded: null, readAtMs: 0, waitsUntilMs: 0, escalations: 0 };
    return { conversationId, ...start };
  });
  const performed: Performed[] = [];
  for (;;) {
    const next = earliest(runs, world.clock.epochMs);
    if (next === null || world.clock.epochMs + next.waitMs > endsAtMs) break;
    world.clock.advance(next.waitMs);
    if (next.waitMs > 0) continue;
    performed.push(await perform(world, next.run, next.step));
    if (performed.length > STEPS_MAX) throw new Error(`no rest after ${STEPS_MAX} steps`);
  }
  world.clock.advance(Math.max(0, endsAtMs - world.clock.epochMs));
  return performed;
}

interface NextStep {
  readonly run: Run;
  readonly step: Step;
  readonly waitMs: number;
}

function earliest(runs: readonly Run[], nowMs: number): NextStep | null {
  const steps = runs.flatMap((run): NextStep[] => {
    if (run.agenda === null) {
      const waitMs = Math.max(0, run.waitsUntilMs - nowMs);
      return [{ run, step: { kind: 'take-turn' }, waitMs }];
    }
    const move = nextMove(withoutRepetitions(run, run.agenda), nowMs - run.readAtMs);
    if (move.kind === 'complete') return [];
    return [{ run, step: move.step, waitMs: move.kind === 'wait' ? Math.ceil(move.waitMs) : 0 }];
  });
  return steps.sort((a, b) => a.waitMs - b.waitMs)[0] ?? null;
}

function withoutRepetitions(run: Run, agenda: Agenda): Agenda {
  if (run.escalations < ESCALATIONS_MAX) return agenda;
  return { ...agenda, items: agenda.items.filter(({ step }) => step.kind !== 'escalate') };
}

async function perform(world: World, run: Run, step: Step): Promise<Performed> {
  const { conversationId } = run;
  const done: Omit<Performed, 'failed'> = {
    conversationId,
    kind: run.unrecorded === null ? step.kind : 'record',
    at: world.clock.iso,
  };
  if (done.kind === 'escalate') run.escalations += 1;
  try {
    const result = await (run.unrecorded === null
      ? performStep(world, conversationId, step)
      : record(world, conversationId, run.unrecorded));
    run.unrecorded = result.kind === 'unrecorded' ? result.acceptance : null;
    run.agenda = result.kind === 'recorded' ? result.agenda : null;
    run.readAtMs = world.clock.epochMs;
    return { ...done, failed: false };
  } catch {
    // As in the workflow, the facts stand and it is looked at again; the test sees `failed`.
    run.agenda = null;
    run.waitsUntilMs = world.clock.epochMs + FAILURE_WAIT_MS;
    return { ...done, failed: true };
  }
}

async function performStep(
  { activities }: World,
  conversationId: string,
  step: Step,
): Promise<DeliverResult> {
  switch (step.kind) {
    case 'take-turn':
      return recorded(await activities.takeTurn({ conversationId }));
    case 'follow-up': {
      const { planId, step: number } = step;
      return recorded(await activities.writeFollowUp({ conversationId, planId, step: number }));
    }
    case 'expire':
      return recorded(await activities.expireSend({ conversationId, sendId: step.sendId }));
    case 'escalate':
      return recorded(await activities.escalate({ conversationId, workItemId: step.workItemId }));
    case 'deliver':
      return activities.deliver({ conversationId, sendId: step.sendId });
    case 'resolve':
      return activities.resolve({ conversationId, sendId: step.sendId });
  }
}

async function record(
  { activities }: World,
  conversationId: string,
  acceptance: UnrecordedAcceptance,
): Promise<DeliverResult> {
  return recorded(await activities.recordAccepted({ conversationId, acceptance }));
}

function recorded(agenda: Agenda): DeliverResult {
  return { kind: 'recorded', agenda };
}

/**
 * Runs everything of a conversation once more, as stale timers, repeated tasks and late workers
 * would: what ended must stay ended.
 */
export async function repeatEverything(world: World, conversationId: string): Promise<void> {
  const sends = await world.rows('select id from outbox where conversation_id = $1', [
    conversationId,
  ]);
  const steps = await world.rows(
    'select plan_id, step from follow_up_steps where conversation_id = $1',
    [conversationId],
  );
  const { activities } = world;
  for (const { id } of sends) {
    const send = { conversationId, sendId: String(id) };
    await activities.deliver(send);
    await activities.resolve(send);
    await activities.expireSend(send);
  }
  for (const { plan_id: planId, step } of steps) {
    await activities.writeFollowUp({ conversationId, planId: String(planId), step: Number(step) });
  }
  await activities.takeTurn({ conversationId });
}
