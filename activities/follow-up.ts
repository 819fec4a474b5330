import { refreshAgenda } from '../db/agenda';
import { lockConversation } from '../db/conversations';
import { inTransaction, run, statement } from '../db/database';
import { takeDueStep } from '../db/follow-ups';
import { afterRefusal } from '../db/gate';
import { endOpenSend, queueSend } from '../db/outbox';
import type { Agenda } from '../domain/agenda';
import { mayLeave } from '../domain/conversation-state';
import { followUpText } from '../domain/follow-ups';
import { followUpSourceEvent } from '../domain/keys';
import { followUpAt } from '../domain/policy';
import type { Purpose } from '../domain/sending';
import type { SendRef, StepRef } from './contract';
import type { ActivityDependencies } from './dependencies';

const readLanguage = statement<{ language: 'en' | 'es' }>(
  'read-lead-language',
  `select coalesce(understanding ->> 'language', 'en') as language from conversations where id = $1`,
);

/**
 * Writes a follow-up's outbox row at its due time, from the present state (S6): where a reply, a
 * booking, an opt-out or a takeover stopped the plan, nothing is written.
 */
export async function writeFollowUp(
  dependencies: ActivityDependencies,
  { conversationId, planId, step }: StepRef,
): Promise<Agenda> {
  const now = await dependencies.clock.now();
  return inTransaction(dependencies.pool, async (client) => {
    const locked = await lockConversation(client, conversationId, now);
    if (locked === null) throw new Error('a followed-up conversation does not exist');
    const { conversation, now: at } = locked;
    const due = await takeDueStep(client, { planId, step, at });
    if (due !== null && mayLeave('follow-up', conversation.state)) {
      const [row] = await run(client, readLanguage, [conversationId]);
      await queueSend(client, conversation, {
        purpose: 'follow-up',
        body: followUpText(due.step, row?.language ?? 'en'),
        verdict: null,
        sourceEvent: followUpSourceEvent(planId, step),
        coversSeq: conversation.lastInboundSeq,
        token: null,
        decision: followUpAt(due.dueAtMs, due.day),
        turn: null,
        at,
      });
    }
    return refreshAgenda(client, conversationId, now);
  });
}

const findExpired = statement<{ purpose: Purpose }>(
  'find-expired-send',
  `select purpose from outbox
   where id = $1 and expires_at <= $2
     and (state = 'queued' or (state = 'leased' and lease_until <= $2)) for update`,
);

/**
 * Ends a send whose time has passed (C3): cancelled as expired, and where it was an owed answer,
 * handed to a person in the same transaction.
 */
export async function expireSend(
  dependencies: ActivityDependencies,
  { conversationId, sendId }: SendRef,
): Promise<Agenda> {
  const now = await dependencies.clock.now();
  return inTransaction(dependencies.pool, async (client) => {
    const locked = await lockConversation(client, conversationId, now);
    if (locked === null) throw new Error('an expired send has no conversation');
    const { conversation, now: at } = locked;
    const [expired] = await run(client, findExpired, [sendId, at]);
    if (expired !== undefined) {
      await endOpenSend(client, sendId, { state: 'cancelled', reason: 'expired', at });
      const { purpose } = expired;
      await afterRefusal(client, conversation, { sendId, purpose, reason: 'expired', at });
    }
    return refreshAgenda(client, conversationId, now);
  });
}
