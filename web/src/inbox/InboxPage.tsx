import { Outlet, useMatchRoute } from '@tanstack/react-router';
import { ConversationList } from './ConversationList';

/** List and thread side by side; on a phone one of them, by the route. */
export function InboxPage() {
  const match = useMatchRoute();
  const isThread = match({ to: '/conversations/$conversationId' }) !== false;
  return (
    <div className="inbox" data-showing={isThread ? 'thread' : 'list'}>
      <ConversationList />
      <main className="pane thread-pane">
        <Outlet />
      </main>
    </div>
  );
}
