import {
  entry,
  type AttemptFact,
  type DecisionFact,
  type OutcomeFact,
  type SendFact,
  type TimelineEntry,
  type TimelineFacts,
  type TraceFact,
} from './timeline-facts';
import { explainDecision } from './explanation';
import { staffDecisionText } from './timeline-staff';
import { durationWords, purposeName, stopClause } from './timeline-words';

/** What was decided, tried, sent, not sent and why not: everything about the messages we send. */
export function sendEntries(facts: TimelineFacts): TimelineEntry[] {
  const sends = new Map(facts.sends.map((send) => [send.id, send]));
  const shown = new Set(facts.messages.flatMap(({ sendId }) => sendId ?? []));
  const purposeOf = (sendId: string) => purposeName(sends.get(sendId)?.purpose ?? '');
  return [
    ...facts.decisions.map((decision) => decided(facts, decision, sends.get(decision.sendId))),
    ...facts.sends.flatMap((send) => upcoming(facts, send)),
    ...facts.attempts.map((attempt) => attempted(attempt, purposeOf(attempt.sendId))),
    ...facts.outcomes.map((outcome) => ended(outcome, sends.get(outcome.sendId))),
    ...facts.sends.flatMap((send) => [...notSent(send, shown.has(send.id)), ...stopped(send)]),
    ...latencies(facts.traces),
  ];
}

const WAITING = ['queued', 'leased', 'sending'];

function decided(
  { timeZone }: TimelineFacts,
  decision: DecisionFact,
  send: SendFact | undefined,
): TimelineEntry {
  const waits = send !== undefined && WAITING.includes(send.state);
  return entry({
    id: decision.id,
    kind: 'decision',
    at: decision.evaluatedAt,
    text: [decisionText(decision, send?.purpose ?? ''), reasonText(decision, timeZone)]
      .filter((part) => part !== '')
      .join(' '),
    tone: decision.reason === 'rate-limit-backoff' ? 'warning' : 'quiet',
    // A message that has left stands in the thread; one that waits is only seen here.
    quote: waits ? send.body : null,
  });
}

function decisionText(decision: DecisionFact, purpose: string): string {
  const noun = purposeName(purpose);
  const waitMs = Date.parse(decision.notBefore) - Date.parse(decision.evaluatedAt);
  const wait = waitMs > 0 ? `in ${durationWords(waitMs)}` : 'at once';
  const byStaff = staffDecisionText(decision.rule, noun, wait);
  if (byStaff !== null) return byStaff;
  switch (decision.reason) {
    case 'immediate-first-response':
      return purpose === 'opt-out-confirmation'
        ? 'Decided to confirm the opt-out, once and at once.'
        : `Decided to send the ${noun} at once.`;
    case 'rate-limit-backoff':
      return `The provider did not take the ${noun}; the next try is ${wait}.`;
    case 'manual-review':
      return `The ${noun} waits until a person has looked at it.`;
    case 'escalation-window':
      return `The ${noun} waits for the escalation; it may leave ${wait}.`;
    default:
      return `${followUpDay(decision.rule) ?? `Decided on the ${noun}`}; it may leave ${wait}.`;
  }
}

const EXPLAINED = ['business-rule-delay', 'escalation-window'];

/** Why, where the decision holds something back or took the place of another one. */
function reasonText(decision: DecisionFact, timeZone: string): string {
  const { reason, rule, supersedesId } = decision;
  const plain = rule?.startsWith('staff-') !== true && EXPLAINED.includes(reason);
  if (!plain || (supersedesId === null && !waits(decision))) return '';
  return explainDecision(decision, timeZone);
}

function waits({ notBefore, evaluatedAt }: DecisionFact): boolean {
  return Date.parse(notBefore) > Date.parse(evaluatedAt);
}

/** What waits for its time stands among what comes, with the reason of its last decision. */
function upcoming({ decisions, timeZone }: TimelineFacts, send: SendFact): TimelineEntry[] {
  const last = decisions.findLast(({ sendId }) => sendId === send.id);
  if (send.state !== 'queued' || last === undefined || !waits(last)) return [];
  const noun = purposeName(send.purpose);
  return [
    entry({
      id: `${send.id}:upcoming`,
      kind: 'decision',
      at: last.notBefore,
      text: `${noun.charAt(0).toUpperCase()}${noun.slice(1)}. ${explainDecision(last, timeZone)}`,
      tone: 'info',
      quote: send.body,
      upcoming: true,
    }),
  ];
}

function followUpDay(rule: string | null): string | null {
  const day = /^follow-up-day-(\d+)$/.exec(rule ?? '')?.[1];
  return day === undefined ? null : `The follow-up of day ${day} is due`;
}

function attempted(attempt: AttemptFact, noun: string): TimelineEntry {
  return entry({
    id: attempt.id,
    kind: 'attempt',
    at: attempt.startedAt,
    text: `Attempt ${attempt.number}: every rule allowed the ${noun}, and it went to the provider.`,
    tone: 'quiet',
  });
}

const PROOFS = new Map([
  ['response', 'The provider accepted it.'],
  ['read-back', "It was found in the provider's thread, so it had been sent."],
  ['status', "The provider's report proves that it was sent."],
  ['marker', 'It was marked as sent right after the provider accepted it.'],
  ['echo', "The provider's copy of the thread proves that it was sent."],
  ['review', 'A person confirmed that it arrived.'],
]);

