import { z } from 'zod';
import type { ReadBack } from '../../domain/sending';
import type { HttpEnding } from '../http';
import { bodyOf } from '../outcomes';
import type { ReadBackRequest } from '../port';
import type { GraphApi } from './graph';
import { wireId } from './reading';

/** Details are readable for the newest 20 messages of a conversation only (providers.md 3.1.9). */
const NEWEST = 20;
/** `created_time` has whole seconds, and their clock is not ours. */
const TIME_ALLOWANCE_MS = 2_000;

const listSchema = z.object({ data: z.array(z.object({ id: wireId })) });

const messageSchema = z.object({
  id: z.string(),
  created_time: z.string(),
  from: z.object({ id: z.string() }).nullish(),
  message: z.string().nullish(),
});
type SeenMessage = z.infer<typeof messageSchema>;

const conversationSchema = z.object({
  messages: z.object({
    data: z.array(messageSchema),
    paging: z.object({ next: z.string().nullish() }).nullish(),
  }),
});

export interface ConversationsQuery {
  readonly platform: 'messenger' | 'instagram';
  readonly leadId: string;
  readonly request: ReadBackRequest;
}

/**
 * Looks for our text among the newest messages of the lead's conversation (providers.md 3.1.9,
 * 3.2.9). Absence is claimed only where the list reaches back before the attempt. Never throws.
 */
export async function readBackFromConversations(
  graph: GraphApi,
  query: ConversationsQuery,
): Promise<ReadBack> {
  const { platform, leadId, request } = query;
  const accessToken = request.credentials.accessToken ?? '';
  const deadline = performance.now() + request.timeoutMs;
  const found = await graph.get(
    {
      segments: [request.accountExternalId, 'conversations'],
      accessToken,
      timeoutMs: request.timeoutMs,
    },
    { platform, user_id: leadId },
  );
  const list = listSchema.safeParse(answerOf(found));
  if (!list.success) return unavailable(found, 'unreadable-conversations');
  const [conversation] = list.data.data;
  // The lead wrote, so there is a conversation: one that is not listed proves nothing.
  if (conversation === undefined) return { kind: 'unavailable', code: 'no-conversation' };
  const timeoutMs = deadline - performance.now();
  const answer = await graph.get(
    { segments: [conversation.id], accessToken, timeoutMs },
    { fields: `messages.limit(${NEWEST}){id,created_time,from,to,message}` },
  );
  const thread = conversationSchema.safeParse(answerOf(answer));
  if (!thread.success) return unavailable(answer, 'unreadable-conversation');
  return judge(thread.data.messages, query);
}

function judge(
  messages: z.infer<typeof conversationSchema>['messages'],
  { leadId, request }: ConversationsQuery,
): ReadBack {
  const earliestMs = Date.parse(request.attemptedAt) - TIME_ALLOWANCE_MS;
  const isOurs = (message: SeenMessage) =>
    message.from?.id !== undefined &&
    message.from.id !== leadId &&
    message.message === request.text &&
    Date.parse(message.created_time) >= earliestMs;
  const match = messages.data.find(isOurs);
  if (match !== undefined) return { kind: 'found', providerMessageId: match.id };
  const times = messages.data.map(({ created_time: at }) => Date.parse(at));
  const isWhole = messages.data.length < NEWEST && !messages.paging?.next;
  return isWhole || times.some((at) => at < earliestMs)
    ? { kind: 'absent' }
    : { kind: 'unavailable', code: 'list-too-short' };
}

function answerOf(ending: HttpEnding): unknown {
  return ending.kind === 'answered' && ending.status === 200 ? bodyOf(ending.body) : null;
}

function unavailable(ending: HttpEnding, code: string): ReadBack {
  if (ending.kind !== 'answered') return { kind: 'unavailable', code: ending.code };
  return { kind: 'unavailable', code: ending.status === 200 ? code : `http-${ending.status}` };
}
