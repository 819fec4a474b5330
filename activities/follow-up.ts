import type { PoolClient } from 'pg';
import { refreshAgenda } from '../db/agenda';
import { lockConversation, type Locked } from '../db/conversations';
import { inTransaction } from '../db/database';
import { expireSendOf } from '../db/expiry';
import {
  findOtherChannel,
  lockInOrder,
  readFollowUpContext,
  takeDueStep,
  windowClosesAtMs,
  type DueStep,
} from '../db/follow-ups';
import { queueSend } from '../db/outbox';
import { readPolicy } from '../db/policies';
import { openWorkItem } from '../db/work-items';
import type { Agenda } from '../domain/agenda';
import { allowedHours } from '../domain/allowed-hours';
import { mayLeave } from '../domain/conversation-state';
import { followUpText, routeFollowUp } from '../domain/follow-ups';
import { CHANNELS } from '../domain/inbound';
import { followUpSourceEvent } from '../domain/keys';
import { decideFollowUp, type PolicyDecision } from '../domain/policy';
import type { Template } from '../domain/policy-rules';
import type { RecipientZones } from '../domain/recipient-zone';
import type { SendRef, StepRef } from './contract';
import type { ActivityDependencies } from './dependencies';
import { recipientZonesOf } from './recipient-zones';

/** One due step while its transaction runs. */
interface Writing {
  readonly client: PoolClient;
  readonly locked: Locked;
  readonly due: DueStep;
  readonly recipient: RecipientZones;
  /** The same person's conversation on another channel; null where there is none. */
  readonly otherId: string | null;
  readonly replyWindowMs: number | null;
}

/**
 * Writes a follow-up's outbox row at its due time, from the present state (S6): where a reply, a
 * booking, an opt-out or a takeover stopped the plan, nothing is written. Its decision moves it
 * into allowed hours; outside the reply window it takes another way, or a person follows up.
 */
export async function writeFollowUp(
  dependencies: ActivityDependencies,
  { conversationId, planId, step }: StepRef,
): Promise<Agenda> {
  const { pool, senders } = dependencies;
  const now = await dependencies.clock.now();
  // Look-ups stand before the transaction: they read files, and hold no lock.
  const recipient = await recipientZonesOf(dependencies, conversationId);
  const windowless = CHANNELS.filter((channel) => senders[channel].replyWindowMs === null);
  const otherId = await findOtherChannel(pool, conversationId, windowless);
  const agenda = await inTransaction(pool, async (client) => {
    if (otherId !== null) await lockInOrder(client, [conversationId, otherId]);
    const locked = await lockConversation(client, conversationId, now);
    if (locked === null) throw new Error('a followed-up conversation does not exist');
    const { conversation, now: at } = locked;
    const due = await takeDueStep(client, { planId, step, at });
    if (due !== null && mayLeave('follow-up', conversation.state)) {
      const { replyWindowMs } = senders[conversation.channel];
      await write({ client, locked, due, recipient, otherId, replyWindowMs });
      await dependencies.reach('follow-up:written', planId);
    }
    if (otherId !== null) await refreshAgenda(client, otherId, now);
    return refreshAgenda(client, conversationId, now);
  });
  await dependencies.reach('follow-up:committed', planId);
  return agenda;
}

async function write(writing: Writing): Promise<void> {
  const { client, locked, due, recipient, otherId } = writing;
  const { conversation } = locked;
  const { rules, timeZone } = await readPolicy(client, conversation);
  const { previousMs, language } = await readFollowUpContext(client, conversation.id);
  const hours = allowedHours(rules, timeZone, recipient);
  const { day, dueAtMs } = due;
  const decision = decideFollowUp(rules, hours, { day, dueAtMs, previousMs, timeZone });
  const closesAtMs = await windowClosesAtMs(client, conversation.id, writing.replyWindowMs);
  const template = rules.templates[conversation.channel] ?? null;
  const text = followUpText(due.step, language);
  const route = routeFollowUp({
    notBeforeMs: Math.max(decision.notBeforeMs, locked.nowMs),
    windowClosesAtMs: closesAtMs,
    template,
    otherChannelOpen: otherId !== null,
  });
  switch (route) {
    case 'same-channel':
      return queue(writing, { text, decision, template: null });
    case 'template':
      return queue(writing, { text: template?.text ?? text, decision, template });
    case 'other-channel':
      return queueElsewhere(writing, { text, decision, template: null });
    case 'by-hand':
      return followUpByHand(writing);
  }
}

interface Wording {
  readonly text: string;
  readonly decision: PolicyDecision;
  readonly template: Template | null;
}

async function queue(writing: Writing, wording: Wording): Promise<void> {
  const { client, locked, due } = writing;
  const { conversation, now: at } = locked;
  const { text, decision, template } = wording;
  const event = followUpSourceEvent(due.planId, due.step);
  await queueSend(client, conversation, {
    purpose: 'follow-up',
    body: text,
    verdict: null,
    // Its own event: a send that missed the window keeps its key, and this one is another way.
    sourceEvent: template === null ? event : `${event}:template`,
    coversSeq: conversation.lastInboundSeq,
    token: null,
    decision,
    turn: null,
    ...(template === null ? {} : { template }),
    at,
  });
}

async function queueElsewhere(writing: Writing, wording: Wording): Promise<void> {
  const { client, otherId, locked } = writing;
  const other = otherId === null ? null : await lockConversation(client, otherId, locked.now);
  // Between the look and the lock the lead may have stopped it there.
  if (other === null || !mayLeave('follow-up', other.conversation.state)) {
    return followUpByHand(writing);
  }
  return queue({ ...writing, locked: other }, wording);
}

async function followUpByHand({ client, locked, due }: Writing): Promise<void> {
  const { conversation, now: at } = locked;
  await openWorkItem(client, {
    businessId: conversation.businessId,
    conversationId: conversation.id,
    kind: 'follow-up-by-hand',
    reason: 'window_closed',
    explanation: `The follow-up of day ${due.day} is due, but the channel no longer allows one. Follow up by hand.`,
    at,
  });
}

/**
 * Ends a send whose time has passed (C3): cancelled as expired, and where it was an owed answer,
 * handed to a person in the same transaction.
 */
export async function expireSend(
  dependencies: ActivityDependencies,
  { conversationId, sendId }: SendRef,
): Promise<Agenda> {
  const now = await dependencies.clock.now();
  const agenda = await inTransaction(dependencies.pool, async (client) => {
    const locked = await lockConversation(client, conversationId, now);
    if (locked === null) throw new Error('an expired send has no conversation');
    if (await expireSendOf(client, locked.conversation, { sendId, at: locked.now })) {
      await dependencies.reach('expire:ended', sendId);
    }
    return refreshAgenda(client, conversationId, now);
  });
  await dependencies.reach('expire:committed', sendId);
  return agenda;
}
