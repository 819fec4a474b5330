import {
  condition,
  continueAsNew,
  isCancellation,
  log,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  TemporalFailure,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  ConversationRef,
  DeliverResult,
  LocalActivities,
  ProviderActivities,
} from '../activities/contract';
import { nextMove, type Agenda, type Move, type Step } from '../domain/agenda';
import { CALL_TIMEOUT_MS, CONTINUE_AS_NEW_EVENTS, CONTINUE_AS_NEW_SIGNALS } from '../domain/limits';
import { Alarm } from './alarm';
import {
  agendaQuery,
  escalatedKey,
  inboundReplySignal,
  ownerKey,
  staffActionSignal,
  stateKey,
  wakeSignal,
} from './contract';
import { describeAgenda, describeStep } from './details';

const local = proxyLocalActivities<LocalActivities>({
  startToCloseTimeout: '2s',
  // A turn's whole budget, retries included: far under the two minutes of T4.
  scheduleToCloseTimeout: '30s',
  localRetryThreshold: '1s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumAttempts: 3 },
});

const provider = proxyActivities<ProviderActivities>({
  startToCloseTimeout: CALL_TIMEOUT_MS + 5_000,
  heartbeatTimeout: '3s',
  // A second attempt could be a second message: what became of the first decides (C6).
  retry: { maximumAttempts: 1 },
});

const FAILURE_WAIT_MS_MIN = 5_000;
const FAILURE_WAIT_MS_MAX = 60_000;

/**
 * One conversation, level-triggered (design.md 3): woken by a signal or its alarm, it asks what is
 * due, does that one step, and gets a fresh agenda back. It keeps no copy of the conversation, so
 * lost, repeated and reordered signals change nothing, and a new run has nothing to carry over.
 */
export async function conversation(input: ConversationRef): Promise<void> {
  let dirty = true;
  let signals = 0;
  const lookAgain = (): void => {
    dirty = true;
    signals += 1;
  };
  let agenda: Agenda | null = null;
  setHandler(inboundReplySignal, lookAgain, { description: 'The lead wrote: look again.' });
  setHandler(staffActionSignal, lookAgain, { description: 'Staff acted: look again.' });
  setHandler(wakeSignal, lookAgain, { description: 'Something is overdue: look again.' });
  setHandler(agendaQuery, () => agenda, { description: 'What is due, as last read.' });

  const alarm = new Alarm();
  let failures = 0;
  let readAt = Date.now();
  for (;;) {
    if (mustRoll(signals)) await continueAsNew<typeof conversation>(input);
    let move: Move;
    if (dirty || agenda === null) {
      // The flag is cleared before the step: what comes during the step is looked at after it.
      dirty = false;
      move = { kind: 'do', step: { kind: 'take-turn' } };
    } else {
      move = nextMove(agenda, Date.now() - readAt);
    }
    if (move.kind === 'complete') return;
    if (move.kind === 'wait') {
      await alarm.ring(move.waitMs, () => dirty, describeStep(move.step));
      continue;
    }
    try {
      const fresh: Agenda = await perform(input, move.step);
      agenda = showAgenda(agenda, fresh);
      readAt = Date.now();
      // Looking again is no success of what failed; else a step that always fails would spin.
      if (move.step.kind !== 'take-turn') failures = 0;
    } catch (error) {
      if (!isStepFailure(error)) throw error;
      log.warn('a step failed; the facts stand and it is looked at again', {
        step: move.step.kind,
      });
      agenda = null;
      const waitMs = failureWaitMs(move.step, failures);
      failures += 1;
      if (waitMs > 0) await condition(() => dirty, waitMs, { summary: 'after a failed step' });
    }
  }
}

/**
 * How long to wait before looking again. A worker that died in a provider step is no reason to
 * wait: its lease or the attempt's limit says when the send may be touched again.
 */
function failureWaitMs(step: Step, failures: number): number {
  const died = step.kind === 'deliver' || step.kind === 'resolve';
  return died && failures === 0 ? 0 : growingWaitMs(failures);
}

/** Doubles with each failure in a row, up to a minute: an outage of hours must not fill the history. */
function growingWaitMs(failures: number): number {
  return Math.min(FAILURE_WAIT_MS_MIN * 2 ** failures, FAILURE_WAIT_MS_MAX);
}

/** Runs stay short, so that a worker that lost its cache replays quickly (performance.md). */
function mustRoll(signals: number): boolean {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  return (
    historyLength >= CONTINUE_AS_NEW_EVENTS ||
    signals >= CONTINUE_AS_NEW_SIGNALS ||
    continueAsNewSuggested
  );
}

/**
 * Does one step. A turn is also how the facts are read afresh: it looks under the lock whether
 * anything is owed and returns the agenda either way, one local activity instead of two.
 */
async function perform(ref: ConversationRef, step: Step): Promise<Agenda> {
  const { conversationId } = ref;
  switch (step.kind) {
    case 'take-turn':
      return local.takeTurn({ conversationId });
    case 'follow-up':
      return local.writeFollowUp({ conversationId, planId: step.planId, step: step.step });
    case 'expire':
      return local.expireSend({ conversationId, sendId: step.sendId });
    case 'escalate':
      return local.escalate({ conversationId, workItemId: step.workItemId });
    case 'deliver':
      return recorded(ref, await deliver(ref, step.sendId));
    case 'resolve':
      return recorded(ref, await resolve(ref, step.sendId));
  }
}

function deliver({ conversationId }: ConversationRef, sendId: string): Promise<DeliverResult> {
  return provider.deliver.executeWithOptions({ summary: `send ${sendId}` }, [
    { conversationId, sendId },
  ]);
}

function resolve({ conversationId }: ConversationRef, sendId: string): Promise<DeliverResult> {
  return provider.resolve.executeWithOptions({ summary: `find out what became of ${sendId}` }, [
    { conversationId, sendId },
  ]);
}

/**
 * Says whether a step failed, rather than the code. An activity's failure comes wrapped, that of a
 * local activity bare; a plain error is neither and pauses the conversation until a fix.
 */
function isStepFailure(error: unknown): boolean {
  return error instanceof TemporalFailure && !isCancellation(error);
}

/** An acceptance that Postgres refused is recorded before any other step, however long it takes (T8). */
async function recorded(ref: ConversationRef, result: DeliverResult): Promise<Agenda> {
  if (result.kind === 'recorded') return result.agenda;
  for (let failures = 0; ; failures += 1) {
    try {
      return await local.recordAccepted({
        conversationId: ref.conversationId,
        acceptance: result.acceptance,
      });
    } catch (error) {
      if (!isStepFailure(error)) throw error;
      log.error('an accepted send is not recorded yet', { sendId: result.acceptance.sendId });
      const summary = 'record an accepted send';
      await condition(() => false, growingWaitMs(failures), { summary });
    }
  }
}

/** Shows operators where the conversation stands (O4); search attributes only when they change. */
function showAgenda(previous: Agenda | null, fresh: Agenda): Agenda {
  setCurrentDetails(describeAgenda(fresh));
  const known = workflowInfo().typedSearchAttributes;
  const before = previous ?? {
    state: known.get(stateKey),
    owner: known.get(ownerKey),
    escalated: known.get(escalatedKey),
  };
  const { state, owner, escalated } = fresh;
  if (before.state !== state || before.owner !== owner || before.escalated !== escalated) {
    upsertSearchAttributes([
      { key: stateKey, value: state },
      { key: ownerKey, value: owner },
      { key: escalatedKey, value: escalated },
    ]);
  }
  return fresh;
}
