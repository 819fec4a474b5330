import type { Agenda } from '../../../domain/agenda';
import { mayLeave } from '../../../domain/conversation-state';
import { followUpSourceEvent } from '../../../domain/keys';
import { routeFollowUp } from '../../../domain/follow-ups';
import { decideFollowUp } from '../../../domain/policy';
import { DEFAULT_RULES } from '../../../domain/policy-rules';
import { refreshAgenda } from './agenda';
import { findSend, type Conversation, type Facts, type Plan, type PlanStep } from './facts';
import { afterRefusal } from './gate';
import { HOURS, TIME_ZONE } from './hours';
import { openItem } from './items';
import { endOpenSend, queueSend } from './outbox';

/** `writeFollowUp` of activities/follow-up: written at its due time, from the present state (S6). */
export function writeFollowUp(
  facts: Facts,
  conversation: Conversation,
  wanted: { readonly planId: string; readonly step: number },
  nowMs: number,
): Agenda {
  const plan = conversation.plans.find(({ id }) => id === wanted.planId);
  const step = plan?.steps.find((one) => one.step === wanted.step);
  const due =
    plan !== undefined &&
    step !== undefined &&
    plan.stopReason === null &&
    !step.written &&
    step.dueAtMs <= nowMs;
  if (due) {
    step.written = true;
    if (mayLeave('follow-up', conversation.state)) {
      writeStep(facts, conversation, { plan, step }, nowMs);
    }
  }
  return refreshAgenda(facts, conversation, nowMs);
}

function writeStep(
  facts: Facts,
  conversation: Conversation,
  { plan, step }: { readonly plan: Plan; readonly step: PlanStep },
  nowMs: number,
): void {
  const decision = decideFollowUp(DEFAULT_RULES, HOURS, {
    day: step.day,
    dueAtMs: step.dueAtMs,
    previousMs: previousMs(conversation),
    timeZone: TIME_ZONE,
  });
  const { lastInboundAtMs } = conversation;
  const { replyWindowMs } = facts;
  const route = routeFollowUp({
    notBeforeMs: Math.max(decision.notBeforeMs, nowMs),
    windowClosesAtMs:
      replyWindowMs === null || lastInboundAtMs === null ? null : lastInboundAtMs + replyWindowMs,
    template: null,
    otherChannelOpen: false,
  });
  if (route === 'by-hand') {
    openItem(facts, conversation, { kind: 'follow-up-by-hand', reason: 'window_closed', nowMs });
    return;
  }
  queueSend(facts, conversation, {
    purpose: 'follow-up',
    sourceEvent: followUpSourceEvent(plan.id, step.step),
    coversSeq: conversation.lastInboundSeq,
    token: null,
    decision,
  });
}

/** When the episode's last follow-up left or leaves. */
function previousMs(conversation: Conversation): number | null {
  const instants = conversation.sends
    .filter(({ purpose, episode }) => purpose === 'follow-up' && episode === conversation.episode)
    .filter(({ state }) => state !== 'cancelled' && state !== 'failed')
    .map(({ notBeforeMs, attemptedAtMs }) => Math.max(notBeforeMs, attemptedAtMs ?? 0));
  return instants.length === 0 ? null : Math.max(...instants);
}

/** `expireSend` of activities/follow-up: cancelled as expired, an owed answer to a person (C3). */
export function expireSend(
  facts: Facts,
  conversation: Conversation,
  sendId: string,
  nowMs: number,
): Agenda {
  const send = findSend(conversation, sendId);
  const free =
    send.state === 'queued' || (send.state === 'leased' && (send.leaseUntilMs ?? 0) <= nowMs);
  if (free && send.expiresAtMs !== null && send.expiresAtMs <= nowMs) {
    endOpenSend(send, 'cancelled', 'expired', nowMs);
    afterRefusal(facts, conversation, { send, reason: 'expired', nowMs });
  }
  return refreshAgenda(facts, conversation, nowMs);
}
