import type { AcceptedSend, World } from '../machine/world';
import { checkAttempt } from './attempts';
import { checkConversation } from './conversation';

/** Every invariant of docs/invariants.md that shows after one step; empty where all hold. */
export function checkWorld(world: World): string[] {
  const { shadow, facts } = world;
  const broken = facts.conversations.flatMap((conversation) =>
    conversation.born ? checkConversation(world, conversation) : [],
  );
  for (const attempt of facts.attempts.slice(shadow.attemptsSeen)) {
    broken.push(...checkAttempt(world, attempt));
  }
  shadow.attemptsSeen = facts.attempts.length;
  broken.push(...checkStatuses(world));
  if (world.accepted.length > shadow.acceptedSeen) broken.push(...checkLedger(world));
  shadow.acceptedSeen = world.accepted.length;
  return broken;
}

const ORDER = ['queued', 'sent', 'delivered', 'read'];

/** INV-16: a message's status only moves up, and what failed stays failed. */
function checkStatuses(world: World): string[] {
  const broken: string[] = [];
  for (const [key, { status }] of Object.entries(world.facts.providerMessages)) {
    if (status === null) continue;
    const before = world.shadow.statuses[key];
    world.shadow.statuses[key] = status;
    if (before === undefined || before === status) continue;
    const rose = before !== 'failed' && ORDER.indexOf(status) > ORDER.indexOf(before);
    if (rose || status === 'failed') continue;
    broken.push(`INV-16: the status of ${key} moved from ${before} to ${status}`);
  }
  return broken;
}

/** INV-10, by the provider's ledger: one acceptance per key, one answer per set of messages. */
function checkLedger(world: World): string[] {
  const broken: string[] = [];
  const newest = world.accepted.at(-1);
  for (const earlier of world.accepted.slice(0, -1)) {
    if (newest === undefined) break;
    if (earlier.sendId === newest.sendId) {
      broken.push(`INV-10: the provider accepted ${newest.sendId} twice`);
    } else if (!hasFailed(world, earlier) && answerTo(world, earlier) === answerTo(world, newest)) {
      broken.push(`INV-10: ${earlier.sendId} and ${newest.sendId} answer the same messages`);
    }
  }
  return broken;
}

function hasFailed(world: World, { conversation: c, sendId }: AcceptedSend): boolean {
  const send = world.facts.conversations[c]?.sends.find(({ id }) => id === sendId);
  return send?.state === 'failed';
}

function answerTo(world: World, accepted: World['accepted'][number]): string {
  const conversation = world.facts.conversations[accepted.conversation];
  const send = conversation?.sends.find(({ id }) => id === accepted.sendId);
  if (send?.purpose !== 'answer') return accepted.sendId;
  return `${accepted.conversation}/${send.coversSeq}`;
}
