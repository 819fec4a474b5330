import { cleanText } from '../../domain/text';
import { withdrawDraft } from '../draft-withdrawal';
import { approveOpenDraft, findOpenDraft } from '../drafts';
import { handOver } from '../handover';
import { writeNote } from '../notes';
import { refuse, refuseUnseen, type Action, type RequestOf } from './action';
import type { Refusal } from './contract';
import { refuseMessage } from './sending';

const NO_DRAFT = 'No draft waits for approval here.';

/**
 * `approve`: the draft may leave, as it is or with the person's wording (T3). A message that came
 * since then has withdrawn it: 409 with that message.
 */
export async function approve(
  action: Action,
  request: RequestOf<'approve'>,
): Promise<Refusal | null> {
  const { client, locked, role, actor } = action;
  const unseen = refuseUnseen(action);
  if (unseen !== null) return unseen;
  const draft = await findOpenDraft(client, locked);
  if (draft === null) return refuse('not_applicable', NO_DRAFT);
  if (draft.expired) {
    return refuse('beyond_expiry', 'The draft is too late to leave. Write a reply instead.');
  }
  const text = request.text === null ? null : cleanText(request.text).trim();
  const refusal = await refuseMessage(action, text ?? draft.body);
  if (refusal !== null) return refusal;
  await approveOpenDraft(client, locked, draft, { role, by: actor.ref, text });
  return null;
}

/** `reject`: the draft never leaves, and what it should have answered goes to a person (T3). */
export async function reject(
  action: Action,
  request: RequestOf<'reject'>,
): Promise<Refusal | null> {
  const { client, locked, role, actor } = action;
  const unseen = refuseUnseen(action);
  if (unseen !== null) return unseen;
  if ((await findOpenDraft(client, locked)) === null) return refuse('not_applicable', NO_DRAFT);
  const { conversation, now: at } = locked;
  await writeNote(client, conversation, { role, text: cleanText(request.reason), at });
  const owing = await withdrawDraft(client, conversation, {
    reason: 'rejected',
    resolution: 'rejected',
    by: actor.ref,
    at,
  });
  await handOver(client, owing, {
    reason: 'policy_requires_human',
    explanation: 'A person rejected the draft; the lead still waits for an answer.',
    actor,
    at,
  });
  return null;
}
