import { useSession } from '../../api/session';
import type { Place } from '../../ui/place-link';
import { SECTIONS } from './pages';

/** Link to a page with the range, zone and project of this one. */
export const pagePlace = (to: string, more: object = {}): Place => ({
  to,
  search: ({ range, from, to, tz, project }: Record<string, unknown>) => ({ range, from, to, tz, project, ...more }),
});

const PAGES = SECTIONS.flatMap(({ pages }) => pages);

/** Leaves out places that the session's roles don't see. */
export function useSeenPlace(): (place: Place | undefined) => Place | undefined {
  const permissions = useSession().data?.permissions ?? [];
  return (place) => {
    const page = PAGES.find(({ to }) => to === place?.to);
    return page !== undefined && permissions.includes(page.needs) ? place : undefined;
  };
}
