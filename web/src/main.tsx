import './mantine.css';
import './app.css';
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api/client';
import { readStyleNonce, shareStyleNonce } from './nonce';
import { makeConsoleRouter } from './router';
import { adoptTokenFromAddress } from './session';
import { contrastVariables, theme } from './theme';

shareStyleNonce();
adoptTokenFromAddress();

const nonce = readStyleNonce();
const router = makeConsoleRouter();
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Hints say when something changed; until then what was fetched is fresh.
      staleTime: 30_000,
      retry: (failures, error) => failures < 2 && !(error instanceof ApiError),
    },
  },
});

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={contrastVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
