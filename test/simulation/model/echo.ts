import type { Conversation, Facts, Send } from './facts';
import { fileAcceptance, noteProviderMessage } from './record';

/** Longer ago, an equal text is a person's own (IN7). */
const EQUAL_TEXT_MS = 60_000;

/** An outbound message seen in the thread that the provider does not name as ours. */
export interface NativeEcho {
  readonly type: 'native';
  readonly id: string;
  /** `unknown` where the provider never says who wrote it. */
  readonly author: 'other' | 'unknown';
  /** The send whose text it repeats; null for a text of a person's own. */
  readonly repeats: string | null;
}

/** `confirmEcho` of db/ingest/statuses: a confirmation, the proof of an unknown, or a person. */
export function readEcho(
  facts: Facts,
  conversation: Conversation,
  echo: NativeEcho,
  nowMs: number,
): 'confirmed' | 'proven' | 'foreign' {
  const own = conversation.sends
    .filter((send) => send.attemptId !== null && shows(send, echo, nowMs))
    .sort((a, b) => (b.attemptedAtMs ?? 0) - (a.attemptedAtMs ?? 0))[0];
  if (own === undefined || own.attemptId === null) return 'foreign';
  const { attemptId } = own;
  const seen = { providerMessageId: echo.id, attemptId, nowMs };
  noteProviderMessage(facts, conversation.account, seen).echoedAtMs ??= nowMs;
  if (own.state !== 'delivery_unknown') return 'confirmed';
  fileAcceptance(
    facts,
    conversation,
    {
      sendId: own.id,
      attemptId,
      providerMessageId: echo.id,
      evidence: 'echo',
      acceptedAtMs: nowMs,
    },
    nowMs,
  );
  return 'proven';
}

function shows(send: Send, echo: NativeEcho, nowMs: number): boolean {
  if (send.providerMessageId === echo.id) return true;
  if (echo.author !== 'unknown' || send.id !== echo.repeats) return false;
  if (send.state === 'sending' || send.state === 'delivery_unknown') return true;
  const accepted = send.state === 'accepted' || send.state === 'delivered';
  return accepted && (send.attemptedAtMs ?? 0) > nowMs - EQUAL_TEXT_MS;
}
