import { useNavigate } from '@tanstack/react-router';
import type { Place } from '../ui/place-link';
import type { FilterValue } from './request-filter';
import { rangeQuery } from './time-range';
import type { ChoiceName } from './use-choice';

export type RequestsFilter = Readonly<Record<string, FilterValue | undefined>>;
type Stretch = Parameters<typeof rangeQuery>[0];

/** Search fields that mean nothing on the requests page. */
const NOT_KEPT: Record<ChoiceName, undefined> = {
  ...{ tab: undefined, metric: undefined, by: undefined, compared: undefined, outcome: undefined },
  ...{ view: undefined, across: undefined, days: undefined, state: undefined },
};

/** Link to the requests of a filter; keeps the other parts of the address. */
export const requestsLink = (filter: RequestsFilter): Place => ({
  to: '/requests',
  search: (kept) => ({ ...kept, ...NOT_KEPT, ...filter }),
});

/** Opens the requests of a filter and keeps the rest of the address; with another range if given. */
export function useShowRequests(): (filter: RequestsFilter, stretch?: Stretch) => void {
  const navigate = useNavigate();
  return (filter, stretch) => {
    // Keeps the preset, as the way back from the range.
    const range = stretch && rangeQuery(stretch);
    void navigate({ to: '/requests', search: (kept) => ({ ...kept, ...NOT_KEPT, ...range, ...filter }) });
  };
}
