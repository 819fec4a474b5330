import { cleanText } from '../../domain/text';
import { WORK_ITEM_KINDS } from '../../domain/work-items';
import { stopPlansOfPerson, stopSends } from '../cancellation';
import { applyStateEvent } from '../conversations';
import { runOne, statement } from '../database';
import { settleDebt } from '../debt';
import { withdrawDraft } from '../draft-withdrawal';
import { optOut } from '../ingest/effects';
import { writeNote } from '../notes';
import { optIn as optInPerson } from '../person';
import { endTakeoverSession } from '../takeover-log';
import { resolveWorkItems } from '../work-items';
import { refuse, refuseUnseen, type Action, type RequestOf } from './action';
import type { Refusal } from './contract';
import { noteRelease } from './ownership';

/** `book`: marks the job booked (S1): what the business started stops; answers go on. */
export async function book(action: Action): Promise<Refusal | null> {
  const { client, locked, commandId } = action;
  const { conversation, now: at } = locked;
  if (conversation.state === 'opted_out' || conversation.state === 'closed') {
    return refuse('not_applicable', 'A closed or opted-out conversation cannot be booked.');
  }
  const cause = { cause: 'staff_booking', causeRef: commandId, at };
  await applyStateEvent(client, conversation, 'booking', cause);
  const stop = { reason: 'booked', at } as const;
  await stopSends(client, { conversationId: conversation.id, scope: 'follow-ups', ...stop });
  await stopPlansOfPerson(client, conversation, stop);
  return null;
}

/** `opt-out`: on every address of the lead (S6, INV-13); from then on even staff are refused. */
export async function optOutByStaff(action: Action): Promise<Refusal | null> {
  const { client, locked, commandId } = action;
  const { now: at } = locked;
  const cause = { cause: 'staff_opt_out', causeRef: commandId, at };
  const conversation = await optOut(client, locked.conversation, cause);
  if (conversation.owedSince === null) return null;
  await settleDebt(client, {
    conversationId: conversation.id,
    throughSeq: conversation.lastSeq,
    token: conversation.owedSince,
    settlement: { kind: 'no-answer', ref: commandId, reason: 'opted_out_by_staff', at },
  });
  return null;
}

const readOptOut = statement<{ optedOut: boolean; consentIsLater: boolean; inPast: boolean }>(
  'read-opt-out-of-lead',
  `select coalesce(bool_or(opted_out_at is not null), false) as "optedOut",
     coalesce($2::timestamptz > max(opted_out_at), true) as "consentIsLater",
     $2::timestamptz <= $3::timestamptz as "inPast"
   from addresses where lead_id = $1`,
);

/**
 * `opt-in`: records the lead's own consent, where, when and in which words, and lets messages
 * leave again (S1). A consent from before the opt-out is none.
 */
export async function optIn(action: Action, request: RequestOf<'opt-in'>): Promise<Refusal | null> {
  const { client, locked, role } = action;
  const { conversation, now: at } = locked;
  const found = await runOne(client, readOptOut, [conversation.leadId, request.at, at]);
  if (!found.optedOut && conversation.state !== 'opted_out') {
    return refuse('not_applicable', 'This lead did not opt out.');
  }
  if (!found.inPast) return refuse('wrong_time', 'The consent lies in the future.');
  if (!found.consentIsLater) {
    return refuse('wrong_time', 'The lead opted out after that; ask for a new consent.');
  }
  const source = cleanText(request.source);
  const text = `Consent of the lead (${source}, ${request.at}): “${cleanText(request.words)}”`;
  const causeRef = await writeNote(client, conversation, { role, text, at });
  await optInPerson(client, conversation, { cause: 'staff_opt_in', causeRef, at });
  return null;
}

/**
 * `close`: ends the conversation (S1). Its items are resolved by the person, what waits is
 * cancelled, and what is owed needs no answer because a person said so. It is nobody's then: the
 * lead's next message begins a new episode, which automation answers.
 */
export async function close(action: Action): Promise<Refusal | null> {
  const { client, locked, commandId, actor } = action;
  const { now: at } = locked;
  if (locked.conversation.state === 'closed') {
    return refuse('not_applicable', 'This conversation is closed already.');
  }
  const unseen = refuseUnseen(action);
  if (unseen !== null) return unseen;
  const stop = { reason: 'closed_by_staff', at } as const;
  const owing = await withdrawDraft(client, locked.conversation, { ...stop, by: actor.ref });
  const cause = { cause: 'staff_close', causeRef: commandId, at };
  const closed = await applyStateEvent(client, owing, 'close', cause);
  await stopSends(client, { conversationId: closed.id, scope: 'everything', ...stop });
  await stopPlansOfPerson(client, closed, stop);
  if (closed.owner === 'person') await noteRelease(action, closed);
  await endTakeoverSession(client, closed, { actor, correlationId: commandId, at });
  await resolveWorkItems(client, {
    conversationId: closed.id,
    kinds: WORK_ITEM_KINDS,
    at,
    by: actor.ref,
    resolution: 'closed_by_staff',
  });
  if (closed.owedSince === null) return null;
  await settleDebt(client, {
    conversationId: closed.id,
    throughSeq: closed.lastSeq,
    token: closed.owedSince,
    settlement: { kind: 'no-answer', ref: commandId, reason: 'closed_by_staff', at },
  });
  return null;
}
