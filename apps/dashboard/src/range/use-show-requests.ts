import { useNavigate } from '@tanstack/react-router';
import { rangeQuery } from './time-range';

export type RequestsFilter = Readonly<Record<string, string | undefined>>;
type Stretch = Parameters<typeof rangeQuery>[0];

/** Leads to the requests that a filter finds, beside what the address says already; of another stretch of time if given. */
export function useShowRequests(): (filter: RequestsFilter, stretch?: Stretch) => void {
  const navigate = useNavigate();
  return (filter, stretch) => {
    const range = stretch && { range: undefined, ...rangeQuery(stretch) };
    void navigate({ to: '/requests', search: (kept) => ({ ...kept, ...range, ...filter }) });
  };
}
