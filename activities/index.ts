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
    recordAccepted: async ({ conversationId, acceptance }) => {
      const now = await dependencies.clock.now();
      // The channel is not known here: the day-1 step follows the calendar, and the gate judges it.
      const call = { replyWindowMs: null, now };
      const { markerPool } = dependencies;
      const filed = await recordAcceptance(markerPool, conversationId, acceptance, call);
      return filed.agenda;
    },
    deliver: (input) => withHeartbeat(dependencies.beat, () => deliver(dependencies, input)),
    resolve: (input) => withHeartbeat(dependencies.beat, () => resolve(dependencies, input)),
  };
}
