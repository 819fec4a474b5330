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
  const again = (): void => void Promise.all([conversation.refetch(), timeline.refetch()]);
  if (conversation.data === undefined || timeline.data === undefined) {
    return error === null ? <Loading /> : <Failure error={error} again={again} />;
  }
  return (
    <article className="thread" aria-label={`Conversation with ${conversation.data.leadName}`}>
      <ThreadHeader conversation={conversation.data}>
        <Actions conversation={conversation.data} seenSeq={timeline.data.newestSeq} />
      </ThreadHeader>
      {error !== null && <Stale again={again} />}
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

/** What is on the screen is older than what happened. */
function Stale({ again }: { readonly again: () => void }) {
  return (
    <Alert
      color="red"
      variant="light"
      role="alert"
      className="refusal"
      title="This may be out of date"
    >
      <Text size="sm">The newest state could not be fetched. Nothing is lost.</Text>
      <Button size="xs" variant="default" onClick={again}>
        Try again
      </Button>
    </Alert>
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
          <Link to="/" className="link-button">
            All conversations
          </Link>
        ) : (
          <Button size="xs" variant="default" onClick={again}>
            Try again
          </Button>
        )}
      </Alert>
    </div>
  );
}
