import type { ConversationState } from './conversation-state';
import { draftStands } from './gate';
import { ANSWER_EXPIRES_AFTER_MS, MEDIA_COVERED_MS } from './limits';
import type { Loop } from './loops';

/** An owed message, as far as the turn's course depends on it. */
export interface OwedMessage {
  readonly seq: number;
  readonly text: string | null;
  readonly optOut: string | null;
}

/** What a turn knows before it drafts anything: committed facts, read under the lock. */
export interface TurnFacts {
  readonly nowMs: number;
  readonly state: ConversationState;
  readonly overdueFromMs: number;
  readonly optOutConfirmed: boolean;
  /** The address opted out, perhaps in another conversation of the same person. */
  readonly addressOptedOut: boolean;
  /** When our last answer was accepted; null where none was. */
  readonly lastAnswerAtMs: number | null;
  readonly owed: readonly OwedMessage[];
  /** Whether automation seems to talk to a machine (INV-17). */
  readonly loop: Loop | null;
}

export type TurnCourse =
  | { readonly kind: 'draft' }
  | { readonly kind: 'confirm-opt-out' }
  | {
      readonly kind: 'no-answer';
      readonly reason: 'opted_out' | 'confirmed_by_provider' | 'covered';
    }
  | {
      readonly kind: 'hand-over';
      readonly reason: 'reply_overdue' | 'policy_requires_human';
      readonly explanation: string;
    };

const OPTED_OUT_WROTE: TurnCourse = {
  kind: 'hand-over',
  reason: 'policy_requires_human',
  explanation:
    'Somebody who opted out wrote again. Automation must not answer; a person may read it.',
};

const LOOP_WORDS: Record<Loop, string> = {
  too_many_turns:
    'Automation has answered here more often than a conversation needs. A person should look.',
  answers_at_once:
    'Each answer was answered within two seconds: this may be an automatic responder. A person should look.',
  repeats_itself:
    'The same words came back after each answer: this may be an automatic responder. A person should look.',
};

/** Decides which way a turn goes before any model or engine is asked (T3, S1, S6, C2). Pure. */
export function courseOfTurn(facts: TurnFacts): TurnCourse {
  // An answer under an older token has covered all that this one was minted for (T2).
  if (facts.owed.length === 0) return { kind: 'no-answer', reason: 'covered' };
  if (facts.state === 'opted_out') return courseAfterOptOut(facts);
  if (facts.nowMs >= facts.overdueFromMs + ANSWER_EXPIRES_AFTER_MS) {
    return {
      kind: 'hand-over',
      reason: 'reply_overdue',
      explanation:
        'The answer is more than an hour late; an automatic one would do more harm than good.',
    };
  }
  if (facts.state === 'paused' || facts.state === 'closed') {
    return {
      kind: 'hand-over',
      reason: 'policy_requires_human',
      explanation: 'Automation is paused for this conversation and the lead wrote again.',
    };
  }
  if (facts.addressOptedOut) return OPTED_OUT_WROTE;
  if (facts.loop !== null) {
    const explanation = LOOP_WORDS[facts.loop];
    return { kind: 'hand-over', reason: 'policy_requires_human', explanation };
  }
  if (isCovered(facts)) return { kind: 'no-answer', reason: 'covered' };
  return { kind: 'draft' };
}

function courseAfterOptOut(facts: TurnFacts): TurnCourse {
  const newest = facts.owed.at(-1);
  if (newest?.optOut === 'stop_confirmed_by_provider') {
    return { kind: 'no-answer', reason: 'confirmed_by_provider' };
  }
  if (newest?.optOut === 'stop') {
    return facts.optOutConfirmed
      ? { kind: 'no-answer', reason: 'opted_out' }
      : { kind: 'confirm-opt-out' };
  }
  return OPTED_OUT_WROTE;
}

/** P4b case 5: media added to something answered a moment ago needs no answer of its own. */
function isCovered({ owed, lastAnswerAtMs, nowMs }: TurnFacts): boolean {
  if (lastAnswerAtMs === null || nowMs - lastAnswerAtMs >= MEDIA_COVERED_MS) return false;
  return owed.every((message) => message.text === null);
}

/**
 * What becomes of an older draft when a newer message meets it before the gate (P4b): it is
 * withdrawn for one answer that covers everything, or it stands, and the newer message keeps its
 * debt. A draft that may not leave yet (a back-off) never stands: the newer message is served
 * meanwhile.
 */
export function fateOfDraft(
  facts: Parameters<typeof draftStands>[0] & { readonly mayLeaveNow: boolean },
): 'withdraw' | 'stand' {
  return facts.mayLeaveNow && draftStands(facts) ? 'stand' : 'withdraw';
}

/** The one confirmation of an opt-out, in the lead's language. */
export function optOutConfirmation(language: 'en' | 'es'): string {
  return language === 'es'
    ? 'Entendido: no le enviaremos más mensajes.'
    : 'Understood: we will not send you any more messages.';
}
