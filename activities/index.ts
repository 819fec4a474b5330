import { recordAcceptance } from '../db/record';
import type { LocalActivities, ProviderActivities } from './contract';
import { deliver } from './deliver';
import type { ActivityDependencies } from './dependencies';
import { expireSend, writeFollowUp } from './follow-up';
import { withHeartbeat } from './heartbeat';
import { resolve } from './resolve';
import { takeTurn } from './take-turn';

/** The activities of the queue `conversations`, over their dependencies. */
export function makeConversationActivities(
  dependencies: ActivityDependencies,
): LocalActivities & ProviderActivities {
  return {
    takeTurn: (input) => takeTurn(dependencies, input),
    writeFollowUp: (input) => writeFollowUp(dependencies, input),
    expireSend: (input) => expireSend(dependencies, input),
    recordAccepted: async ({ conversationId, acceptance }) =>
      recordAcceptance(dependencies.markerPool, conversationId, acceptance, {
        // The marker may be missing too; the window only matters for the day-1 step, so the
        // strictest reading is taken: the step is planned by the calendar and the gate judges it.
        replyWindowMs: null,
        now: await dependencies.clock.now(),
      }),
    deliver: (input) => withHeartbeat(dependencies.beat, () => deliver(dependencies, input)),
    resolve: (input) => withHeartbeat(dependencies.beat, () => resolve(dependencies, input)),
  };
}
