import { Alert, Button, Skeleton, Text, Title, VisuallyHidden } from '@mantine/core';
import { Link, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useConversations } from '../api/queries';
import type { Conversation } from '../generated/api';
import { learnServerClock } from '../time';
import { ConversationRow } from './ConversationRow';
import { Filters } from './Filters';
import { toFilter, type InboxSearch } from './search';

/** The list of conversations with its filters. It stays usable while a new reading fails. */
export function ConversationList() {
  const search = useSearch({ from: '/inbox' });
  const list = useConversations(toFilter(search));
  const newest = list.data?.pages[0];
  useEffect(() => {
    if (newest !== undefined) learnServerClock(newest.now);
  }, [newest]);
  useTitle(newest?.counts.owed ?? 0);
  const items = unique(list.data?.pages.flatMap((page) => page.items) ?? []);
  return (
    <aside className="pane list-pane" aria-label="Conversations">
      <Title order={1} className="list-title">
        Conversations
      </Title>
      <Filters counts={newest?.counts} />
      {list.isError && <LoadFailure again={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {newest !== undefined && items.length === 0 && <Nothing search={search} />}
      <ul className="conversations" data-testid="conversation-list" aria-label="Conversations">
        {items.map((item) => (
          <ConversationRow key={item.id} conversation={item} />
        ))}
      </ul>
      {list.hasNextPage && (
        <Button
          variant="subtle"
          className="more"
          loading={list.isFetchingNextPage}
          onClick={() => void list.fetchNextPage()}
        >
          Older conversations
        </Button>
      )}
    </aside>
  );
}

/** A conversation that moved while pages were read stands on two of them. */
function unique(items: readonly Conversation[]): Conversation[] {
  return [...new Map(items.map((item) => [item.id, item])).values()];
}

function useTitle(owed: number): void {
  useEffect(() => {
    document.title = owed > 0 ? `(${owed}) Unsilent` : 'Unsilent';
  }, [owed]);
}

function Loading() {
  return (
    <div className="skeletons">
      <VisuallyHidden role="status">Loading conversations</VisuallyHidden>
      {Array.from({ length: 6 }, (_, index) => (
        <div className="skeleton-row" key={index}>
          <Skeleton circle height={36} />
          <div>
            <Skeleton height={12} width="55%" />
            <Skeleton height={10} width="85%" />
          </div>
        </div>
      ))}
    </div>
  );
}

function LoadFailure({ again }: { readonly again: () => void }) {
  return (
    <Alert
      color="red"
      variant="light"
      role="alert"
      title="The list cannot be refreshed"
      className="failure"
    >
      <Text size="sm">Messages are still received and answered; only this view is behind.</Text>
      <Button size="xs" variant="default" onClick={again}>
        Try again
      </Button>
    </Alert>
  );
}

function Nothing({ search }: { readonly search: InboxSearch }) {
  const { title, text } = wordsForNothing(search);
  const isFiltered = Object.keys(search).length > 0;
  return (
    <div className="empty">
      <Text fw={600}>{title}</Text>
      <Text size="sm" c="dimmed">
        {text}
      </Text>
      {isFiltered && (
        <Link to="/" search={{}} className="link-button">
          Show all conversations
        </Link>
      )}
    </div>
  );
}

function wordsForNothing(search: InboxSearch): { title: string; text: string } {
  if (search.q !== undefined || search.channel !== undefined) {
    return { title: 'Nothing matches', text: 'No conversation fits these filters.' };
  }
  if (search.view === 'owed') {
    return { title: 'Nothing is owed', text: 'Every lead has an answer, or a person.' };
  }
  if (search.view === 'needs-person') {
    return {
      title: 'Nobody waits for a person',
      text: 'Automation has answered everything so far.',
    };
  }
  return {
    title: 'No conversations yet',
    text: 'Open the customer’s phone that “npm start” printed, write a message as a lead, and watch it being answered here.',
  };
}
