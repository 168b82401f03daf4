import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { EmptyState } from '../../ui/empty-state';
import { ErrorState } from '../../ui/error-state';
import { reachesGateway } from './load-page';
import { PageFrame } from './page-frame';

/** A page that cannot be shown; the menu stays. */
export function PageError({ error }: { readonly error: Error }) {
  const [tries, setTries] = useState(0);
  // Browsers remember a failed import: only a reload asks again.
  const again = async () => {
    if (await reachesGateway()) location.reload();
    else setTries(tries + 1);
  };
  return (
    <PageFrame title="This page cannot be shown">
      <ErrorState key={tries} error={error} onRetry={() => void again()} />
    </PageFrame>
  );
}

export const NotFoundPage = () => (
  <PageFrame title="Page not found">
    <EmptyState title="There is no page at this address">
      <Link to="/" className="touch-line text-accent underline">
        Go to the overview
      </Link>
    </EmptyState>
  </PageFrame>
);
