import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { AuditPage } from './audit/AuditPage';
import { NotFound } from './shell/NotFound';
import { Shell } from './shell/Shell';
import { InboxPage } from './inbox/InboxPage';
import { EmptyThread } from './thread/EmptyThread';
import { ThreadPage } from './thread/ThreadPage';
import { readSearch } from './inbox/search';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

/** The list with its filters in the address; what is beside it depends on the route below. */
const inbox = createRoute({
  getParentRoute: () => root,
  id: 'inbox',
  component: InboxPage,
  validateSearch: readSearch,
});

const nothingChosen = createRoute({
  getParentRoute: () => inbox,
  path: '/',
  component: EmptyThread,
});

const thread = createRoute({
  getParentRoute: () => inbox,
  path: '/conversations/$conversationId',
  component: ThreadPage,
});

const audit = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  component: AuditPage,
});

/** The routes of the console. */
export function makeConsoleRouter() {
  return createRouter({
    routeTree: root.addChildren([inbox.addChildren([nothingChosen, thread]), audit]),
    defaultPreload: false,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeConsoleRouter>;
  }
}
