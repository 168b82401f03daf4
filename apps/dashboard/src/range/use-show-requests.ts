import { useNavigate } from '@tanstack/react-router';
import type { RowLink } from '../ui/table/data-table';
import { rangeQuery } from './time-range';
import type { ChoiceName } from './use-choice';

/** A link to the requests that a filter finds, beside what the address says already. */
export const requestsLink = (filter: RequestsFilter): RowLink => ({
  to: '/requests',
  search: (kept) => ({ ...kept, ...filter }),
});

export type RequestsFilter = Readonly<Record<string, string | undefined>>;
type Stretch = Parameters<typeof rangeQuery>[0];

/** Search fields that mean nothing on the requests page. */
const NOT_KEPT: Record<ChoiceName, undefined> = {
  ...{ tab: undefined, metric: undefined, by: undefined },
  ...{ compared: undefined, outcome: undefined },
};

/** Leads to the requests that a filter finds, beside what the address says already; of another stretch of time if given. */
export function useShowRequests(): (filter: RequestsFilter, stretch?: Stretch) => void {
  const navigate = useNavigate();
  return (filter, stretch) => {
    // The preset stays: it is the way back from the stretch.
    const range = stretch && rangeQuery(stretch);
    void navigate({ to: '/requests', search: (kept) => ({ ...kept, ...NOT_KEPT, ...range, ...filter }) });
  };
}