function ended(outcome: OutcomeFact, send: SendFact | undefined): TimelineEntry {
  const base = {
    id: `${outcome.attemptId}:${outcome.ordinal}`,
    kind: 'outcome',
    at: outcome.recordedAt,
  } as const;
  const code = outcome.code === null ? '' : ` (${outcome.code})`;
  switch (outcome.outcome) {
    case 'accepted':
      return entry({
        ...base,
        text: PROOFS.get(outcome.evidence) ?? 'It was sent.',
        tone: 'quiet',
      });
    case 'not-accepted':
      return entry({ ...base, text: refusalText(outcome, code), tone: 'warning' });
    default:
      return entry({
        ...base,
        ...unknownWords(outcome, code),
        quote: quoteOfUnknown(outcome, send),
      });
  }
}

function refusalText(outcome: OutcomeFact, code: string): string {
  if (outcome.evidence === 'review') return 'A person found that it did not arrive.';
  return outcome.code === 'call_not_started'
    ? 'Too much time passed between the last check and the call, so nothing was sent.'
    : `The provider refused it${code}; nothing was sent.`;
}

function unknownWords(
  outcome: OutcomeFact,
  code: string,
): { readonly text: string; readonly tone: 'warning' | 'bad' } {
  return outcome.evidence === 'response'
    ? {
        text: `The provider's answer was lost${code}; whether the message arrived is not known yet.`,
        tone: 'warning',
      }
    : {
        text: `Nothing proves whether the message arrived${code}. It is not sent again by itself.`,
        tone: 'bad',
      };
}

/** Quoted once: where the review began, not where the answer was lost. */
function quoteOfUnknown(outcome: OutcomeFact, send: SendFact | undefined): string | null {
  const isReviewed = send?.state === 'delivery_unknown' && outcome.evidence !== 'response';
  return isReviewed ? send.body : null;
}

function notSent(send: SendFact, isInThread: boolean): TimelineEntry[] {
  const ends = send.state === 'cancelled' || send.state === 'failed';
  // What was accepted and failed later stands in the thread, marked as failed.
  if (!ends || isInThread || send.endedAt === null) return [];
  const noun = purposeName(send.purpose);
  const why =
    send.state === 'failed' && send.endReason !== 'did_not_arrive'
      ? `the provider refused it (${send.endReason ?? 'no code'})`
      : stopClause(send.endReason);
  return [
    entry({
      id: `${send.id}:end`,
      kind: 'not-sent',
      at: send.endedAt,
      text: `The ${noun} was not sent: ${why}.`,
      tone: send.state === 'failed' ? 'bad' : 'info',
      quote: send.body,
    }),
  ];
}

function stopped(send: SendFact): TimelineEntry[] {
  if (send.stopRequestedAt === null) return [];
  const noun = purposeName(send.purpose);
  const verdict =
    send.stopVerdict === null
      ? ''
      : ` The provider accepted it ${send.stopVerdict === 'before' ? 'before' : 'after'} that.`;
  return [
    entry({
      id: `${send.id}:stop`,
      kind: 'not-sent',
      at: send.stopRequestedAt,
      text: `The ${noun} was already on its way when it should stop: ${stopClause(send.stopCause)}.${verdict}`,
      tone: 'warning',
    }),
  ];
}

/** One line per answer, counted from the oldest message that it answers (L1). */
function latencies(traces: readonly TraceFact[]): TimelineEntry[] {
  const oldest = new Map<string, TraceFact>();
  for (const trace of traces) {
    const known = oldest.get(trace.sendId);
    if (known === undefined || trace.ingressAcceptedAt < known.ingressAcceptedAt) {
      oldest.set(trace.sendId, trace);
    }
  }
  return [...oldest.values()].flatMap((trace) => [...answeredAfter(trace), ...visible(trace)]);
}

function answeredAfter(trace: TraceFact): TimelineEntry[] {
  if (trace.providerAcknowledgedAt === null) return [];
  const base = {
    id: `${trace.sendId}:latency`,
    kind: 'latency',
    at: trace.providerAcknowledgedAt,
  } as const;
  const totalMs = Date.parse(trace.providerAcknowledgedAt) - Date.parse(trace.ingressAcceptedAt);
  if (totalMs < 0) {
    const text = 'Answered; two clocks disagree, so the time it took cannot be told.';
    return [entry({ ...base, text, tone: 'warning' })];
  }
  const parts = [
    trace.decisionMs === null ? [] : [`${durationWords(trace.decisionMs)} to decide`],
    trace.sendMs === null ? [] : [`${durationWords(trace.sendMs)} at the provider`],
  ].flat();
  const detail = parts.length === 0 ? '' : ` (${parts.join(', ')})`;
  const text = `Answered ${durationWords(totalMs)} after the message arrived${detail}.`;
  return [entry({ ...base, text, tone: 'good' })];
}

function visible(trace: TraceFact): TimelineEntry[] {
  if (trace.visibleAt === null) return [];
  return [
    entry({
      id: `${trace.sendId}:visible`,
      kind: 'outcome',
      at: trace.visibleAt,
      text: 'The lead can see it.',
      tone: 'quiet',
    }),
  ];
}
