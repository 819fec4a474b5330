import { cleanText } from '../../domain/text';
import { mayPostpone, postpone, sendNow, sendStaffReply } from '../../domain/staff-decisions';
import type { LockedConversation } from '../conversations';
import { run, runOne, statement } from '../database';
import { writeNote } from '../notes';
import { queueSend } from '../outbox';
import { supersedeDecision, type StandingSend } from '../superseding';
import { refuse, type Action, type RequestOf } from './action';
import type { Refusal } from './contract';
import { takeOver } from './ownership';

const readReach = statement<{ optedOut: boolean; sinceInboundMs: number | null }>(
  'read-reach-for-reply',
  `select d.opted_out_at is not null as "optedOut",
     (extract(epoch from $2::timestamptz - c.last_inbound_at) * 1000)::float8 as "sinceInboundMs"
   from conversations c join addresses d on d.id = c.address_id where c.id = $1`,
);

/**
 * Why a person's message cannot leave: opted out on any channel (INV-13), a closed reply window, or
 * a text that is no single message. Null where it can; the gate judges again when it leaves.
 */
export async function refuseMessage(
  { client, locked, channels }: Action,
  text: string,
): Promise<Refusal | null> {
  const { conversation, now } = locked;
  const reach = await runOne(client, readReach, [conversation.id, now]);
  if (reach.optedOut || conversation.state === 'opted_out') {
    return refuse(
      'opted_out',
      'The lead opted out, so nobody may send anything. Only their own consent (`opt-in`) changes that.',
    );
  }
  const windowMs = channels.replyWindowMs(conversation.channel);
  const closed = windowMs !== null && (reach.sinceInboundMs ?? windowMs) >= windowMs;
  if (closed) {
    return refuse(
      'window_closed',
      "The channel's reply window has closed. Reach the lead on another channel, or wait until they write.",
    );
  }
  if (text.trim() !== '' && channels.fits(conversation.channel, text)) return null;
  return refuse(
    'text_does_not_fit',
    'The text is empty or longer than one message of this channel may be. Change it and send again.',
  );
}

/**
 * `reply`: queues the person's message and takes the conversation over at once; what was owed
 * waits with the handoff, which closes when the provider accepts (T3).
 */
export async function reply(action: Action, request: RequestOf<'reply'>): Promise<Refusal | null> {
  const { client, locked, role, seenSeq } = action;
  const { conversation, now: at, nowMs } = locked;
  const text = cleanText(request.text).trim();
  const refusal = await refuseMessage(action, text);
  if (refusal !== null) return refusal;
  await takeOver(action, 'staff_reply');
  const sendId = await queueSend(client, conversation, {
    purpose: 'staff',
    body: text,
    verdict: null,
    sourceEvent: `staff:${action.idempotencyKey}`,
    // A message that the person did not see is not answered by theirs.
    coversSeq: seenSeq === null ? conversation.lastSeq : Math.min(seenSeq, conversation.lastSeq),
    token: null,
    decision: sendStaffReply(nowMs, role),
    turn: null,
    at,
  });
  if (sendId === null) throw new Error('a reply was queued before its command was known');
  return null;
}

const findWaiting = statement<StandingSend>(
  'find-waiting-sends',
  `select id, purpose, decision_id as "decisionId", cancel_on_inbound as "cancelOnInbound",
     (extract(epoch from not_before) * 1000)::float8 as "notBeforeMs",
     (extract(epoch from expires_at) * 1000)::float8 as "expiresAtMs"
   from outbox where conversation_id = $1 and state in ('queued', 'leased')
     and not awaiting_approval and ($2::text is null or id = $2)
   order by id limit 2 for update`,
);

/** The named send that waits, or the only one. */
async function waitingSend(
  { client, locked }: Action,
  sendId: string | null,
): Promise<StandingSend | Refusal> {
  const waiting = await run(client, findWaiting, [locked.conversation.id, sendId]);
  const [send] = waiting;
  if (send !== undefined && waiting.length === 1) return send;
  if (send !== undefined) {
    return refuse('send_not_named', 'Several messages wait. Say which one, as `sendId`.');
  }
  return sendId === null
    ? refuse('send_not_named', 'No message waits here.')
    : refuse('not_applicable', 'That message does not wait any more: it is on its way or ended.');
}

async function noteReason(
  { client, role, locked }: Action,
  conversation: LockedConversation,
  reason: string | null,
): Promise<string | null> {
  if (reason === null) return null;
  const text = cleanText(reason);
  return writeNote(client, conversation, { role, text, at: locked.now });
}

/** `send-now`: a superseding decision lets a waiting send leave at once; the gate holds (C2). */
export async function sendWaitingNow(
  action: Action,
  request: RequestOf<'send-now'>,
): Promise<Refusal | null> {
  const { client, locked, role } = action;
  const send = await waitingSend(action, request.sendId);
  if ('kind' in send) return send;
  if (!mayPostpone(locked.nowMs, send)) {
    return refuse('beyond_expiry', 'Its time has passed, so it will not leave. Write a reply.');
  }
  const noteId = await noteReason(action, locked.conversation, request.reason);
  await supersedeDecision(client, locked, send, sendNow(locked.nowMs, send, { role, noteId }));
  return null;
}

/** `postpone`: a superseding decision lets a send wait; an answer's end never moves (C2). */
export async function postponeSend(
  action: Action,
  request: RequestOf<'postpone'>,
): Promise<Refusal | null> {
  const { client, locked, role } = action;
  const untilMs = Date.parse(request.until);
  if (!(untilMs > locked.nowMs)) {
    return refuse('wrong_time', '`until` must lie in the future.');
  }
  const send = await waitingSend(action, request.sendId);
  if ('kind' in send) return send;
  const keepsEnd = send.purpose === 'answer';
  if (keepsEnd && !mayPostpone(untilMs, send)) {
    return refuse(
      'beyond_expiry',
      'By then the answer would be too late to leave by itself. Take the conversation over and reply when you want to.',
    );
  }
  const noteId = await noteReason(action, locked.conversation, request.reason);
  const decision = postpone(untilMs, send, { role, noteId, keepsEnd });
  await supersedeDecision(client, locked, send, decision);
  return null;
}
