import { joinStatus, type DeliveryStatus } from '../../../domain/delivery-status';
import { planFollowUps } from '../../../domain/follow-ups';
import { DEFAULT_RULES } from '../../../domain/policy-rules';
import { moveSettlement, settleDebt } from './debt';
import {
  findAttempt,
  findSend,
  isOpen,
  type Conversation,
  type Facts,
  type ProviderMessage,
  type Send,
} from './facts';
import { HOURS, TIME_ZONE } from './hours';
import { openItem, resolveItemOfSend } from './items';
import { stopSends } from './stops';

export interface Acceptance {
  readonly sendId: string;
  readonly attemptId: string;
  readonly providerMessageId: string;
  readonly evidence: 'response' | 'marker' | 'read-back' | 'status' | 'echo' | 'review';
  readonly acceptedAtMs: number;
}

/** `fileAcceptance` of db/record: filing it twice changes nothing. */
export function fileAcceptance(
  facts: Facts,
  conversation: Conversation,
  acceptance: Acceptance,
  nowMs: number,
): void {
  const send = findSend(conversation, acceptance.sendId);
  const open = isOpen(send) || send.state === 'delivery_unknown';
  if (!open || send.attemptId !== acceptance.attemptId) {
    keepEvidence(facts, acceptance);
    return;
  }
  const wasUnknown = send.state === 'delivery_unknown';
  accept(send, acceptance);
  const { evidence, providerMessageId, acceptedAtMs } = acceptance;
  findAttempt(facts, acceptance.attemptId).outcomes.push({
    outcome: 'accepted',
    evidence,
    filed: true,
  });
  addSentMessage(facts, conversation, { send, acceptance, nowMs });
  settleAccepted(facts, conversation, send, { wasUnknown, evidence });
  if (send.purpose === 'answer' && conversation.state === 'active') {
    openPlan(facts, conversation, acceptedAtMs);
  }
  const known = noteProviderMessage(facts, conversation.account, {
    providerMessageId,
    attemptId: acceptance.attemptId,
    nowMs,
  });
  applyDeliveryStatus(facts, conversation, send, { ...known, nowMs });
}

/** An acceptance that moves nothing any more is kept as evidence, once. */
function keepEvidence(facts: Facts, { attemptId, evidence }: Acceptance): void {
  const { outcomes } = findAttempt(facts, attemptId);
  if (outcomes.some(({ outcome }) => outcome === 'accepted')) return;
  outcomes.push({ outcome: 'accepted', evidence, filed: false });
}

function accept(send: Send, acceptance: Acceptance): void {
  const { acceptedAtMs } = acceptance;
  send.state = 'accepted';
  send.leaseOwner = null;
  send.leaseUntilMs = null;
  send.providerMessageId = acceptance.providerMessageId;
  send.endedAtMs = acceptedAtMs;
  if (send.stopRequestedAtMs === null) return;
  send.stopVerdict = acceptedAtMs < send.stopRequestedAtMs ? 'before' : 'after';
}

function addSentMessage(
  facts: Facts,
  conversation: Conversation,
  sent: { readonly send: Send; readonly acceptance: Acceptance; readonly nowMs: number },
): void {
  const { send, acceptance, nowMs } = sent;
  conversation.lastSeq += 1;
  conversation.messages.push({
    seq: conversation.lastSeq,
    author: send.purpose === 'staff' ? 'staff' : 'automation',
    providerMessageId: acceptance.providerMessageId,
    text: null,
    optOut: null,
    sourceAtMs: acceptance.acceptedAtMs,
    receivedAtMs: nowMs,
    owes: false,
    commit: facts.commits,
    settlement: null,
    settledBy: null,
    reason: null,
  });
}

