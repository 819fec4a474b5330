import { timelineOf } from '../../../domain/timeline';
import type {
  DecisionFact,
  MessageFact,
  OutcomeFact,
  PlanFact,
  SendFact,
  TakeoverFact,
  TimelineEntry,
  TimelineFacts,
  TraceFact,
  TransitionFact,
  WorkItemFact,
} from '../../../domain/timeline-facts';

/** The instant `seconds` after noon, as the queries write instants. */
export function at(seconds: number): string {
  return new Date(Date.UTC(2026, 10, 30, 18) + seconds * 1_000).toISOString().replace('Z', '000Z');
}

export const message: MessageFact = {
  id: 'msg_1',
  seq: 1,
  direction: 'in',
  author: 'lead',
  text: 'My water heater leaks',
  media: [],
  unsupported: false,
  optOut: null,
  sendId: null,
  sourceAt: null,
  receivedAt: at(0),
  owes: true,
  settlement: null,
  settlementRef: null,
  settlementReason: null,
  settledAt: null,
  editedAt: null,
  deletedAt: null,
};

export const send: SendFact = {
  id: 'snd_1',
  purpose: 'answer',
  state: 'accepted',
  body: 'What is your ZIP code?',
  endReason: null,
  endedAt: null,
  stopRequestedAt: null,
  stopCause: null,
  stopVerdict: null,
};

export const decision: DecisionFact = {
  id: 'dec_1',
  sendId: 'snd_1',
  supersedesId: null,
  reason: 'immediate-first-response',
  rule: null,
  notBefore: at(0),
  expiresAt: null,
  evaluatedAt: at(0),
  policyVersion: 'policy-1',
  inputs: {},
};

export const outcome: OutcomeFact = {
  attemptId: 'att_1',
  ordinal: 1,
  sendId: 'snd_1',
  outcome: 'accepted',
  code: null,
  evidence: 'response',
  recordedAt: at(2),
};

export const transition: TransitionFact = {
  ordinal: 1,
  fromState: 'active',
  toState: 'replied',
  cause: 'lead_replied',
  changed: true,
  at: at(0),
};

export const workItem: WorkItemFact = {
  id: 'wrk_1',
  kind: 'handoff',
  explanation: 'The lead asked to talk to a person.',
  openedAt: at(0),
  resolvedAt: null,
  resolvedBy: null,
  resolution: null,
};

export const takeover: TakeoverFact = {
  eventId: 'tke_1',
  type: 'takeover.claimed',
  actorRef: 'support-agent',
  reason: 'operator_claimed',
  occurredAt: at(0),
};

export const trace: TraceFact = {
  sendId: 'snd_1',
  ingressAcceptedAt: at(0),
  providerAcknowledgedAt: at(1.3),
  visibleAt: null,
  decisionMs: 12,
  sendMs: 340,
};

export const plan: PlanFact = {
  id: 'pln_1',
  anchorAt: at(0),
  stoppedAt: null,
  stopReason: null,
  steps: [
    { step: 1, day: 1, dueAt: at(86_400), writtenAt: null },
    { step: 2, day: 3, dueAt: at(3 * 86_400), writtenAt: null },
    { step: 3, day: 7, dueAt: at(7 * 86_400), writtenAt: null },
  ],
};

export function tell(facts: Partial<TimelineFacts>): TimelineEntry[] {
  return timelineOf({
    timeZone: 'America/Chicago',
    channel: 'sms',
    messages: [],
    transitions: [],
    sends: [],
    decisions: [],
    attempts: [],
    outcomes: [],
    workItems: [],
    takeovers: [],
    plans: [],
    notes: [],
    traces: [],
    ...facts,
  });
}

export const lines = (facts: Partial<TimelineFacts>) =>
  tell(facts)
    .filter((entry) => entry.kind !== 'message')
    .map((entry) => `${entry.tone}: ${entry.text}`);
