/** A message of a lead, as the provider of the sandbox has it. */
export interface LeadMessage {
  readonly channel: string;
  readonly lead: string;
  readonly providerMessageId: string;
  readonly text: string;
  /** When the lead wrote it, epoch ms. */
  readonly writtenAtMs: number;
  /** When the app first answered its webhook with 2xx, epoch ms; null where it never did. */
  readonly deliveredAtMs: number | null;
  /** False where the product may well decide that nothing is owed (an opt-out). */
  readonly asks: boolean;
}

/** A send that the provider's ledger shows as accepted. */
export interface LedgerSend {
  readonly channel: string;
  readonly lead: string;
  readonly text: string;
  readonly providerMessageId: string;
  /** What the sender gave along: our attempt's id somewhere inside, or null. */
  readonly correlation: string | null;
  readonly acceptedAtMs: number;
}

/** What our own facts say of a lead's message. */
export interface StoredMessage {
  readonly providerMessageId: string;
  readonly conversationId: string;
  readonly owes: boolean;
  readonly settlement: 'reply' | 'person' | 'no-answer' | 'work-item' | null;
  readonly settlementRef: string | null;
  readonly settlementReason: string | null;
}

/** One gate's commit, and the ids that the provider's answers named. */
export interface StoredAttempt {
  readonly attemptId: string;
  readonly sendId: string;
  readonly conversationId: string;
  readonly state: string;
  readonly providerMessageIds: readonly string[];
}

/** Something that we did to the system, as a reason for what is not answered. */
export interface Disturbance {
  readonly atMs: number;
  readonly what: string;
  /** Null where it met every channel. */
  readonly channel: string | null;
}

export interface Evidence {
  readonly written: readonly LeadMessage[];
  readonly ledger: readonly LedgerSend[];
  readonly stored: readonly StoredMessage[];
  readonly attempts: readonly StoredAttempt[];
  /** Digests of the bodies that were answered 2xx, one for each answer. */
  readonly deliveredBodies: readonly string[];
  /** How many raw rows have a digest. */
  readonly rawRows: ReadonlyMap<string, number>;
  readonly disturbances: readonly Disturbance[];
  /** Leads whose answer we kept away on purpose, and how. */
  readonly provoked: ReadonlyMap<string, string>;
  /** Sends that waited because their provider asked for it (T5: waiting is not lost). */
  readonly backedOff: ReadonlySet<string>;
}

/** A message, or a send, that something is to be said about. */
export interface Finding {
  readonly lead: string;
  readonly channel: string;
  readonly conversationId: string | null;
  readonly what: string;
}

export interface Verdict {
  readonly delivered: number;
  readonly neverDelivered: number;
  readonly answered: number;
  readonly handedOver: readonly Finding[];
  /** Of those handed over: on purpose. */
  readonly provoked: number;
  readonly unknown: readonly Finding[];
  readonly noAnswer: number;
  readonly lost: readonly Finding[];
  readonly doubled: readonly Finding[];
  /** Accepted more than ten seconds after the 200. */
  readonly late: readonly Finding[];
  /** As late, but the provider had asked to wait. */
  readonly waited: readonly Finding[];
  readonly veryLate: readonly Finding[];
  /** Handed over or unknown, and nothing that we did explains it. */
  readonly unexplained: readonly Finding[];
  readonly broken: readonly string[];
  /** From the 200 to the provider's acceptance, in ms, sorted. */
  readonly latenciesMs: readonly number[];
}

const LATE_MS = 10_000;
const VERY_LATE_MS = 300_000;
/** A disturbance explains what was written so long before or after it. */
const EXPLAINS_BEFORE_MS = 60_000;
const EXPLAINS_AFTER_MS = 60_000;

type Fate = 'answered' | 'handed over' | 'unknown' | 'no-answer' | 'lost';

/** The key of a lead: a name may be used on several channels. */
export function leadKey(lead: { readonly channel: string; readonly lead: string }): string {
  return `${lead.channel}/${lead.lead}`;
}

/** Which logical send each entry of the ledger belongs to; null where our facts do not know it. */
function sendsOfLedger({ ledger, attempts }: Evidence): (string | null)[] {
  const byAttempt = new Map(attempts.map((attempt) => [attempt.attemptId, attempt.sendId]));
  const byProviderId = new Map(
    attempts.flatMap(({ sendId, providerMessageIds }) =>
      providerMessageIds.map((id) => [id, sendId] as const),
    ),
  );
  return ledger.map(({ correlation, providerMessageId }) => {
    const attemptId = /att_[0-9a-f]{32}/.exec(correlation ?? '')?.[0];
    const sendId = attemptId === undefined ? undefined : byAttempt.get(attemptId);
    return sendId ?? byProviderId.get(providerMessageId) ?? null;
  });
}

