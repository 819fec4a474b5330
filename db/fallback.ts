import type { PoolClient } from 'pg';
import { mayLeave } from '../domain/conversation-state';
import { fallbackSourceEvent } from '../domain/keys';
import { fallbackAtOnce } from '../domain/policy';
import type { Template } from '../domain/policy-rules';
import { refreshAgenda } from './agenda';
import { lockConversation, readClock, type LockedConversation } from './conversations';
import { run, statement } from './database';
import { findOtherChannel } from './follow-ups';
import { queueSend } from './outbox';
import { readPolicy } from './policies';

interface FailedAnswer {
  readonly body: string;
  readonly coversSeq: number;
  readonly expiresAtMs: number;
}

/**
 * The failed send, if it may have a fallback: an answer that is no fallback itself, which nothing
 * newer has overtaken, and whose hour has not passed (C2).
 */
const findFailed = statement<FailedAnswer>(
  'find-failed-answer',
  `select o.body, o.covers_seq as "coversSeq",
     (extract(epoch from o.expires_at) * 1000)::float8 as "expiresAtMs"
   from outbox o join conversations c on c.id = o.conversation_id
   where o.id = $1 and o.state = 'failed' and o.purpose = 'answer' and o.fallback_for is null
     and o.template is null and o.expires_at > $2 and o.covers_seq >= c.last_inbound_seq
     and c.owner = 'automation'
     and not exists (select from outbox x where x.fallback_for = o.id)`,
);

/** Channels without a reply window: what the business starts there needs no template. */
const FALLBACK_CHANNELS = ['sms'];

/**
 * Queues the fallback that the policy names for an answer that was accepted and then failed (T3):
 * an approved template on the same channel, or the same text on another channel on which the person
 * wrote. Once per failed send, the unique index says; the debt stays with its work item.
 */
export async function queueFallback(
  client: PoolClient,
  conversation: LockedConversation,
  failed: { readonly sendId: string; readonly at: string },
): Promise<void> {
  const { sendId, at } = failed;
  const { rules } = await readPolicy(client, conversation);
  if (rules.fallback === 'none' || !mayLeave('answer', conversation.state)) return;
  const [answer] = await run(client, findFailed, [sendId, at]);
  if (answer === undefined) return;
  const template = rules.templates[conversation.channel];
  if (rules.fallback === 'template') {
    if (template !== undefined) {
      await queue(client, conversation, { ...failed, answer, body: template.text, template });
    }
    return;
  }
  const otherId = await findOtherChannel(client, conversation.id, FALLBACK_CHANNELS);
  const other = otherId === null ? null : await lockConversation(client, otherId, at);
  if (other === null || !mayLeave('answer', other.conversation.state)) return;
  await queue(client, other.conversation, { ...failed, answer, body: answer.body });
  await refreshAgenda(client, other.conversation.id, at);
}

interface Fallback {
  readonly sendId: string;
  readonly at: string;
  readonly answer: FailedAnswer;
  readonly body: string;
  readonly template?: Template;
}

async function queue(
  client: PoolClient,
  conversation: LockedConversation,
  fallback: Fallback,
): Promise<void> {
  const { sendId, at, answer, body, template } = fallback;
  const { nowMs } = await readClock(client, at);
  await queueSend(client, conversation, {
    purpose: 'answer',
    body,
    verdict: null,
    sourceEvent: fallbackSourceEvent(sendId),
    coversSeq: conversation.lastInboundSeq,
    token: null,
    decision: fallbackAtOnce(nowMs, answer.expiresAtMs, template === undefined),
    turn: null,
    fallbackFor: sendId,
    ...(template === undefined ? {} : { template }),
    at,
  });
}
