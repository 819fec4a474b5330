import { Alert, Button, Skeleton, Text, VisuallyHidden } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ApiError } from '../api/client';
import { useConversation, useTimeline } from '../api/queries';
import { learnServerClock } from '../time';
import { Actions } from './Actions';
import { ThreadHeader } from './ThreadHeader';
import { Timeline } from './Timeline';

/** The conversation of the route. */
export function ThreadPage() {
  const { conversationId } = useParams({ from: '/inbox/conversations/$conversationId' });
  // Each conversation is a page of its own: no state of the one before it is carried over.
  return <Thread key={conversationId} id={conversationId} />;
}

function Thread({ id }: { readonly id: string }) {
  const conversation = useConversation(id);
  const timeline = useTimeline(id);
  const now = timeline.data?.now;
  useEffect(() => {
    if (now !== undefined) learnServerClock(now);
  }, [now]);
  const error = conversation.error ?? timeline.error;
  if (conversation.data === undefined || timeline.data === undefined) {
    if (error === null) return <Loading />;
    return <Failure error={error} again={() => void Promise.all([conversation.refetch(), timeline.refetch()])} />;
  }
  return (
    <article className="thread" aria-label={`Conversation with ${conversation.data.leadName}`}>
      <ThreadHeader conversation={conversation.data}>
        <Actions conversation={conversation.data} seenSeq={timeline.data.newestSeq} />
      </ThreadHeader>
      <Timeline timeline={timeline.data} leadName={conversation.data.leadName} />
    </article>
  );
}

function Loading() {
  return (
    <div className="skeletons">
      <VisuallyHidden role="status">Loading the conversation</VisuallyHidden>
      <Skeleton height={20} width="40%" />
      {['60%', '45%', '70%'].map((width) => (
        <Skeleton key={width} height={44} width={width} />
      ))}
    </div>
  );
}

function Failure({ error, again }: { readonly error: Error; readonly again: () => void }) {
  const isMissing = error instanceof ApiError && error.problem.status === 404;
  return (
    <div className="empty centred">
      <Alert
        color={isMissing ? 'gray' : 'red'}
        variant="light"
        role="alert"
        title={isMissing ? 'There is no such conversation' : 'The conversation cannot be loaded'}
      >
        <Text size="sm">
          {isMissing
            ? 'It may belong to another business, or the address is mistyped.'
            : 'Messages are still received and answered; only this view failed.'}
        </Text>
        {isMissing ? (
          <Button component={Link} to="/" size="xs" variant="light">
            All conversations
          </Button>
        ) : (
          <Button size="xs" variant="light" color="red" onClick={again}>
            Try again
          </Button>
        )}
      </Alert>
    </div>
  );
}
