import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { Place } from '../ui/place-link';
import type { RowAnchor } from '../ui/table/data-table';
import type { PageSearch } from './page-search';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The entry before it is the same page with nothing open. */
    readonly isOpened?: boolean;
  }
}

const ANY_ROW = 'any-row-of-the-list';

/** Open panel of a list, by its id in the address: Back closes it, and the address opens it in another tab. */
export function useOpened() {
  const { open: id } = useSearch({ strict: false }) as PageSearch;
  const navigate = useNavigate();
  const router = useRouter();
  const { history } = router;
  /** Going back takes a moment, in which a second call would leave the page. */
  const closing = useRef<string>(undefined);
  useEffect(() => {
    if (closing.current !== id) closing.current = undefined;
  }, [id]);
  const addressOf = (one: string) => ({
    to: '.' as const,
    search: (before: object) => ({ ...before, open: one }),
    resetScroll: false,
  });
  const opening = { state: { isOpened: true } };
  /** Another one in place of it: Back still closes. */
  const replacing = () => ({ state: history.location.state, replace: true });
  const open = (one: string) => void navigate({ ...addressOf(one), ...opening });
  const show = (one: string) => void navigate({ ...addressOf(one), ...replacing() });
  /** For long lists: a link of the router works out its address anew for each row. */
  const anchors = () => {
    const { href } = router.buildLocation(addressOf(ANY_ROW) as never);
    const address = history.createHref(href);
    return (one: string): RowAnchor => ({
      href: address.replace(ANY_ROW, encodeURIComponent(one)),
      isOpen: one === id,
      onOpen: () => (id === undefined ? open(one) : show(one)),
    });
  };
  return {
    id,
    linkTo: (one: string): Place => ({ ...addressOf(one), ...(id === undefined ? opening : replacing()) }),
    open,
    show,
    anchors,
    close: () => {
      if (closing.current === id) return;
      closing.current = id;
      if (history.location.state.isOpened) history.back();
      else {
        const search = (before: object) => ({ ...before, open: undefined });
        void navigate({ to: '.', search, replace: true, resetScroll: false });
      }
    },
  };
}
