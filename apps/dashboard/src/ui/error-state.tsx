import { isAway, isForbidden } from '../api/away';
import { Button } from './button';

/** Error with its next step; never blank. */
export function ErrorState({ error, onRetry }: { readonly error: Error; readonly onRetry?: () => void }) {
  // Not an error of anybody: other roles have more.
  if (isForbidden(error)) return <p className="px-3 py-2.5 text-muted">{error.message}</p>;
  return (
    <div role="alert" className="flex flex-col items-start gap-2 rounded-md bg-bad-soft px-3 py-2.5 text-bad">
      <p className="wrap-anywhere">{error.message}</p>
      {onRetry !== undefined && (
        <Button size="small" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** A query, or a mutation, which doesn't retry. */
export interface Failable {
  readonly error: Error | null;
  readonly refetch?: () => unknown;
}

/** Renders only failures; an outage appears once, above the page. */
export function Failure({ of: { error, refetch } }: { readonly of: Failable }) {
  if (error === null || (refetch !== undefined && isAway(error))) return null;
  return <ErrorState error={error} onRetry={refetch && (() => void refetch())} />;
}
