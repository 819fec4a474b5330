import { recordAcceptance } from '../db/record';
import type { LocalActivities, ProviderActivities } from './contract';
import { deliver } from './deliver';
import type { ActivityDependencies } from './dependencies';
import { escalateItem } from './escalate';
import { expireSend, writeFollowUp } from './follow-up';
import { withHeartbeat } from './heartbeat';
import { planningOf } from './recipient-zones';
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
    escalate: (input) => escalateItem(dependencies, input),
    recordAccepted: async ({ conversationId, acceptance }) => {
      const now = await dependencies.clock.now();
      const planning = await planningOf(dependencies, {
        conversationId,
        purpose: 'answer',
        channel: null,
      });
      const call = { ...planning, now };
      const { markerPool, reach } = dependencies;
      await reach('record:taken', acceptance.sendId);
      const filed = await recordAcceptance(markerPool, conversationId, acceptance, call);
      await reach('record:recorded', acceptance.sendId);
      return filed.agenda;
    },
    deliver: (input) => withHeartbeat(dependencies.beat, () => deliver(dependencies, input)),
    resolve: (input) => withHeartbeat(dependencies.beat, () => resolve(dependencies, input)),
  };
}