function settleAccepted(
  facts: Facts,
  conversation: Conversation,
  send: Send,
  { wasUnknown, evidence }: { readonly wasUnknown: boolean; readonly evidence: string },
): void {
  resolveItemOfSend(conversation, send.id, 'not-sent', 'sent');
  const settlement = { kind: 'reply', ref: send.id, reason: send.purpose } as const;
  if (wasUnknown) {
    const item = conversation.items.findLast(
      ({ sendId, kind }) => sendId === send.id && kind === 'delivery-unknown',
    );
    if (item !== undefined) moveSettlement(conversation, item.id, settlement);
    resolveItemOfSend(conversation, send.id, 'delivery-unknown', `proven_by_${evidence}`);
    return;
  }
  if (send.token === null) return;
  settleDebt(facts, conversation, { throughSeq: send.coversSeq, token: send.token, settlement });
}

function openPlan(facts: Facts, conversation: Conversation, anchorAtMs: number): void {
  if (conversation.plans.some(({ episode }) => episode === conversation.episode)) return;
  const { lastInboundAtMs } = conversation;
  const closesAtMs =
    facts.replyWindowMs === null || lastInboundAtMs === null
      ? null
      : lastInboundAtMs + facts.replyWindowMs;
  conversation.plans.push({
    id: `p${conversation.index}/${conversation.episode}`,
    episode: conversation.episode,
    anchorAtMs,
    commit: facts.commits,
    steps: planFollowUps({
      anchorMs: anchorAtMs,
      timeZone: TIME_ZONE,
      days: DEFAULT_RULES.followUpDays,
      windowClosesAtMs: closesAtMs,
      hours: facts.replyWindowMs === null ? null : HOURS,
    }).map((step) => ({ ...step, written: false })),
    stopReason: null,
  });
}

export interface Sighting {
  readonly providerMessageId: string;
  readonly attemptId: string | null;
  readonly nowMs: number;
}

/** `noteProviderMessage` of db/provider-messages: who comes first makes the row. */
export function noteProviderMessage(
  facts: Facts,
  account: number,
  seen: Sighting,
): ProviderMessage {
  const key = `${account}/${seen.providerMessageId}`;
  const known = (facts.providerMessages[key] ??= {
    attemptId: null,
    status: null,
    errorCode: null,
    echoedAtMs: null,
    firstSeenAtMs: seen.nowMs,
  });
  known.attemptId ??= seen.attemptId;
  return known;
}

/** `reportStatus` of db/provider-messages: it only moves up (INV-16). */
export function reportStatus(
  facts: Facts,
  account: number,
  seen: Sighting,
  status: DeliveryStatus,
): ProviderMessage {
  const known = noteProviderMessage(facts, account, seen);
  known.status = facts.mutant === 'status-moves-down' ? status : joinStatus(known.status, status);
  if (status === 'failed') known.errorCode ??= '30005';
  return known;
}

/** `applyDeliveryStatus` of db/delivery-evidence. */
export function applyDeliveryStatus(
  facts: Facts,
  conversation: Conversation,
  send: Send,
  report: Pick<ProviderMessage, 'status' | 'errorCode'> & { readonly nowMs: number },
): void {
  const { status, nowMs } = report;
  if (status === 'delivered' || status === 'read') {
    if (send.state === 'accepted') send.state = 'delivered';
    return;
  }
  const acknowledged = ['accepted', 'delivered', 'delivery_unknown'].includes(send.state);
  if (status !== 'failed' || !acknowledged) return;
  const reason = report.errorCode ?? 'unknown_code';
  send.state = 'failed';
  send.endReason = reason;
  const item = openItem(facts, conversation, {
    kind: 'delivery-failed',
    reason,
    sendId: send.id,
    nowMs,
  });
  moveSettlement(conversation, send.id, {
    kind: 'work-item',
    ref: item.id,
    reason: 'delivery_failed',
  });
  resolveItemOfSend(conversation, send.id, 'delivery-unknown', 'provider_reported_failure');
  // Who did not get this would not get the next one either.
  stopSends(conversation, 'follow-ups', 'delivery_failed', nowMs);
}
