import { planAgenda, type Agenda, type AgendaFacts, type OpenSend } from '../../../domain/agenda';
import { at, isOpen, type Conversation, type Facts, type Send } from './facts';
import { openHandoff } from './items';

/** `readAgenda` of db/agenda: the same facts, planned by the same rule. */
export function readAgenda(facts: Facts, conversation: Conversation, nowMs: number): Agenda {
  return planAgenda({
    nowMs,
    state: conversation.state,
    personOwns: conversation.owner === 'person',
    escalated: openHandoff(conversation) !== undefined,
    owedSince: conversation.owedSince === null ? null : String(conversation.owedSince),
    turnDueAtMs: conversation.turnDueAtMs,
    sendsHeld: at(facts.accounts, conversation.account).pausedAtMs !== null,
    sends: conversation.sends.filter(isOpen).map(toOpenSend),
    followUp: dueFollowUp(conversation),
    escalation: nextEscalation(conversation),
  });
}

function toOpenSend(send: Send): OpenSend {
  return {
    sendId: send.id,
    purpose: send.purpose,
    state: send.state === 'leased' || send.state === 'sending' ? send.state : 'queued',
    token: send.token === null ? null : String(send.token),
    stands: send.stands,
    awaitingApproval: false,
    notBeforeMs: send.notBeforeMs,
    expiresAtMs: send.expiresAtMs,
    leaseUntilMs: send.leaseUntilMs,
    attemptedAtMs: send.attemptedAtMs,
  };
}

function dueFollowUp(conversation: Conversation): AgendaFacts['followUp'] {
  if (conversation.state !== 'active' || conversation.owner !== 'automation') return null;
  for (const plan of conversation.plans) {
    if (plan.stopReason !== null) continue;
    const next = plan.steps.find((step) => !step.written);
    if (next !== undefined) return { planId: plan.id, step: next.step, dueAtMs: next.dueAtMs };
  }
  return null;
}

function nextEscalation(conversation: Conversation): AgendaFacts['escalation'] {
  let next: AgendaFacts['escalation'] = null;
  for (const { id, nextEscalationAtMs: dueAtMs, resolution } of conversation.items) {
    if (resolution !== null || dueAtMs === null) continue;
    if (next === null || dueAtMs < next.dueAtMs) next = { workItemId: id, dueAtMs };
  }
  return next;
}

/** `refreshAgenda` of db/agenda: ends every transaction that changed a conversation. */
export function refreshAgenda(facts: Facts, conversation: Conversation, nowMs: number): Agenda {
  const agenda = readAgenda(facts, conversation, nowMs);
  const dueInMs = agenda.items[0]?.dueInMs;
  conversation.nextDueAtMs = dueInMs === undefined ? null : nowMs + dueInMs;
  conversation.relayCount = 0;
  conversation.relayAtMs = null;
  const { oldestOwedAtMs, overdueFromMs } = conversation;
  if (oldestOwedAtMs !== null && overdueFromMs !== null) {
    // Nothing of the default rules delays an answer: ages never count from later than now (T5).
    conversation.overdueFromMs = Math.max(oldestOwedAtMs, Math.min(overdueFromMs, nowMs));
  }
  return agenda;
}
