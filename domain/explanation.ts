import { Temporal } from 'temporal-polyfill';

/** A stored decision, as far as its explanation needs it. Instants are ISO 8601. */
export interface ExplainedDecision {
  readonly supersedesId: string | null;
  readonly reason: string;
  readonly rule: string | null;
  readonly notBefore: string;
  readonly expiresAt: string | null;
  readonly evaluatedAt: string;
  readonly policyVersion: string;
  readonly inputs: Readonly<Record<string, string | number | boolean | null>>;
}

/**
 * Says in one plain sentence why a send leaves when it does: "Waits until Tue 08:00 (recipient's
 * time, America/Chicago): quiet hours from 21:00 to 08:00." Times are the recipient's where quiet
 * hours decide, else the business's. Pure.
 */
export function explainDecision(decision: ExplainedDecision, businessTimeZone: string): string {
  const again = decision.supersedesId === null ? '' : supersession(decision);
  return `${again}${whenClause(decision, businessTimeZone)}: ${whyClause(decision)}.`;
}

function supersession({ inputs, policyVersion, reason, rule }: ExplainedDecision): string {
  if (reason === 'rate-limit-backoff' && inputs.policyChanged !== true) return '';
  if (isStaff(rule)) return 'Decided anew by a person. ';
  if (inputs.fromMs !== undefined) return 'Decided anew, because it waited past its hours. ';
  return `Decided anew under the rules ${policyVersion}. `;
}

function isStaff(rule: string | null): boolean {
  return rule !== null && rule.startsWith('staff-');
}

function whenClause(decision: ExplainedDecision, businessTimeZone: string): string {
  const { notBefore, evaluatedAt, reason, rule } = decision;
  if (reason === 'manual-review' && rule === 'awaits-approval') return 'Waits for a person';
  if (Date.parse(notBefore) <= Date.parse(evaluatedAt)) return 'May leave at once';
  const zone = recipientZone(decision);
  const local = localTime(notBefore, zone ?? businessTimeZone);
  const whose = zone === null ? "business's" : "recipient's";
  return `Waits until ${local} (${whose} time, ${zone ?? businessTimeZone})`;
}

/** The one zone of the recipient, where quiet hours moved the send; null where several count. */
function recipientZone({ inputs }: ExplainedDecision): string | null {
  const { movedBy, recipientZones } = inputs;
  const quiet = movedBy === 'quiet-hours' || movedBy === 'quiet-and-business-hours';
  if (!quiet || typeof recipientZones !== 'string' || recipientZones === '') return null;
  return recipientZones.includes(',') ? null : recipientZones;
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

function localTime(at: string, timeZone: string): string {
  const local = Temporal.Instant.from(at).toZonedDateTimeISO(timeZone);
  const time = local.toPlainTime().toString({ smallestUnit: 'minute' });
  return `${WEEKDAYS[local.dayOfWeek - 1] ?? ''} ${time}`;
}

function whyClause(decision: ExplainedDecision): string {
  switch (decision.reason) {
    case 'immediate-first-response':
      return immediateClause(decision.rule);
    case 'business-rule-delay':
      return delayClause(decision);
    case 'rate-limit-backoff':
      return backOffClause(decision);
    case 'manual-review':
      return REVIEW_CLAUSES.get(decision.rule ?? '') ?? 'a person looks at it first';
    case 'escalation-window':
      return `a person may answer first, for ${minutesOf(decision, 'escalationWindowMinutes')}`;
    default:
      return `the reason is “${decision.reason}”`;
  }
}

function immediateClause(rule: string | null): string {
  switch (rule) {
    case 'opt-out-confirmation':
      return 'an opt-out is confirmed once, whatever the hour';
    case 'fallback-template':
      return 'the answer failed, and an approved template replaces it once';
    case 'fallback-other-channel':
      return 'the answer failed, and another channel carries it once';
    case 'staff-reply':
      return 'a person wrote it';
    default:
      return 'an answer to a message that the lead just sent leaves at any hour';
  }
}

const REVIEW_CLAUSES = new Map([
  ['awaits-approval', 'the draft leaves once somebody approves it'],
  ['staff-approved', 'a person approved the draft'],
  ['staff-send-now', 'a person let it leave now'],
  ['staff-postpone', 'a person postponed it'],
]);

function delayClause(decision: ExplainedDecision): string {
  const { rule, inputs } = decision;
  if (rule === 'business-hours') return 'the business answers only in its business hours';
  const day = /^follow-up-day-(\d+)$/.exec(rule ?? '')?.[1];
  if (day === undefined) {
    return `the rule “${rule ?? 'delay'}” asks for ${minutesOf(decision, 'delayMinutes')}`;
  }
  if (inputs.leastBad === true) {
    return `no time suits every zone in which the recipient may be, and this one suits most`;
  }
  return movedClause(inputs) ?? `the follow-up of day ${day} is due`;
}

function movedClause({ movedBy, quietFrom, quietTo, recipientZones }: Inputs): string | null {
  const several = typeof recipientZones === 'string' && recipientZones.includes(',');
  const where = several ? ` in every zone in which the recipient may be` : '';
  const quiet = `quiet hours from ${quietFrom ?? ''} to ${quietTo ?? ''}${where}`;
  switch (movedBy) {
    case 'quiet-hours':
      return quiet;
    case 'business-hours':
      return 'the business is closed before';
    case 'quiet-and-business-hours':
      return `${quiet}, and the business is closed before`;
    default:
      return null;
  }
}

type Inputs = ExplainedDecision['inputs'];

function backOffClause({ inputs }: ExplainedDecision): string {
  const { code, attempt } = inputs;
  if (code === undefined) return 'the provider asked to wait';
  return `the provider did not take attempt ${attempt ?? 1} (${code ?? 'no code'})`;
}

function minutesOf({ inputs }: ExplainedDecision, key: string): string {
  const minutes = inputs[key];
  if (typeof minutes !== 'number') return 'a while';
  return minutes === 1 ? '1 minute' : `${minutes} minutes`;
}