interface FateOfMessage {
  readonly fate: Fate;
  readonly why: string;
}

function fateOf(
  message: LeadMessage,
  stored: StoredMessage | undefined,
  accepted: ReadonlyMap<string, number>,
): FateOfMessage {
  if (stored === undefined) return { fate: 'lost', why: 'no message row' };
  if (stored.owes) return fateOfDebt(stored, accepted);
  return message.asks
    ? { fate: 'lost', why: 'it asks and owes nothing' }
    : { fate: 'no-answer', why: 'owes nothing' };
}

function fateOfDebt(
  { settlement, settlementReason, settlementRef }: StoredMessage,
  accepted: ReadonlyMap<string, number>,
): FateOfMessage {
  const why = settlementReason ?? 'no reason';
  switch (settlement) {
    case null:
      return { fate: 'lost', why: 'it is still owed' };
    case 'no-answer':
      return { fate: 'no-answer', why };
    case 'person':
      return { fate: 'handed over', why: 'answered by a person' };
    case 'work-item':
      return { fate: why === 'delivery_unknown' ? 'unknown' : 'handed over', why };
    case 'reply':
      return accepted.has(settlementRef ?? '')
        ? { fate: 'answered', why: 'reply' }
        : { fate: 'lost', why: `settled by ${settlementRef ?? '?'}, which no provider accepted` };
  }
}

/** Sends that reached a lead twice: one logical send, or one text with nothing written between. */
function doubledSends(evidence: Evidence, sendIds: readonly (string | null)[]): Finding[] {
  const findings: Finding[] = [];
  const seen = new Set<string>();
  const byLead = new Map<string, { text: string; atMs: number }[]>();
  const conversations = new Map(evidence.attempts.map((it) => [it.sendId, it.conversationId]));
  evidence.ledger.forEach((send, index) => {
    const sendId = sendIds[index] ?? null;
    const conversationId = sendId === null ? null : (conversations.get(sendId) ?? null);
    const finding = { lead: send.lead, channel: send.channel, conversationId };
    if (sendId !== null && seen.has(sendId)) {
      findings.push({ ...finding, what: `${sendId} was accepted more than once` });
    } else if (isRepeated(evidence.written, byLead.get(leadKey(send)) ?? [], send)) {
      findings.push({ ...finding, what: `the same text again: ${send.text.slice(0, 60)}` });
    }
    if (sendId !== null) seen.add(sendId);
    const earlier = byLead.get(leadKey(send)) ?? [];
    byLead.set(leadKey(send), [...earlier, { text: send.text, atMs: send.acceptedAtMs }]);
  });
  return findings;
}

function isRepeated(
  written: readonly LeadMessage[],
  earlier: readonly { readonly text: string; readonly atMs: number }[],
  send: LedgerSend,
): boolean {
  const before = earlier.findLast(({ text }) => text === send.text);
  if (before === undefined) return false;
  return !written.some(
    (message) =>
      leadKey(message) === leadKey(send) &&
      message.writtenAtMs >= before.atMs &&
      message.writtenAtMs <= send.acceptedAtMs,
  );
}

/** Delivered bodies without their raw row, and sends that no attempt of ours stands for. */
function brokenLedgers(evidence: Evidence, sendIds: readonly (string | null)[]): string[] {
  const answers = new Map<string, number>();
  for (const digest of evidence.deliveredBodies) {
    answers.set(digest, (answers.get(digest) ?? 0) + 1);
  }
  const missing = [...answers].filter(
    ([digest, count]) => (evidence.rawRows.get(digest) ?? 0) < count,
  );
  const unlinked = evidence.ledger.filter((_send, index) => sendIds[index] === null);
  const unknowns = evidence.attempts.filter(({ state }) => state === 'delivery_unknown');
  return [
    ...missing.map(([digest]) => `INV-1: a delivered body has no raw row of its own: ${digest}`),
    ...(unlinked.length > unknowns.length
      ? [`INV-10: ${unlinked.length} accepted sends belong to no attempt of ours`]
      : []),
  ];
}

function explanationOf(evidence: Evidence, message: LeadMessage): string | null {
  const provoked = evidence.provoked.get(leadKey(message));
  if (provoked !== undefined) return provoked;
  const found = evidence.disturbances.filter(
    ({ atMs, channel }) =>
      (channel === null || channel === message.channel) &&
      atMs >= message.writtenAtMs - EXPLAINS_BEFORE_MS &&
      atMs <= message.writtenAtMs + EXPLAINS_AFTER_MS,
  );
  const distance = ({ atMs }: Disturbance) => Math.abs(atMs - message.writtenAtMs);
  const [nearest] = found.sort((left, right) => distance(left) - distance(right));
  return nearest?.what ?? null;
}

