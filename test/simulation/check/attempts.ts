import {
  MISSABLE_AGE_MS,
  SENDS_PER_10_MINUTES_MAX,
  SENDS_PER_DAY_MAX,
  SENDS_PER_HOUR_MAX,
  SENDS_PER_INBOUND_MAX,
} from '../../../domain/limits';
import { at, findSend, wasNotAccepted, type Attempt, type Conversation } from '../model/facts';
import type { World } from '../machine/world';

const HOUR_MS = 3_600_000;

/** Judges an attempt at the moment of its gate's commit, from what was committed before it. */
export function checkAttempt(world: World, attempt: Attempt): string[] {
  const conversation = at(world.facts.conversations, attempt.conversation);
  return [
    ...checkTimes(conversation, attempt),
    ...checkAgainst(world, conversation, attempt),
    ...checkFreshness(world, conversation, attempt),
    ...checkBudget(world, attempt),
  ];
}

function checkTimes(conversation: Conversation, attempt: Attempt): string[] {
  const send = findSend(conversation, attempt.sendId);
  const { startedAtMs, id } = attempt;
  const broken: string[] = [];
  if (startedAtMs < send.notBeforeMs) broken.push(`INV-9: ${id} began before its notBefore`);
  if (send.expiresAtMs !== null && startedAtMs >= send.expiresAtMs) {
    broken.push(`INV-9: ${id} began at or after its expiresAt`);
  }
  return broken;
}

function isAutomatic({ purpose }: Attempt): boolean {
  return purpose !== 'staff' && purpose !== 'opt-out-confirmation';
}

function checkAgainst(world: World, conversation: Conversation, attempt: Attempt): string[] {
  const broken: string[] = [];
  const earlier = world.facts.attempts.filter(
    ({ sendId, number }) => sendId === attempt.sendId && number < attempt.number,
  );
  if (!earlier.every(wasNotAccepted)) {
    broken.push(`INV-10: ${attempt.id} follows an attempt that nobody refused`);
  }
  const held = conversation.takeover.findLast(({ type }) => type !== 'takeover.requested');
  if (isAutomatic(attempt) && held?.type === 'takeover.claimed') {
    broken.push(`INV-15: ${attempt.id} began while a person owned the conversation`);
  }
  const open = conversation.items.some(({ kind, resolution }) => {
    return kind === 'handoff' && resolution === null;
  });
  if (isAutomatic(attempt) && open) {
    broken.push(`C7: ${attempt.id} began while a handoff was open`);
  }
  return [...broken, ...checkOptOut(world, attempt)];
}

/** Every message of the person, on every channel, in the order of the commits. */
function writtenBy(world: World, attempt: Attempt) {
  return world.facts.conversations
    .filter(({ address }) => address === attempt.address)
    .flatMap(({ messages }) => messages)
    .filter(({ author }) => author === 'lead')
    .sort((a, b) => a.commit - b.commit);
}

function checkOptOut(world: World, attempt: Attempt): string[] {
  const last = writtenBy(world, attempt).findLast(({ optOut }) => optOut !== null);
  if (last?.optOut !== 'stop') return [];
  if (attempt.purpose !== 'opt-out-confirmation') {
    return [`INV-13: ${attempt.id} left after the opt-out`];
  }
  const confirmations = world.facts.attempts.filter(
    (other) =>
      other.address === attempt.address &&
      other.purpose === attempt.purpose &&
      other.startedAtMs >= last.receivedAtMs &&
      !wasNotAccepted(other),
  );
  return confirmations.length > 1 ? [`INV-13: ${attempt.id} is a second confirmation`] : [];
}

function checkFreshness(world: World, conversation: Conversation, attempt: Attempt): string[] {
  const send = findSend(conversation, attempt.sendId);
  if (attempt.purpose === 'answer') {
    const missed = conversation.messages.some(
      ({ author, seq, receivedAtMs }) =>
        author === 'lead' &&
        seq > send.coversSeq &&
        receivedAtMs <= attempt.startedAtMs - MISSABLE_AGE_MS,
    );
    return missed ? [`INV-12: ${attempt.id} missed a message older than two seconds`] : [];
  }
  if (attempt.purpose !== 'follow-up') return [];
  const plan = conversation.plans.find(({ episode }) => episode === send.episode);
  const replied = writtenBy(world, attempt).some(({ commit }) => commit > (plan?.commit ?? 0));
  return replied ? [`INV-11: ${attempt.id} left after the lead wrote`] : [];
}

function checkBudget(world: World, attempt: Attempt): string[] {
  const { startedAtMs, address, id } = attempt;
  const within = (ms: number, others: readonly Attempt[]): number =>
    others.filter((other) => startedAtMs - other.startedAtMs < ms).length;
  const sent = world.facts.attempts.filter((other) => other.address === address);
  const broken: string[] = [];
  if (
    within(HOUR_MS / 6, sent) > SENDS_PER_10_MINUTES_MAX ||
    within(HOUR_MS, sent) > SENDS_PER_HOUR_MAX ||
    within(24 * HOUR_MS, sent) > SENDS_PER_DAY_MAX
  ) {
    broken.push(`INV-17b: ${id} exceeds the sends to one address`);
  }
  const followUps = sent.filter(({ purpose }) => purpose === 'follow-up');
  if (attempt.purpose === 'follow-up' && within(20 * HOUR_MS, followUps) > 1) {
    broken.push(`INV-17b: ${id} is a second follow-up of one day`);
  }
  const { lastInboundReceivedAtMs: since } = at(world.facts.conversations, attempt.conversation);
  const answers = sent.filter(
    (other) =>
      other.purpose !== 'follow-up' &&
      other.purpose !== 'staff' &&
      other.startedAtMs >= (since ?? Infinity) &&
      !wasNotAccepted(other),
  );
  const answersLead = attempt.purpose !== 'follow-up' && attempt.purpose !== 'staff';
  if (answersLead && answers.length > SENDS_PER_INBOUND_MAX) {
    broken.push(`INV-17b: ${id} is a third answer to one message`);
  }
  return broken;
}
