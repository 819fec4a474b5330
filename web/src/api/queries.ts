import {
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type QueryClient,
} from '@tanstack/react-query';
import type { CommandBody, CommandResult, Operations } from '../generated/api';
import { ApiError, call, newIdempotencyKey } from './client';

export type ListFilter = Omit<Operations['GET /api/conversations']['query'], 'cursor' | 'limit'>;

const keys = {
  lists: ['conversations'],
  list: (filter: ListFilter) => ['conversations', filter],
  detail: (id: string) => ['conversation', id],
  timeline: (id: string) => ['timeline', id],
};

/** The list under a filter, page by page. */
export function useConversations(filter: ListFilter) {
  return useInfiniteQuery({
    queryKey: keys.list(filter),
    queryFn: ({ pageParam, signal }) =>
      call('GET /api/conversations', {
        query: { ...filter, ...(pageParam === null ? {} : { cursor: pageParam }) },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: (previous) => previous,
  });
}

/** One conversation's header. */
export function useConversation(id: string) {
  return useQuery({
    queryKey: keys.detail(id),
    queryFn: ({ signal }) => call('GET /api/conversations/{id}', { id, signal }),
  });
}

/** One conversation's story. */
export function useTimeline(id: string) {
  return useQuery({
    queryKey: keys.timeline(id),
    queryFn: ({ signal }) => call('GET /api/conversations/{id}/timeline', { id, signal }),
  });
}

/** What a person can do to a conversation in this version. */
export type Command = 'claim' | 'release' | 'book' | 'opt-out';

interface CommandRequest {
  readonly command: Command;
  readonly body: CommandBody;
  /** Made once per click, so that a repeat after a lost answer acts once. */
  readonly idempotencyKey: string;
}

/** Runs commands on a conversation. `start` gives each click a fresh Idempotency-Key. */
export function useCommands(id: string) {
  const client = useQueryClient();
  const mutation = useMutation<CommandResult, Error, CommandRequest>({
    mutationFn: ({ command, body, idempotencyKey }) =>
      call(`POST /api/conversations/{id}/${command}`, { id, body, idempotencyKey }),
    retry: (failures, error) => failures < 3 && isWorthRepeating(error),
    // Buttons wait for the new state; a refusal is shown at once.
    onSuccess: () => refresh(client, id),
    onError: () => void refresh(client, id),
  });
  return {
    ...mutation,
    start: (command: Command, body: CommandBody) =>
      mutation.mutate({ command, body, idempotencyKey: newIdempotencyKey() }),
    /** Fetches the conversation again and forgets the refusal. */
    reload: async () => {
      await refresh(client, id);
      mutation.reset();
    },
  };
}

/** The same key makes a repeat safe, so whatever may pass is tried again. */
function isWorthRepeating(error: Error): boolean {
  return !(error instanceof ApiError) || error.problem.status >= 500;
}

/** Fetches again what shows this conversation. */
export async function refresh(client: QueryClient, id: string): Promise<void> {
  await Promise.all([
    client.invalidateQueries({ queryKey: keys.detail(id) }),
    client.invalidateQueries({ queryKey: keys.timeline(id) }),
    client.invalidateQueries({ queryKey: keys.lists }),
  ]);
}

/** Fetches everything that is on the screen again. */
export function refreshAll(client: QueryClient): Promise<void> {
  return client.invalidateQueries();
}