/** When the provider accepted each logical send first. */
function acceptances(
  { ledger }: Evidence,
  sendIds: readonly (string | null)[],
): ReadonlyMap<string, number> {
  const accepted = new Map<string, number>();
  ledger.forEach(({ acceptedAtMs }, index) => {
    const sendId = sendIds[index] ?? null;
    if (sendId !== null && !accepted.has(sendId)) accepted.set(sendId, acceptedAtMs);
  });
  return accepted;
}

/** One delivered message, judged. */
interface Judged extends Finding {
  readonly fate: Fate;
  readonly explanation: string | null;
  readonly isProvoked: boolean;
  /** Of an answered one: from the 200 to the acceptance. */
  readonly latencyMs: number | null;
  readonly waited: boolean;
}

function judgeAll(evidence: Evidence, sendIds: readonly (string | null)[]): Judged[] {
  const accepted = acceptances(evidence, sendIds);
  const stored = new Map(evidence.stored.map((row) => [row.providerMessageId, row]));
  return evidence.written.flatMap((message) => {
    const { channel, lead, deliveredAtMs } = message;
    if (deliveredAtMs === null) return [];
    const row = stored.get(message.providerMessageId);
    const { fate, why } = fateOf(message, row, accepted);
    const explanation = explanationOf(evidence, message);
    const acceptedAtMs = accepted.get(row?.settlementRef ?? '') ?? deliveredAtMs;
    return {
      lead,
      channel,
      conversationId: row?.conversationId ?? null,
      what: `${why}; ${explanation ?? 'nothing explains it'}`,
      fate,
      explanation,
      isProvoked: evidence.provoked.has(leadKey(message)),
      latencyMs: fate === 'answered' ? Math.max(acceptedAtMs - deliveredAtMs, 0) : null,
      waited: evidence.backedOff.has(row?.settlementRef ?? ''),
    };
  });
}

/**
 * Compares the providers' ledgers with our facts (INV-1, INV-6, INV-10): what became of every
 * message that a provider delivered, and whether anything reached a lead twice. Pure.
 */
export function judge(evidence: Evidence): Verdict {
  const sendIds = sendsOfLedger(evidence);
  const judged = judgeAll(evidence, sendIds);
  const of = (fate: Fate) => judged.filter((it) => it.fate === fate);
  const slow = judged
    .filter(({ latencyMs }) => latencyMs !== null && latencyMs > LATE_MS)
    .map((it) => ({ ...it, what: `${((it.latencyMs ?? 0) / 1000).toFixed(1)} s; ${it.what}` }));
  const withPerson = [...of('handed over'), ...of('unknown')];
  return {
    delivered: judged.length,
    neverDelivered: evidence.written.length - judged.length,
    answered: of('answered').length,
    handedOver: of('handed over'),
    provoked: of('handed over').filter(({ isProvoked }) => isProvoked).length,
    unknown: of('unknown'),
    noAnswer: of('no-answer').length,
    lost: of('lost'),
    doubled: doubledSends(evidence, sendIds),
    late: slow.filter(({ waited, isProvoked }) => !waited && !isProvoked),
    waited: slow.filter(({ waited, isProvoked }) => waited || isProvoked),
    veryLate: slow.filter(({ latencyMs }) => (latencyMs ?? 0) > VERY_LATE_MS),
    unexplained: withPerson.filter(({ explanation }) => explanation === null),
    broken: brokenLedgers(evidence, sendIds),
    latenciesMs: judged
      .flatMap(({ latencyMs }) => latencyMs ?? [])
      .sort((left, right) => left - right),
  };
}

const SHARE_MAX = 0.05;

/**
 * Why the run does not pass, in sentences; empty where it does. `mayBeLate` leaves the share of
 * late answers out, for runs in which the workers are down most of the time.
 */
export function failures(verdict: Verdict, mayBeLate = false): string[] {
  const { delivered, lost, doubled, late, veryLate, unexplained, broken } = verdict;
  const handedOver = verdict.handedOver.length - verdict.provoked;
  const most = Math.max(delivered * SHARE_MAX, 1);
  return [
    ...(lost.length > 0 ? [`lost ${lost.length}`] : []),
    ...(doubled.length > 0 ? [`doubled ${doubled.length}`] : []),
    ...(handedOver > most ? [`more than 5 % were handed over: ${handedOver}`] : []),
    ...(late.length > most && !mayBeLate ? [`more than 5 % were late: ${late.length}`] : []),
    ...(veryLate.length > 0 ? [`${veryLate.length} were more than five minutes late`] : []),
    ...(unexplained.length > 0 ? [`${unexplained.length} are explained by nothing`] : []),
    ...broken,
  ];
}
