import './app.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api/client';
import { router } from './router';
import { ToastProvider } from './ui/toast';

const STALE_MS = 10_000;
const MAX_RETRIES = 2;

// Style elements made at run time (scroll locks of dialogs) need the page's nonce under the strict policy.
setNonce(document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.content ?? '');

const queryClient = new QueryClient({
  defaultOptions: {
    // An offline browser asks, too: the failure says that the gateway can't be reached.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: STALE_MS,
      // A refusal is final; only a passing failure retries.
      retry: (count, error) =>
        count < MAX_RETRIES && (!(error instanceof ApiError) || error.status === 0 || error.status >= 502),
    },
  },
});

const root = document.getElementById('app');
if (root === null) throw new Error('the page has no #app');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <ToastProvider>
        <RouterProvider router={router} />
      </ToastProvider>
    </QueryClientProvider>
  </StrictMode>,
);
